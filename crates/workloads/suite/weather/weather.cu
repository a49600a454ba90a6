// A step of a weather model: wind carries heat and water along, then water changes its state and falls, column by column.
// What is fused and what is not is said, so that branches go where they go on the host.
#include "raddle.cuh"

#define FIELDS 5 // temperature in degrees, vapour, cloud, rain and snow in parts of air; a field has its levels from the top
#define CONDENSE 2500.0f // degrees for each part that condenses
#define FREEZE 330.0f

// Carries every field against the side the wind comes from. A thread has a column; the world repeats itself.
__global__ void __launch_bounds__(64, 4) advect(const float *__restrict__ from, const float2 *__restrict__ wind,
                                                int width, int height, int levels, float *__restrict__ to) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    int cell = y * width + x;
    float2 speed = wind[cell];
    int beside, above;
    if (speed.x > 0.0f) {
        beside = y * width + (x == 0 ? width - 1 : x - 1);
    } else {
        beside = y * width + (x == width - 1 ? 0 : x + 1);
    }
    if (speed.y > 0.0f) {
        above = (y == 0 ? height - 1 : y - 1) * width + x;
    } else {
        above = (y == height - 1 ? 0 : y + 1) * width + x;
    }
    float part_x = fabsf(speed.x);
    float part_y = fabsf(speed.y);
    for (int layer = 0; layer < FIELDS * levels; layer++) {
        const float *plane = from + layer * width * height;
        float here = plane[cell];
        to[layer * width * height + cell] = here - fmaf(part_x, here - plane[beside], part_y * (here - plane[above]));
    }
}

// The pressure of saturated vapour, over water or over ice.
static __device__ __forceinline__ float saturated(float t) {
    if (t > 0.0f) {
        return fmaf(fmaf(fmaf(fmaf(3.03e-6f, t, 2.65e-4f), t, 1.43e-2f), t, 0.444f), t, 6.11f);
    }
    return fmaxf(fmaf(fmaf(fmaf(fmaf(2.0e-6f, t, 2.9e-4f), t, 1.85e-2f), t, 0.503f), t, 6.11f), 0.05f);
}

static __device__ __forceinline__ float fall(float rain) { return 36.0f * sqrtf(sqrtf(rain)); }

// Condensing, melting, freezing and the growth of drops; then rain falls, in as many steps as the fastest needs.
__global__ void __launch_bounds__(64, 4) change_state(float *__restrict__ state, const float *__restrict__ pressure,
                                                      int width, int height, int levels, float step,
                                                      float *__restrict__ ground) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    const int plane = width * height;
    const int field = levels * plane;
    float *column = state + y * width + x;
    float fastest = 0.0f;
    for (int level = 0; level < levels; level++) {
        float *at = column + level * plane;
        float t = at[0], vapour = at[field], cloud = at[2 * field], rain = at[3 * field], snow = at[4 * field];
        float es = saturated(t);
        float most = 0.622f * es / (pressure[level] - es);
        float excess = vapour - most;
        if (excess > 0.0f) {
            float m = __fmul_rn(excess, 0.7f);
            vapour -= m;
            t = fmaf(m, CONDENSE, t);
            if (t > -10.0f) {
                cloud += m;
            } else {
                snow += m;
            }
        } else if (cloud > 0.0f) {
            float m = fminf(cloud, excess * -0.5f);
            cloud -= m;
            vapour += m;
            t = fmaf(-m, CONDENSE, t);
        }
        if (t > 0.0f) {
            if (cloud > 5e-4f) {
                float m = __fmul_rn(cloud - 5e-4f, 0.1f);
                cloud -= m;
                rain += m;
            }
            if (cloud > 0.0f && rain > 0.0f) {
                float m = fminf(cloud, 2.0f * cloud * sqrtf(rain));
                cloud -= m;
                rain += m;
            }
            if (snow > 0.0f) {
                float m = fminf(snow, 1e-4f * t);
                snow -= m;
                rain += m;
                t = fmaf(-m, FREEZE, t);
            }
            if (rain > 0.0f && vapour < most) {
                float m = fminf(rain, (most - vapour) * 0.05f * fall(rain));
                rain -= m;
                vapour += m;
                t = fmaf(-m, CONDENSE, t);
            }
        } else {
            if (rain > 0.0f) {
                float m = t < -15.0f ? rain : __fmul_rn(rain, 0.2f);
                rain -= m;
                snow += m;
                t = fmaf(m, FREEZE, t);
            }
            if (cloud > 0.0f && snow > 0.0f) {
                float m = fminf(cloud, 1.5f * cloud * sqrtf(snow));
                cloud -= m;
                snow += m;
            }
            if (t < -38.0f && cloud > 0.0f) {
                snow += cloud;
                t = fmaf(cloud, FREEZE, t);
                cloud = 0.0f;
            }
        }
        at[0] = t;
        at[field] = vapour;
        at[2 * field] = cloud;
        at[3 * field] = rain;
        at[4 * field] = snow;
        if (rain > 1e-6f) {
            fastest = fmaxf(fastest, fall(rain));
        }
    }
    if (fastest > 0.0f) {
        int steps = 1 + (int)(fastest * step);
        float part = step / (float)steps;
        float fallen = ground[y * width + x];
        for (int i = 0; i < steps; i++) {
            float coming = 0.0f;
            for (int level = 0; level < levels; level++) {
                float *at = column + 3 * field + level * plane;
                float rain = *at;
                float going = 0.0f;
                if (rain > 1e-6f) {
                    going = fminf(rain, rain * fall(rain) * part);
                }
                *at = rain - going + coming;
                coming = going;
            }
            fallen += coming;
        }
        ground[y * width + x] = fallen;
    }
}
