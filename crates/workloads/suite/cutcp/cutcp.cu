// The electric potential on a grid, of charges up to a cut-off distance.
#include "raddle.cuh"

#define SIDE 8     // points of a block's cube on a side; a thread has four of them
#define THREADS 128
#define CHARGES 8  // of a cell, at most

// Charges are sorted into cells as large as the cube; cell c has CHARGES places, and what is not used has no charge. A block
// takes the cells around its cube one after the other through shared memory.
__global__ void __launch_bounds__(THREADS)
    potential(const float4 *__restrict__ charges, int cells_x, int cells_y, int cells_z, float spacing, float cutoff2,
              float per_cutoff2, float *__restrict__ grid) {
    __shared__ float4 others[CHARGES];
    const int thread = threadIdx.x;
    const int home_x = blockIdx.x % cells_x, home_y = blockIdx.x / cells_x % cells_y, home_z = blockIdx.x / (cells_x * cells_y);
    const int in_x = thread % SIDE, in_y = thread / SIDE % SIDE, in_z = thread / (SIDE * SIDE);
    const float x = (float)(home_x * SIDE + in_x) * spacing;
    const float y = (float)(home_y * SIDE + in_y) * spacing;
    float sums[4] = {};
    for (int cell = 0; cell < 27; cell++) {
        int cell_x = home_x + cell % 3 - 1, cell_y = home_y + cell / 3 % 3 - 1, cell_z = home_z + cell / 9 - 1;
        if (cell_x < 0 || cell_x >= cells_x || cell_y < 0 || cell_y >= cells_y || cell_z < 0 || cell_z >= cells_z) {
            continue;
        }
        __syncthreads();
        if (thread < CHARGES) {
            others[thread] = charges[((cell_z * cells_y + cell_y) * cells_x + cell_x) * CHARGES + thread];
        }
        __syncthreads();
        for (int i = 0; i < CHARGES && others[i].w != 0.0f; i++) {
            float4 other = others[i];
            float dx = x - other.x, dy = y - other.y;
            float flat = dx * dx + dy * dy;
#pragma unroll
            for (int layer = 0; layer < 4; layer++) {
                float dz = (float)(home_z * SIDE + in_z + layer * 2) * spacing - other.z;
                float far2 = flat + dz * dz;
                if (far2 < cutoff2) {
                    float fade = 1.0f - far2 * per_cutoff2;
                    sums[layer] += other.w * rsqrtf(far2) * fade * fade;
                }
            }
        }
    }
    for (int layer = 0; layer < 4; layer++) {
        int z = home_z * SIDE + in_z + layer * 2;
        grid[(z * cells_y * SIDE + home_y * SIDE + in_y) * cells_x * SIDE + home_x * SIDE + in_x] = sums[layer];
    }
}
