// A discontinuous Galerkin step for sound waves: small dense matrices over the nodes of each element.
#include "raddle.cuh"

#define NODES 84      // of an element: polynomials of degree 6 in a tetrahedron
#define FACE_NODES 28 // of one of its four faces
#define FACES 4

// Pressure and velocity of a node are together in a float4.

// For each pair of nodes, factors along three directions.
RADDLE_TEXTURE(float4, derivatives)
// Nine numbers for each element, row by row: how fast its directions change along x, y and z.
RADDLE_TEXTURE(float, shapes)
// For each face, the direction outwards and how large it is for its element.
RADDLE_TEXTURE(float4, normals)
// For each node of a face and node of the element, how one comes to the other.
RADDLE_TEXTURE(float, lift)

// Changes from inside: derivatives along the three directions of the element, turned into those in space. A block has an
// element, a thread a node. Matrices have a column for each node, so that threads read next to each other.
//
// Table 1 of the TBC paper has kernels of 84, 112 and 256 threads and 4, 5 and 6 blocks on an SM, in that order; but 1024
// threads are only four blocks of 256. So the smallest blocks get 6 here, then 5, then 4.
__global__ void __launch_bounds__(NODES, 6)
    volume(const float4 *__restrict__ waves, float4 *__restrict__ changes) {
    __shared__ float4 nodes[NODES];
    const int node = threadIdx.x;
    const int at = blockIdx.x * NODES + node;
    nodes[node] = waves[at];
    __syncthreads();

    float4 along[3] = {};
    for (int m = 0; m < NODES; m++) {
        float4 d = derivatives_at(m * NODES + node);
        float4 wave = nodes[m];
        const float factor[3] = {d.x, d.y, d.z};
#pragma unroll
        for (int i = 0; i < 3; i++) {
            along[i].x += factor[i] * wave.x;
            along[i].y += factor[i] * wave.y;
            along[i].z += factor[i] * wave.z;
            along[i].w += factor[i] * wave.w;
        }
    }
    float shape[9];
#pragma unroll
    for (int i = 0; i < 9; i++) {
        shape[i] = shapes_at(blockIdx.x * 9 + i);
    }
    float4 change;
    change.x = -(shape[0] * along[0].y + shape[1] * along[1].y + shape[2] * along[2].y + shape[3] * along[0].z +
                 shape[4] * along[1].z + shape[5] * along[2].z + shape[6] * along[0].w + shape[7] * along[1].w +
                 shape[8] * along[2].w);
    change.y = -(shape[0] * along[0].x + shape[1] * along[1].x + shape[2] * along[2].x);
    change.z = -(shape[3] * along[0].x + shape[4] * along[1].x + shape[5] * along[2].x);
    change.w = -(shape[6] * along[0].x + shape[7] * along[1].x + shape[8] * along[2].x);
    changes[at] = change;
}

// Changes from the faces: what flows between neighbours, lifted to all nodes. A thread has a node of a face, and then one
// of the element. A node that is its own neighbour is at a wall.
__global__ void __launch_bounds__(FACES *FACE_NODES, 5)
    surface(const float4 *__restrict__ waves, const int2 *__restrict__ links, float4 *__restrict__ changes) {
    __shared__ float4 flux[FACES * FACE_NODES];
    const int thread = threadIdx.x;
    int2 link = links[blockIdx.x * FACES * FACE_NODES + thread];
    float4 normal = normals_at(blockIdx.x * FACES + thread / FACE_NODES);
    float4 here = waves[link.x];
    float4 there = waves[link.y];
    float pressure = there.x - here.x;
    float speed = normal.x * (there.y - here.y) + normal.y * (there.z - here.z) + normal.z * (there.w - here.w);
    if (link.x == link.y) {
        speed = -2.0f * (normal.x * here.y + normal.y * here.z + normal.z * here.w);
    }
    float scale = 0.5f * normal.w;
    float push = scale * (speed - pressure);
    flux[thread] = make_float4(-push, push * normal.x, push * normal.y, push * normal.z);
    __syncthreads();

    if (thread < NODES) {
        const int at = blockIdx.x * NODES + thread;
        float4 sum = changes[at];
        for (int m = 0; m < FACES * FACE_NODES; m++) {
            float l = lift_at(m * NODES + thread);
            float4 f = flux[m];
            sum.x += l * f.x;
            sum.y += l * f.y;
            sum.z += l * f.z;
            sum.w += l * f.w;
        }
        changes[at] = sum;
    }
}

// A stage of a Runge-Kutta step that keeps one more value for each number.
__global__ void __launch_bounds__(256, 4)
    stage(int count, float keep, float step, float weight, const float *__restrict__ changes, float *__restrict__ kept,
          float *__restrict__ waves) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float now = keep * kept[i] + step * changes[i];
        kept[i] = now;
        waves[i] += weight * now;
    }
}
