// Sorts particles into the boxes of an octree, level by level. Blocks take tasks from a queue and leave new ones in another.
#include "raddle.cuh"

#define BLOCK 256

struct __attribute__((aligned(16))) Particle {
    uint x, y, z;
    int index;
};

// The particles of a box.
struct Task {
    int begin, end;
};

// Eight parts of each box. Parts with more than `most` particles are new tasks; of others, every particle is told where its
// part begins and how deep it is. `level` bits of each coordinate are left.
__global__ void __launch_bounds__(BLOCK, 4)
    partition(const Particle *__restrict__ from, Particle *__restrict__ to, const Task *__restrict__ tasks, int count,
              int *taken, Task *__restrict__ new_tasks, int *new_count, int level, int depth, int most,
              int2 *__restrict__ leaves) {
    __shared__ int task, counts[8], begins[8], cursors[8];
    const int thread = threadIdx.x;
    while (true) {
        __syncthreads();
        if (thread == 0) {
            task = atomicAdd(taken, 1);
        }
        if (thread < 8) {
            counts[thread] = 0;
        }
        __syncthreads();
        if (task >= count) {
            return;
        }
        const int begin = tasks[task].begin;
        const int end = tasks[task].end;
        for (int i = begin + thread; i < end; i += BLOCK) {
            Particle p = from[i];
            int part = (p.x >> level & 1) | (p.y >> level & 1) << 1 | (p.z >> level & 1) << 2;
            atomicAdd(&counts[part], 1);
        }
        __syncthreads();
        if (thread < 8) {
            int before = begin;
            for (int part = 0; part < thread; part++) {
                before += counts[part];
            }
            begins[thread] = before;
            cursors[thread] = before;
            if (counts[thread] > most && level > 0) {
                new_tasks[atomicAdd(new_count, 1)] = Task{before, before + counts[thread]};
            }
        }
        __syncthreads();
        for (int i = begin + thread; i < end; i += BLOCK) {
            Particle p = from[i];
            int part = (p.x >> level & 1) | (p.y >> level & 1) << 1 | (p.z >> level & 1) << 2;
            to[atomicAdd(&cursors[part], 1)] = p;
            if (counts[part] <= most || level == 0) {
                leaves[p.index] = make_int2(begins[part], depth);
            }
        }
    }
}
