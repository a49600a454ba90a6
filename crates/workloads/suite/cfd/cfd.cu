// Compressible flow by the Euler equations, on an unstructured mesh of tetrahedra: finite volumes and explicit steps.
#include "raddle.cuh"

#define FACES 4
#define GAMMA 1.4f
#define SMOOTHING 0.2f
#define COURANT 0.5f
// Instead of a neighbour.
#define WALL (-1)

#define DENSITY 0
#define MOMENTUM 1
#define ENERGY 4
#define VARIABLES 5

// The flow far away.
__constant__ float far_field[VARIABLES];

struct State {
    float density, energy, pressure, speed, sound;
    float3 momentum, velocity;
};

struct Flux {
    float density, energy;
    float3 momentum;
};

static __device__ __forceinline__ float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// What follows from variables that are `stride` apart.
static __device__ __forceinline__ State load(const float *variables, int stride) {
    State s;
    s.density = variables[DENSITY * stride];
    s.momentum.x = variables[MOMENTUM * stride];
    s.momentum.y = variables[(MOMENTUM + 1) * stride];
    s.momentum.z = variables[(MOMENTUM + 2) * stride];
    s.energy = variables[ENERGY * stride];
    float inverse = 1.0f / s.density;
    s.velocity = make_float3(s.momentum.x * inverse, s.momentum.y * inverse, s.momentum.z * inverse);
    float square = dot(s.velocity, s.velocity);
    s.speed = sqrtf(square);
    s.pressure = (GAMMA - 1.0f) * (s.energy - 0.5f * s.density * square);
    s.sound = sqrtf(GAMMA * s.pressure * inverse);
    return s;
}

// Adds what flows through a face, times a weight.
static __device__ __forceinline__ void add_flow(Flux *flux, const State &s, float3 normal, float weight) {
    float through = weight * dot(s.velocity, normal);
    float push = weight * s.pressure;
    flux->density += through * s.density;
    flux->momentum.x += through * s.momentum.x + push * normal.x;
    flux->momentum.y += through * s.momentum.y + push * normal.y;
    flux->momentum.z += through * s.momentum.z + push * normal.z;
    flux->energy += through * (s.energy + s.pressure);
}

__global__ void initialize_variables(float *__restrict__ variables, int count) {
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < count) {
        for (int i = 0; i < VARIABLES; i++) {
            variables[i * count + cell] = far_field[i];
        }
    }
}

// Time step over volume, as large as is stable; `areas` are those of whole cells.
__global__ void compute_step_factor(const float *__restrict__ variables, const float *__restrict__ areas,
                                    float *__restrict__ step_factors, int count) {
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < count) {
        State own = load(variables + cell, count);
        step_factors[cell] = COURANT / (areas[cell] * (own.speed + own.sound));
    }
}

// What leaves each cell. Normals point outwards and are as long as their faces are large.
__global__ void compute_flux(const int *__restrict__ neighbours, const float *__restrict__ normals,
                             const float *__restrict__ variables, float *__restrict__ fluxes, int count) {
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= count) {
        return;
    }
    const State own = load(variables + cell, count);
    Flux flux = {0.0f, 0.0f, {0.0f, 0.0f, 0.0f}};
    for (int face = 0; face < FACES; face++) {
        int neighbour = neighbours[face * count + cell];
        float3 normal;
        normal.x = normals[(3 * face) * count + cell];
        normal.y = normals[(3 * face + 1) * count + cell];
        normal.z = normals[(3 * face + 2) * count + cell];
        if (neighbour >= 0) {
            const State other = load(variables + neighbour, count);
            add_flow(&flux, own, normal, 0.5f);
            add_flow(&flux, other, normal, 0.5f);
            // Artificial viscosity.
            float area = sqrtf(dot(normal, normal));
            float factor = 0.5f * SMOOTHING * area * (own.speed + own.sound + other.speed + other.sound);
            flux.density += factor * (own.density - other.density);
            flux.momentum.x += factor * (own.momentum.x - other.momentum.x);
            flux.momentum.y += factor * (own.momentum.y - other.momentum.y);
            flux.momentum.z += factor * (own.momentum.z - other.momentum.z);
            flux.energy += factor * (own.energy - other.energy);
        } else if (neighbour == WALL) {
            flux.momentum.x += own.pressure * normal.x;
            flux.momentum.y += own.pressure * normal.y;
            flux.momentum.z += own.pressure * normal.z;
        } else {
            add_flow(&flux, own, normal, 0.5f);
            add_flow(&flux, load(far_field, 1), normal, 0.5f);
        }
    }
    fluxes[DENSITY * count + cell] = flux.density;
    fluxes[MOMENTUM * count + cell] = flux.momentum.x;
    fluxes[(MOMENTUM + 1) * count + cell] = flux.momentum.y;
    fluxes[(MOMENTUM + 2) * count + cell] = flux.momentum.z;
    fluxes[ENERGY * count + cell] = flux.energy;
}

// One stage of a Runge-Kutta step.
__global__ void time_step(const float *__restrict__ old, float *__restrict__ variables,
                          const float *__restrict__ step_factors, const float *__restrict__ fluxes, int count,
                          int stages_left) {
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < count) {
        float factor = step_factors[cell] / (float)stages_left;
        for (int i = 0; i < VARIABLES; i++) {
            variables[i * count + cell] = old[i * count + cell] - factor * fluxes[i * count + cell];
        }
    }
}
