// K-means clustering: the nearest centre of every point; the host moves the centres.
#include "raddle.cuh"

#define MAX_CENTRES 1024

// The features of the centres, one centre after the other.
__constant__ float centres[MAX_CENTRES];

// Points one after the other become features one after the other.
__global__ void invert_mapping(const float *__restrict__ points, float *__restrict__ features, int count,
                               int dimensions) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < count) {
        for (int i = 0; i < dimensions; i++) {
            features[i * count + point] = points[point * dimensions + i];
        }
    }
}

__global__ void kmeans_point(const float *__restrict__ features, int count, int dimensions, int clusters,
                             int *__restrict__ membership) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < count) {
        int nearest = -1;
        float least = 3.402823466e+38f;
        for (int cluster = 0; cluster < clusters; cluster++) {
            const float *centre = centres + cluster * dimensions;
            float distance = 0.0f;
            for (int i = 0; i < dimensions; i++) {
                float difference = features[i * count + point] - centre[i];
                distance += difference * difference;
            }
            if (distance < least) {
                least = distance;
                nearest = cluster;
            }
        }
        membership[point] = nearest;
    }
}
