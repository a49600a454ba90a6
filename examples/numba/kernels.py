"""Four kernels in numba.cuda."""

from numba import cuda, float32


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def total(x, out):
    """Adds up an array: each block its part in shared memory, then all blocks in the same word."""
    sums = cuda.shared.array(128, float32)
    thread = cuda.threadIdx.x
    i = cuda.grid(1)
    sums[thread] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 64
    while step:
        if thread < step:
            sums[thread] += sums[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        cuda.atomic.add(out, 0, sums[0])


def matmul(a, b, c):
    """The product of matrices whose sides are multiples of 16, in tiles of shared memory."""
    left = cuda.shared.array((16, 16), float32)
    right = cuda.shared.array((16, 16), float32)
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    tile = float32(0)
    for start in range(0, a.shape[1], 16):
        left[row, column] = a[y, start + column]
        right[row, column] = b[start + row, x]
        cuda.syncthreads()
        for k in range(16):
            tile += left[row, k] * right[k, column]
        cuda.syncthreads()
    c[y, x] = tile


def warps(x, sums, positive):
    """For each warp, the sum of its elements by shuffles, and by a vote how many are positive."""
    i = cuda.grid(1)
    value = x[i]
    above = cuda.ballot_sync(0xFFFFFFFF, value > 0)
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if i % 32 == 0:
        sums[i // 32] = value
        positive[i // 32] = cuda.popc(above)
