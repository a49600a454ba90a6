#include "particle.cuh"

__device__ float gravity = 10.0f;
__managed__ int moves = 5;

__device__ void move(Particle &particle, float time) {
    particle.place += particle.speed * time;
    particle.speed -= gravity * time;
    atomicAdd(&moves, 1);
}
