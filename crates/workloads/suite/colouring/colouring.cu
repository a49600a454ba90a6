// Colours a graph so that neighbours differ: in each round, those that are first among their uncoloured neighbours.
#include "raddle.cuh"

// A vertex with no colour whose weight is above those of all neighbours without one takes the least colour that no neighbour
// has. Colours are from 0 on, -1 is none. It reads the colours of the round before.
__global__ void colour_round(const int *__restrict__ first, const int *__restrict__ neighbours,
                             const uint *__restrict__ weights, int count, const int *__restrict__ before,
                             int *__restrict__ after, int *__restrict__ left) {
    int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= count) {
        return;
    }
    int colour = before[vertex];
    if (colour < 0) {
        uint weight = weights[vertex];
        bool is_first = true;
        ull taken = 0;
        for (int i = first[vertex]; i < first[vertex + 1]; i++) {
            int other = neighbours[i];
            int its = before[other];
            if (its >= 0) {
                taken |= 1ull << its;
            } else if (weights[other] > weight) {
                is_first = false;
                break;
            }
        }
        if (is_first) {
            colour = 0;
            while (taken >> colour & 1) {
                colour++;
            }
        } else {
            *left = 1;
        }
    }
    after[vertex] = colour;
}
