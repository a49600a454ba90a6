// A particle, moved by a function of another file.
#pragma once

struct Particle {
    float place, speed;
};

__device__ void move(Particle &particle, float time);
extern __device__ float gravity;
