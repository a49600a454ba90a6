"""Six kernels in Triton, none of which needs a device library."""

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, columns, stride, BLOCK: tl.constexpr):
    """Each program has a row, which fits into a block."""
    column = tl.arange(0, BLOCK)
    inside = column < columns
    start = tl.program_id(0) * stride
    row = tl.load(x + start + column, mask=inside, other=-float("inf"))
    numerator = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + start + column, numerator / tl.sum(numerator, axis=0), mask=inside)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    """Each program has a row, of any length, which it reads block by block."""
    x += tl.program_id(0) * columns
    out += tl.program_id(0) * columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        part = tl.load(x + column, mask=column < columns, other=0.0)
        total += part
        squares += part * part
    mean = tl.sum(total, axis=0) / columns
    variance = tl.sum(squares, axis=0) / columns - mean * mean
    scale = tl.rsqrt(variance + epsilon)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        part = tl.load(x + column, mask=inside, other=0.0)
        w = tl.load(weight + column, mask=inside)
        b = tl.load(bias + column, mask=inside)
        tl.store(out + column, (part - mean) * scale * w + b, mask=inside)


@triton.jit
def histogram(values, counts, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """Each program counts its block, and adds what it counted to the counts of all."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(values + at, mask=inside, other=0)
    tl.atomic_add(counts + value % BINS, 1, mask=inside)


@triton.jit
def prefix_sum(x, out, columns, BLOCK: tl.constexpr):
    """Each program has a row; an element becomes the sum of those up to it."""
    column = tl.arange(0, BLOCK)
    inside = column < columns
    start = tl.program_id(0) * columns
    row = tl.load(x + start + column, mask=inside, other=0)
    tl.store(out + start + column, tl.cumsum(row, axis=0), mask=inside)


@triton.jit
def matmul(
    a, b, c, m, n, k, stride_a, stride_b, stride_c, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr
):
    """Each program has a tile of the product of two matrices in half precision, which it sums in single precision."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    depth = tl.arange(0, DEPTH)
    tile = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    for start in range(0, k, DEPTH):
        along = start + depth
        left = tl.load(
            a + row[:, None] * stride_a + along[None, :], mask=(row[:, None] < m) & (along[None, :] < k), other=0.0
        )
        right = tl.load(
            b + along[:, None] * stride_b + column[None, :], mask=(along[:, None] < k) & (column[None, :] < n), other=0.0
        )
        tile = tl.dot(left, right, tile)
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(c + row[:, None] * stride_c + column[None, :], tile, mask=inside)
