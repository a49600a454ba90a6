// Finds where pieces of DNA match a reference, in its suffix tree.
#include "raddle.cuh"

// A node, with the edge that leads to it.
struct __attribute__((aligned(16))) Node {
    int start;  // where the letters of the edge are in the reference
    int length; // how many they are
    int link;   // the node of the same letters without the first
    int first;  // where the reference has the letters from the root to here, the first time
};

// For every place in a query, the longest match that begins there, if it is long enough. One thread has one query.
__global__ void match(const uchar *__restrict__ reference, const Node *__restrict__ nodes,
                      const int4 *__restrict__ children, const uchar *__restrict__ queries,
                      const int *__restrict__ first, int count, int shortest, int *__restrict__ lengths,
                      int *__restrict__ places) {
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= count) {
        return;
    }
    int begin = first[query];
    int end = first[query + 1];
    const int *next_of = (const int *)children;

    // The letters from `begin` to `at` match; `node` is the last node among them, and `along` of them come after it, on
    // the edge to `child`.
    int node = 0;
    int at = begin;
    int along = 0;
    int child = 0;
    while (begin <= end - shortest) {
        // Further down, letter by letter.
        while (at < end) {
            if (along == 0) {
                child = next_of[4 * node + queries[at]];
                if (child == 0) {
                    break;
                }
            } else if (reference[nodes[child].start + along] != queries[at]) {
                break;
            }
            at++;
            along++;
            if (along == nodes[child].length) {
                node = child;
                along = 0;
            }
        }
        int length = at - begin;
        if (length >= shortest) {
            lengths[begin] = length;
            places[begin] = nodes[along == 0 ? node : child].first;
        }

        // Over to the match without its first letter. It is in the tree, so that going down to it needs no comparing.
        begin++;
        if (length == 0) {
            at++;
            continue;
        }
        if (node != 0) {
            node = nodes[node].link;
        } else {
            along--;
        }
        while (along > 0) {
            child = next_of[4 * node + queries[at - along]];
            int edge = nodes[child].length;
            if (along < edge) {
                break;
            }
            node = child;
            along -= edge;
        }
    }
}
