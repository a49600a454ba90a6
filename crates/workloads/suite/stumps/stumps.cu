// Boosted stumps: an object is rejected as soon as its score is too low to be worth going on.
#include "raddle.cuh"

// Which feature, where it parts objects, and what both sides add.
struct __attribute__((aligned(16))) Stump {
    int feature;
    int threshold;
    int below, above;
};

// A thread has an object; features of objects lie in planes. An object leaves at the first stump after which its score is
// under the least one there. Stumps with an odd feature look at the difference to the next.
__global__ void __launch_bounds__(128) boost(const short *__restrict__ features, int objects, int planes,
                                             const Stump *__restrict__ stumps, const int *__restrict__ least,
                                             int count, int *__restrict__ scores, int *__restrict__ stops) {
    int object = blockIdx.x * blockDim.x + threadIdx.x;
    if (object >= objects) {
        return;
    }
    int score = 0;
    int i = 0;
    for (; i < count; i++) {
        Stump stump = stumps[i];
        int value = features[stump.feature * objects + object];
        if (stump.feature & 1) {
            int next = stump.feature + 1 == planes ? 0 : stump.feature + 1;
            value -= features[next * objects + object];
        }
        score += value < stump.threshold ? stump.below : stump.above;
        if (score < least[i]) {
            break;
        }
    }
    scores[object] = score;
    stops[object] = i;
}
