// A picture of mirroring spheres on a floor. Sums of products are fused by hand, so that the host can do the same.
#include "raddle.cuh"

#define MAX_SPHERES 128
#define NEAR 1e-3f
#define FAR 1e30f

// Centre and radius.
__constant__ float4 spheres[MAX_SPHERES];
// Colour, and the part of the light that is mirrored.
__constant__ float4 surfaces[MAX_SPHERES];

static __device__ __forceinline__ float dot(float3 a, float3 b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z)); }

// a + s * b
static __device__ __forceinline__ float3 along(float3 a, float s, float3 b) {
    return make_float3(fmaf(s, b.x, a.x), fmaf(s, b.y, a.y), fmaf(s, b.z, a.z));
}

static __device__ __forceinline__ float3 minus(float3 a, float3 b) {
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static __device__ __forceinline__ float3 times(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }

// How far away a ray meets a sphere, or FAR.
static __device__ __forceinline__ float meet(float4 sphere, float3 from, float3 direction) {
    float3 apart = minus(from, make_float3(sphere.x, sphere.y, sphere.z));
    float half = dot(apart, direction);
    float rest = fmaf(half, half, -fmaf(-sphere.w, sphere.w, dot(apart, apart)));
    if (rest <= 0.0f) {
        return FAR;
    }
    float root = sqrtf(rest);
    float distance = -half - root;
    if (distance <= NEAR) {
        distance = root - half;
    }
    return distance > NEAR ? distance : FAR;
}

// A thread follows the light of a pixel backwards until it comes from something that is no mirror.
// An SM holds 3 blocks: Table 1 of the TBC paper.
__global__ void __launch_bounds__(16 * 8, 3)
    render(uchar4 *__restrict__ picture, uchar *__restrict__ depths, int width, int height, int count, int deepest,
           float3 eye, float3 light) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float scale = 2.0f / (float)height;
    float3 direction = make_float3(((float)(2 * x + 1 - width) * 0.5f) * scale,
                                   ((float)(height - 1 - 2 * y) * 0.5f) * scale, -2.0f);
    direction = times(direction, 1.0f / sqrtf(dot(direction, direction)));
    float3 from = eye;
    float3 colour = make_float3(0.0f, 0.0f, 0.0f);
    float weight = 1.0f;
    int depth = 0;
    while (true) {
        // What the ray meets first: a sphere, the floor, or the sky.
        float distance = FAR;
        int nearest = -1;
        for (int i = 0; i < count; i++) {
            float found = meet(spheres[i], from, direction);
            if (found < distance) {
                distance = found;
                nearest = i;
            }
        }
        if (direction.y < 0.0f) {
            float found = -from.y / direction.y;
            if (found > NEAR && found < distance) {
                distance = found;
                nearest = count;
            }
        }
        if (nearest < 0) {
            float up = fmaf(0.5f, direction.y, 0.5f) * weight;
            colour = along(colour, up, make_float3(0.5f, 0.7f, 1.0f));
            break;
        }

        float3 at = along(from, distance, direction);
        float3 normal = make_float3(0.0f, 1.0f, 0.0f);
        float4 surface;
        if (nearest < count) {
            float4 sphere = spheres[nearest];
            surface = surfaces[nearest];
            normal = times(minus(at, make_float3(sphere.x, sphere.y, sphere.z)), 1.0f / sphere.w);
        } else {
            int tile = (int)floorf(at.x) + (int)floorf(at.z);
            float grey = tile & 1 ? 0.9f : 0.2f;
            surface = make_float4(grey, grey, grey, 0.0f);
        }

        // The lamp shines on it unless a sphere is in between.
        float3 to_light = minus(light, at);
        float light2 = dot(to_light, to_light);
        float per_light = 1.0f / sqrtf(light2);
        float brightness = 0.1f;
        float facing = dot(normal, to_light) * per_light;
        if (facing > 0.0f) {
            float3 way = times(to_light, per_light);
            float to_lamp = light2 * per_light;
            bool is_lit = true;
            for (int i = 0; i < count && is_lit; i++) {
                is_lit = meet(spheres[i], at, way) >= to_lamp;
            }
            if (is_lit) {
                brightness = fmaf(0.9f, facing, 0.1f);
            }
        }
        float share = (1.0f - surface.w) * weight * brightness;
        colour = along(colour, share, make_float3(surface.x, surface.y, surface.z));
        if (surface.w == 0.0f || depth == deepest) {
            break;
        }
        weight *= surface.w;
        direction = along(direction, -2.0f * dot(direction, normal), normal);
        from = at;
        depth++;
    }
    int at = y * width + x;
    picture[at] = make_uchar4((uchar)fmaf(fminf(colour.x, 1.0f), 255.0f, 0.5f),
                              (uchar)fmaf(fminf(colour.y, 1.0f), 255.0f, 0.5f),
                              (uchar)fmaf(fminf(colour.z, 1.0f), 255.0f, 0.5f), 255);
    depths[at] = (uchar)depth;
}
