// Rays through a scene of triangles, sorted into a tree of boxes. Warps stay until all rays are traced.
#include "raddle.cuh"

#define WARPS 6
#define STACK 20
#define NONE 0x7fffffff

// An inner node: the boxes of both children, and where they are. A negative child is a leaf: ~child is its first
// triangle.
struct __attribute__((aligned(16))) Node {
    float4 xy[2]; // of each child, low x, high x, low y, high y
    float4 z;     // low z and high z of the first child, then of the second
    int4 child;
};

// A corner and two edges, and whether the leaf ends with it.
struct __attribute__((aligned(16))) Triangle {
    float3 corner;
    int index;
    float3 edge1;
    int is_last;
    float3 edge2;
    int unused;
};

struct __attribute__((aligned(16))) Ray {
    float3 from;
    float nearest;
    float3 direction;
    float furthest;
};

static __device__ __forceinline__ float dot(float3 a, float3 b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z)); }

static __device__ __forceinline__ float3 cross(float3 a, float3 b) {
    return make_float3(fmaf(a.y, b.z, -(a.z * b.y)), fmaf(a.z, b.x, -(a.x * b.z)), fmaf(a.x, b.y, -(a.y * b.x)));
}

struct Hit {
    int index;
    float distance;
};

// The triangle that a ray meets first, and how far away.
static __device__ __forceinline__ Hit first_hit(const Node *__restrict__ nodes, const Triangle *__restrict__ triangles,
                                                Ray ray) {
    const float3 from = ray.from;
    const float3 direction = ray.direction;
    const float3 per = make_float3(1.0f / direction.x, 1.0f / direction.y, 1.0f / direction.z);
    const float3 offset = make_float3(from.x * per.x, from.y * per.y, from.z * per.z);
    Hit hit = {-1, ray.furthest};
    int stack[STACK];
    int top = 0;
    int at = 0;
    stack[0] = NONE;
    while (at != NONE) {
        // Down to a leaf, the nearer child first.
        while (at >= 0 && at != NONE) {
            Node node = nodes[at];
            float enter[2], leave[2];
            for (int side = 0; side < 2; side++) {
                float4 xy = node.xy[side];
                float low_z = side == 0 ? node.z.x : node.z.z;
                float high_z = side == 0 ? node.z.y : node.z.w;
                float x0 = xy.x * per.x - offset.x, x1 = xy.y * per.x - offset.x;
                float y0 = xy.z * per.y - offset.y, y1 = xy.w * per.y - offset.y;
                float z0 = low_z * per.z - offset.z, z1 = high_z * per.z - offset.z;
                enter[side] = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), ray.nearest));
                leave[side] = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fminf(fmaxf(z0, z1), hit.distance));
            }
            bool meets0 = enter[0] <= leave[0];
            bool meets1 = enter[1] <= leave[1];
            if (!meets0 && !meets1) {
                at = stack[top--];
                continue;
            }
            at = meets0 ? node.child.x : node.child.y;
            if (meets0 && meets1) {
                int other = node.child.y;
                if (enter[1] < enter[0]) {
                    other = at;
                    at = node.child.y;
                }
                stack[++top] = other;
            }
        }

        // All triangles of the leaf. Sums of products are fused by hand, so that the host can do the same.
        while (at < 0) {
            int i = ~at;
            while (true) {
                Triangle triangle = triangles[i++];
                float3 p = cross(direction, triangle.edge2);
                float per_volume = 1.0f / dot(triangle.edge1, p);
                float3 to =
                    make_float3(from.x - triangle.corner.x, from.y - triangle.corner.y, from.z - triangle.corner.z);
                float side1 = dot(to, p);
                float u = side1 * per_volume;
                if (u >= 0.0f && u <= 1.0f) {
                    float3 q = cross(to, triangle.edge1);
                    float v = dot(direction, q) * per_volume;
                    float distance = dot(triangle.edge2, q) * per_volume;
                    // Of triangles at the same distance, the first.
                    if (v >= 0.0f && v <= fmaf(-side1, per_volume, 1.0f) && distance > ray.nearest &&
                        (distance < hit.distance || (distance == hit.distance && triangle.index < hit.index))) {
                        hit.distance = distance;
                        hit.index = triangle.index;
                    }
                }
                if (triangle.is_last) {
                    break;
                }
            }
            at = stack[top--];
        }
    }
    return hit;
}

// Traces all rays. The first lane of a warp takes rays for all its lanes, again and again. An SM holds
// 3 blocks: Table 1 of the TBC paper.
__global__ void __launch_bounds__(32 * WARPS, 3)
    trace(const Node *__restrict__ nodes, const Triangle *__restrict__ triangles, const Ray *__restrict__ rays,
          int count, int *next_ray, int *__restrict__ hits, float *__restrict__ distances) {
    __shared__ volatile int first_ray[WARPS];
    while (true) {
        if (threadIdx.x == 0) {
            first_ray[threadIdx.y] = atomicAdd(next_ray, 32);
        }
        __syncwarp();
        int first = first_ray[threadIdx.y];
        __syncwarp();
        if (first >= count) {
            return;
        }
        int index = first + threadIdx.x;
        if (index < count) {
            Hit hit = first_hit(nodes, triangles, rays[index]);
            hits[index] = hit.index;
            distances[index] = hit.distance;
        }
    }
}
