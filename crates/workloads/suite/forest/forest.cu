// Classification by a forest of decision trees.
#include "raddle.cuh"

#define BLOCK 128
#define CLASSES 8

// A node asks whether a feature is below a threshold. Its children follow each other; in a leaf, `feature` is negative
// and `child` is the class.
struct __attribute__((aligned(16))) Node {
    int feature;
    float threshold;
    int child;
    int unused;
};

// A thread asks all trees about its sample, and takes what most of them say. Features are stored one after the other,
// each for all samples.
__global__ void __launch_bounds__(BLOCK) classify(const Node *__restrict__ nodes, const int *__restrict__ roots,
                                                  int trees, const float *__restrict__ features, int samples,
                                                  int *__restrict__ classes, int *__restrict__ majority) {
    __shared__ unsigned short votes[CLASSES][BLOCK];
    int sample = blockIdx.x * BLOCK + threadIdx.x;
    if (sample >= samples) {
        return;
    }
    for (int c = 0; c < CLASSES; c++) {
        votes[c][threadIdx.x] = 0;
    }
    for (int tree = 0; tree < trees; tree++) {
        Node node = nodes[roots[tree]];
        while (node.feature >= 0) {
            float value = features[node.feature * samples + sample];
            node = nodes[node.child + (value < node.threshold ? 0 : 1)];
        }
        votes[node.child][threadIdx.x]++;
    }

    // The first of those with most votes.
    int best = 0;
    int most = votes[0][threadIdx.x];
    for (int c = 1; c < CLASSES; c++) {
        int count = votes[c][threadIdx.x];
        if (count > most) {
            most = count;
            best = c;
        }
    }
    classes[sample] = best;
    majority[sample] = most;
}
