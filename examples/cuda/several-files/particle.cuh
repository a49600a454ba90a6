// A particle, moved by a function of another file.
#pragma once

struct Particle {
    float place, speed;
};

// How many moves there were.
extern __managed__ int moves;

__device__ void move(Particle &particle, float time);
extern __device__ float gravity;
