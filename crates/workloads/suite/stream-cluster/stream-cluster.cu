// Whether a point should become a centre of its own: what each point would gain by going over to it.
#include "raddle.cuh"

// Coordinates are in planes, one for each dimension. A thread has a point. Where the candidate is nearer than the point's
// centre, the point goes over and `total` has what that saves; else `lower` has what the candidate would cost more.
__global__ void __launch_bounds__(512, 2)
    point_gain(int count, int dimensions, int candidate, int centres, const float *__restrict__ coordinates,
               const float *__restrict__ weights, const float *__restrict__ costs, const int *__restrict__ assigned,
               const int *__restrict__ centre_index, uchar *__restrict__ switches, float *__restrict__ lower,
               float *__restrict__ total) {
    extern __shared__ float place[];
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        for (int i = 0; i < dimensions; i++) {
            place[i] = coordinates[i * count + candidate];
        }
    }
    __syncthreads();
    if (point >= count) {
        return;
    }
    float distance = 0.0f;
    for (int i = 0; i < dimensions; i++) {
        float d = coordinates[i * count + point] - place[i];
        distance = fmaf(d, d, distance);
    }
    float cost = distance * weights[point];
    if (cost < costs[point]) {
        switches[point] = 1;
        total[point] = cost - costs[point];
    } else {
        // What closing the point's centre would cost it. Rows are as long as there are centres.
        lower[point * centres + centre_index[assigned[point]]] += costs[point] - cost;
    }
}
