// How alike documents are: the cosine between the vectors of their words.
#include "raddle.cuh"

#define BLOCK 256

// The sum of all threads' values; every thread gets it.
static __device__ __forceinline__ int block_sum(int *sums, int value) {
    const int thread = threadIdx.x;
    sums[thread] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half >>= 1) {
        if (thread < half) {
            sums[thread] += sums[thread + half];
        }
        __syncthreads();
    }
    int sum = sums[0];
    __syncthreads();
    return sum;
}

// The squares of documents' lengths. A block has a document.
__global__ void __launch_bounds__(BLOCK, 6)
    lengths(const uchar *__restrict__ documents, int words, int *__restrict__ squares) {
    __shared__ int sums[BLOCK];
    const uchar *document = documents + blockIdx.x * words;
    int sum = 0;
    for (int word = threadIdx.x; word < words; word += BLOCK) {
        sum += document[word] * document[word];
    }
    sum = block_sum(sums, sum);
    if (threadIdx.x == 0) {
        squares[blockIdx.x] = sum;
    }
}

// One document of the block against `each` others. Words that a document does not have are skipped.
__global__ void __launch_bounds__(BLOCK, 6)
    similarity(const uchar *__restrict__ documents, const int *__restrict__ squares, int count, int words, int each,
               float *__restrict__ scores) {
    __shared__ int sums[BLOCK];
    const uchar *own = documents + blockIdx.x * words;
    const int first = blockIdx.y * each;
    for (int other = first; other < min(first + each, count); other++) {
        const uchar *its = documents + other * words;
        int sum = 0;
        for (int word = threadIdx.x; word < words; word += BLOCK) {
            int a = own[word];
            if (a != 0) {
                sum += a * its[word];
            }
        }
        sum = block_sum(sums, sum);
        if (threadIdx.x == 0) {
            float both = sqrtf((float)squares[blockIdx.x]) * sqrtf((float)squares[other]);
            scores[blockIdx.x * count + other] = (float)sum / both;
        }
    }
}
