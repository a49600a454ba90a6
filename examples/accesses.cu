// Good and bad ways to reach memory: `raddle accesses` draws them.

// A warp goes down a column: every lane is in a line of its own.
extern "C" __global__ void columns(float *out, int width) {
  int row = threadIdx.x, column = threadIdx.y;
  out[row * width + column] += 1.0f;
}

// A warp goes along a row: its lanes are side by side.
extern "C" __global__ void rows(float *out, int width) {
  int column = threadIdx.x, row = threadIdx.y;
  out[row * width + column] += 1.0f;
}

// A tile is written by rows and read by columns: all lanes read from one bank.
extern "C" __global__ void transpose(float *out, const float *in) {
  __shared__ float tile[32][32];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * 32 + x];
  __syncthreads();
  out[y * 32 + x] = tile[x][y];
}

// The same with a column more.
extern "C" __global__ void padded(float *out, const float *in) {
  __shared__ float tile[32][33];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * 32 + x];
  __syncthreads();
  out[y * 32 + x] = tile[x][y];
}
