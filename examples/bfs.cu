// Breadth-first search of a graph, one level in each round: `bfs.toml` launches both kernels until no node is new.

// The nodes of the frontier leave it, and reach those of their neighbours that have no depth yet.
extern "C" __global__ void expand(int nodes, const int *first, const int *edges, int *frontier, int *reached,
                                  int *depth) {
  int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || !frontier[node]) return;
  frontier[node] = 0;
  for (int edge = first[node]; edge < first[node + 1]; edge++) {
    int to = edges[edge];
    if (depth[to] < 0) {
      depth[to] = depth[node] + 1;
      reached[to] = 1;
    }
  }
}

// The nodes that were reached are the next frontier.
extern "C" __global__ void advance(int nodes, int *frontier, int *reached, unsigned *more) {
  int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || !reached[node]) return;
  reached[node] = 0;
  frontier[node] = 1;
  *more = 1;
}
