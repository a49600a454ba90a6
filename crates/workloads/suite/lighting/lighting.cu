// Lights a picture tile by tile: each tile finds the lights that reach it, and its pixels take what they get from those.
#include "raddle.cuh"

#define TILE 16
#define MOST 256
#define NOTHING 0x7fffffff

// Places in pixels, depth included, so that tiles and lights meet in the same way everywhere.
struct __attribute__((aligned(16))) Light {
    int x, y, z, radius;
    float red, green, blue;
    int kind; // 0 shines everywhere, 1 downwards only, 2 with a flat glow
};

// A block has a tile. `depths` has what is seen at each pixel, NOTHING where that is the sky.
__global__ void __launch_bounds__(TILE *TILE)
    light_tiles(const int *__restrict__ depths, const float4 *__restrict__ normals, int width,
                const Light *__restrict__ lights, int count, float4 *__restrict__ picture, int *__restrict__ in_tile) {
    __shared__ int nearest, furthest, found;
    __shared__ int list[MOST];
    const int thread = threadIdx.y * TILE + threadIdx.x;
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int depth = depths[y * width + x];
    if (thread == 0) {
        nearest = NOTHING;
        furthest = -NOTHING;
        found = 0;
    }
    __syncthreads();
    if (depth != NOTHING) {
        atomicMin(&nearest, depth);
        atomicMax(&furthest, depth);
    }
    __syncthreads();

    // The lights whose ball meets the tile's box.
    for (int i = thread; i < count; i += TILE * TILE) {
        Light light = lights[i];
        int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
        int dx = light.x - min(max(light.x, left), left + TILE - 1);
        int dy = light.y - min(max(light.y, top), top + TILE - 1);
        if (nearest <= furthest) {
            int dz = light.z - min(max(light.z, nearest), furthest);
            if (dx * dx + dy * dy + dz * dz < light.radius * light.radius) {
                int at = atomicAdd(&found, 1);
                if (at < MOST) {
                    list[at] = i;
                }
            }
        }
    }
    __syncthreads();
    if (thread == 0) {
        in_tile[blockIdx.y * gridDim.x + blockIdx.x] = found;
    }

    float4 sum = make_float4(0.02f, 0.02f, 0.02f, 1.0f);
    if (depth == NOTHING) {
        picture[y * width + x] = make_float4(0.1f, 0.2f, 0.4f, 0.0f);
        return;
    }
    float4 normal = normals[y * width + x];
    for (int i = 0; i < min(found, MOST); i++) {
        Light light = lights[list[i]];
        float dx = (float)(light.x - x), dy = (float)(light.y - y), dz = (float)(light.z - depth);
        float far2 = dx * dx + dy * dy + dz * dz;
        float reach2 = (float)light.radius * (float)light.radius;
        if (far2 >= reach2) {
            continue;
        }
        float fade = 1.0f - far2 / reach2;
        fade *= fade;
        float amount;
        if (light.kind == 2) {
            amount = fade * 0.5f;
        } else {
            float per_far = rsqrtf(fmaxf(far2, 1.0f));
            float facing = (normal.x * dx + normal.y * dy + normal.z * dz) * per_far;
            if (facing <= 0.0f) {
                continue;
            }
            amount = facing * fade;
            if (light.kind == 1) {
                float down = -dy * per_far;
                if (down <= 0.0f) {
                    continue;
                }
                amount *= down * down;
            }
            // A shine that depends on how rough the surface is.
            float shine = facing;
            for (int power = 0; power < (int)normal.w; power++) {
                shine *= shine;
            }
            amount += shine * fade * 0.3f;
        }
        sum.x += amount * light.red;
        sum.y += amount * light.green;
        sum.z += amount * light.blue;
    }
    picture[y * width + x] = sum;
}
