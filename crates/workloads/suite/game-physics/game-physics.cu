// Bodies of a game that may touch: a broad phase finds pairs whose boxes meet, a narrow one how deep they are in each other.
#include "raddle.cuh"

#define CIRCLE 0

// Places and sizes in whole units for the broad phase. A circle has one size, a box two: half of its sides.
struct __attribute__((aligned(16))) Body {
    int x, y;
    int reach;       // nothing of it is further away along an axis
    int kind;
    float cos, sin;  // how it is turned
    float half_x, half_y;
};

// Bodies are sorted by cells of a grid, those of cell c begin at first[c]; nobody reaches further than a cell. A thread has
// a body and finds those after it, at most `most`.
__global__ void __launch_bounds__(128) broad_phase(const Body *__restrict__ bodies, const int *__restrict__ first,
                                                   int count, int cells, int cell_size, int most,
                                                   int *__restrict__ found, int *__restrict__ others) {
    int body = blockIdx.x * blockDim.x + threadIdx.x;
    if (body >= count) {
        return;
    }
    Body me = bodies[body];
    int column = me.x / cell_size;
    int row = me.y / cell_size;
    int number = 0;
    for (int y = max(row - 1, 0); y <= min(row + 1, cells - 1); y++) {
        for (int x = max(column - 1, 0); x <= min(column + 1, cells - 1); x++) {
            int cell = y * cells + x;
            for (int other = first[cell]; other < first[cell + 1]; other++) {
                if (other <= body) {
                    continue;
                }
                int apart = me.reach + bodies[other].reach;
                if (abs(me.x - bodies[other].x) < apart && abs(me.y - bodies[other].y) < apart && number < most) {
                    others[body * most + number] = other;
                    number++;
                }
            }
        }
    }
    found[body] = number;
}

// How deep, and the way out for the first of both.
struct Contact {
    float depth, x, y;
};

static __device__ __forceinline__ Contact circles(const Body &a, const Body &b) {
    float dx = (float)(a.x - b.x), dy = (float)(a.y - b.y);
    float far = sqrtf(dx * dx + dy * dy);
    Contact contact = {0.0f, 0.0f, 0.0f};
    float depth = a.half_x + b.half_x - far;
    if (depth > 0.0f) {
        float per = 1.0f / fmaxf(far, 1.0f);
        contact = {depth, dx * per, dy * per};
    }
    return contact;
}

// The nearest point of the box to the middle of the circle.
static __device__ __forceinline__ Contact circle_and_box(const Body &circle, const Body &box) {
    float dx = (float)(circle.x - box.x), dy = (float)(circle.y - box.y);
    float along = dx * box.cos + dy * box.sin;
    float across = dy * box.cos - dx * box.sin;
    float out_x = along - fminf(fmaxf(along, -box.half_x), box.half_x);
    float out_y = across - fminf(fmaxf(across, -box.half_y), box.half_y);
    Contact contact = {0.0f, 0.0f, 0.0f};
    float far2 = out_x * out_x + out_y * out_y;
    if (far2 == 0.0f) {
        // The middle is inside: out along the shorter way.
        float left_x = box.half_x - fabsf(along), left_y = box.half_y - fabsf(across);
        if (left_x < left_y) {
            out_x = along < 0.0f ? -1.0f : 1.0f;
            contact.depth = left_x + circle.half_x;
        } else {
            out_y = across < 0.0f ? -1.0f : 1.0f;
            contact.depth = left_y + circle.half_x;
        }
    } else {
        float far = sqrtf(far2);
        if (far >= circle.half_x) {
            return contact;
        }
        contact.depth = circle.half_x - far;
        out_x /= far;
        out_y /= far;
    }
    contact.x = out_x * box.cos - out_y * box.sin;
    contact.y = out_x * box.sin + out_y * box.cos;
    return contact;
}

// Looks along the sides of both boxes for one on which their shadows are apart.
static __device__ __forceinline__ Contact boxes(const Body &a, const Body &b) {
    float dx = (float)(a.x - b.x), dy = (float)(a.y - b.y);
    Contact best = {1e30f, 0.0f, 0.0f};
    for (int axis = 0; axis < 4; axis++) {
        const Body &own = axis < 2 ? a : b;
        float x = axis & 1 ? -own.sin : own.cos;
        float y = axis & 1 ? own.cos : own.sin;
        float reach_a = a.half_x * fabsf(x * a.cos + y * a.sin) + a.half_y * fabsf(y * a.cos - x * a.sin);
        float reach_b = b.half_x * fabsf(x * b.cos + y * b.sin) + b.half_y * fabsf(y * b.cos - x * b.sin);
        float apart = dx * x + dy * y;
        float depth = reach_a + reach_b - fabsf(apart);
        if (depth <= 0.0f) {
            return {0.0f, 0.0f, 0.0f};
        }
        if (depth < best.depth) {
            float side = apart < 0.0f ? -1.0f : 1.0f;
            best = {depth, x * side, y * side};
        }
    }
    return best;
}

// A thread has a pair.
__global__ void __launch_bounds__(128)
    narrow_phase(const Body *__restrict__ bodies, const int2 *__restrict__ pairs, int count, float4 *__restrict__ pushes) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= count) {
        return;
    }
    Body a = bodies[pairs[pair].x];
    Body b = bodies[pairs[pair].y];
    Contact contact;
    if (a.kind == CIRCLE && b.kind == CIRCLE) {
        contact = circles(a, b);
    } else if (a.kind == CIRCLE) {
        contact = circle_and_box(a, b);
    } else if (b.kind == CIRCLE) {
        contact = circle_and_box(b, a);
        contact.x = -contact.x;
        contact.y = -contact.y;
    } else {
        contact = boxes(a, b);
    }
    pushes[pair] = make_float4(contact.depth, contact.depth * contact.x, contact.depth * contact.y, 0.0f);
}
