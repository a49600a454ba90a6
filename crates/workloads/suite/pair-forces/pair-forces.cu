// Forces between the atoms of a liquid: van der Waals and electrostatic, up to a cut-off distance.
#include "raddle.cuh"

#define BLOCK 64
#define TYPES 2

// For each pair of types, the factors of r^-12 and r^-6.
__constant__ float2 mixing[TYPES * TYPES];

struct Box {
    int cells;          // on a side
    float side;         // of the box, which repeats itself
    float cutoff2;      // the square of the distance at which forces end
    float switch2;      // and of that at which van der Waals forces begin to be weakened
    float per_switch;   // 1 / (cutoff2 - switch2)^3
    float per_cutoff2;  // 1 / cutoff2
};

// Atoms of a cell next to a block's own; where the box ends, those of the next box.
struct Neighbour {
    int begin, end;
    float x, y, z; // how far to shift them
};

// A coordinate of a cell, back in the box, and the shift that this means.
static __device__ __forceinline__ float wrap(int *cell, const Box &box) {
    float shift = 0.0f;
    if (*cell < 0) {
        *cell += box.cells;
        shift = -box.side;
    } else if (*cell >= box.cells) {
        *cell -= box.cells;
        shift = box.side;
    }
    return shift;
}

// Atoms are sorted by cells, which are as large as the cut-off distance: those of cell c begin at first[c]. A block has
// the atoms of one cell, a thread one of them at a time; atoms of the 27 cells around go through shared memory. An SM
// holds 7 blocks: Table 1 of the TBC paper.
__global__ void __launch_bounds__(BLOCK, 7)
    pair_forces(const float4 *__restrict__ atoms, const int2 *__restrict__ kinds, const int *__restrict__ first,
                Box box, float4 *__restrict__ forces) {
    __shared__ Neighbour neighbours[27];
    __shared__ float4 others[BLOCK];
    __shared__ int2 other_kinds[BLOCK];
    const int home = (blockIdx.z * box.cells + blockIdx.y) * box.cells + blockIdx.x;
    const int home_end = first[home + 1];
    const int thread = threadIdx.x;
    if (thread < 27) {
        int x = (int)blockIdx.x + thread % 3 - 1;
        int y = (int)blockIdx.y + thread / 3 % 3 - 1;
        int z = (int)blockIdx.z + thread / 9 - 1;
        Neighbour neighbour;
        neighbour.x = wrap(&x, box);
        neighbour.y = wrap(&y, box);
        neighbour.z = wrap(&z, box);
        int cell = (z * box.cells + y) * box.cells + x;
        neighbour.begin = first[cell];
        neighbour.end = first[cell + 1];
        neighbours[thread] = neighbour;
    }
    __syncthreads();

    for (int base = first[home]; base < home_end; base += BLOCK) {
        const int atom = base + thread;
        const bool has_atom = atom < home_end;
        float4 me = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        int2 my_kind = make_int2(0, 0);
        if (has_atom) {
            me = atoms[atom];
            my_kind = kinds[atom];
        }
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

        for (int n = 0; n < 27; n++) {
            const int end = neighbours[n].end;
            for (int from = neighbours[n].begin; from < end; from += BLOCK) {
                int count = min(end - from, BLOCK);
                __syncthreads();
                if (thread < count) {
                    float4 other = atoms[from + thread];
                    other.x += neighbours[n].x;
                    other.y += neighbours[n].y;
                    other.z += neighbours[n].z;
                    others[thread] = other;
                    other_kinds[thread] = kinds[from + thread];
                }
                __syncthreads();
                if (!has_atom) {
                    continue;
                }
                for (int i = 0; i < count; i++) {
                    float4 other = others[i];
                    float dx = me.x - other.x;
                    float dy = me.y - other.y;
                    float dz = me.z - other.z;
                    float r2 = dx * dx + dy * dy + dz * dz;
                    if (r2 >= box.cutoff2) {
                        continue;
                    }
                    // Within a molecule there are other forces.
                    int2 kind = other_kinds[i];
                    if (kind.y == my_kind.y) {
                        continue;
                    }
                    float per_r = rsqrtf(r2);
                    float per_r2 = per_r * per_r;
                    float2 factors = mixing[my_kind.x * TYPES + kind.x];
                    float per_r6 = per_r2 * per_r2 * per_r2;
                    float energy = (factors.x * per_r6 - factors.y) * per_r6;
                    // Derivatives are with respect to the square of the distance.
                    float slope = (3.0f * factors.y - 6.0f * factors.x * per_r6) * per_r6 * per_r2;
                    if (r2 > box.switch2) {
                        float to_cutoff = box.cutoff2 - r2;
                        float weight =
                            to_cutoff * to_cutoff * (box.cutoff2 + 2.0f * r2 - 3.0f * box.switch2) * box.per_switch;
                        slope = slope * weight + energy * 6.0f * to_cutoff * (box.switch2 - r2) * box.per_switch;
                        energy *= weight;
                    }
                    float charge = me.w * other.w * per_r;
                    float shield = 1.0f - r2 * box.per_cutoff2;
                    energy += charge * shield * shield;
                    slope -= charge * shield * (0.5f * shield * per_r2 + 2.0f * box.per_cutoff2);
                    float force = -2.0f * slope;
                    sum.x += force * dx;
                    sum.y += force * dy;
                    sum.z += force * dz;
                    sum.w += 0.5f * energy;
                }
            }
        }
        if (has_atom) {
            forces[atom] = sum;
        }
    }
}
