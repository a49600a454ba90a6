// Finds where pieces of DNA match a reference, in its suffix tree.
#include "raddle.cuh"

RADDLE_TEXTURE(uchar, reference)
// A node, with the edge that leads to it.
// x: where the letters of the edge are in the reference; y: how many they are;
// z: the node of the same letters without the first;
// w: where the reference has the letters from the root to here, the first time.
RADDLE_TEXTURE(int4, nodes)
// Four for each node: the one that a letter leads to, or 0.
RADDLE_TEXTURE(int, children)

// For every place in a query, the longest match that begins there, if it is long enough. One thread has one query. An SM
// holds 4 blocks: Table 1 of the TBC paper.
__global__ void __launch_bounds__(256, 4)
    match(const uchar *__restrict__ queries, const int *__restrict__ first, int count, int shortest,
          int *__restrict__ lengths, int *__restrict__ places) {
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= count) {
        return;
    }
    int begin = first[query];
    int end = first[query + 1];

    // The letters from `begin` to `at` match; `node` is the last node among them, and `along` of them come after it, on
    // the edge to `child`, which has `edge` letters from `start` on.
    int node = 0;
    int at = begin;
    int along = 0;
    int child = 0;
    int start = 0;
    int edge = 0;
    while (begin <= end - shortest) {
        // Further down, letter by letter.
        while (at < end) {
            if (along == 0) {
                child = children_at(4 * node + queries[at]);
                if (child == 0) {
                    break;
                }
                int4 next = nodes_at(child);
                start = next.x;
                edge = next.y;
            } else if (reference_at(start + along) != queries[at]) {
                break;
            }
            at++;
            along++;
            if (along == edge) {
                node = child;
                along = 0;
            }
        }
        int length = at - begin;
        if (length >= shortest) {
            lengths[begin] = length;
            places[begin] = nodes_at(along == 0 ? node : child).w;
        }

        // Over to the match without its first letter. It is in the tree, so that going down to it needs no comparing.
        begin++;
        if (length == 0) {
            at++;
            continue;
        }
        if (node != 0) {
            node = nodes_at(node).z;
        } else {
            along--;
        }
        while (along > 0) {
            child = children_at(4 * node + queries[at - along]);
            int4 next = nodes_at(child);
            start = next.x;
            edge = next.y;
            if (along < edge) {
                break;
            }
            node = child;
            along -= edge;
        }
    }
}
