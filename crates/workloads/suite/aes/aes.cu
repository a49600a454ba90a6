// AES with keys of 128 bits, each block of text for itself: a thread has one column of a block's state.
#include "raddle.cuh"

#define THREADS 256
#define ROUNDS 10

// The key schedule, a word for each column; the first row is the lowest byte.
__constant__ uint round_keys[4 * (ROUNDS + 1)];

static __device__ __forceinline__ uint rotate_left(uint word, int bits) {
    return word << bits | word >> (32 - bits);
}

// `table` has a column of MixColumns for every byte after SubBytes; those of the other rows are rotated.
// An SM holds 2 blocks: Table 1 of the TBC paper.
__global__ void __launch_bounds__(THREADS, 2)
    aes_encrypt(const uint *__restrict__ table, const uint *__restrict__ text, uint *__restrict__ cipher, int words) {
    __shared__ uint table0[256], table1[256], table2[256], table3[256];
    __shared__ uint state[2][THREADS];
    const int thread = threadIdx.x;
    const int at = blockIdx.x * THREADS + thread;

    uint entry = table[thread];
    table0[thread] = entry;
    table1[thread] = rotate_left(entry, 8);
    table2[thread] = rotate_left(entry, 16);
    table3[thread] = rotate_left(entry, 24);

    // ShiftRows takes row r from the column r places to the right.
    const int column = thread & 3;
    const int first = thread - column;
    const int from1 = first + ((column + 1) & 3);
    const int from2 = first + ((column + 2) & 3);
    const int from3 = first + ((column + 3) & 3);

    // Threads after the end of the text only keep the others company.
    uint own = (at < words ? text[at] : 0) ^ round_keys[column];
    int now = 0;
    state[now][thread] = own;
    __syncthreads();
    for (int round = 1; round < ROUNDS; round++) {
        uint next = table0[own & 0xff];
        next ^= table1[state[now][from1] >> 8 & 0xff];
        next ^= table2[state[now][from2] >> 16 & 0xff];
        next ^= table3[state[now][from3] >> 24];
        own = next ^ round_keys[4 * round + column];
        now ^= 1;
        state[now][thread] = own;
        __syncthreads();
    }

    // The last round has no MixColumns: these bytes of the tables are those of SubBytes alone.
    uint last = table0[own & 0xff] >> 8 & 0xff;
    last |= table0[state[now][from1] >> 8 & 0xff] & 0xff00;
    last |= table0[state[now][from2] >> 16 & 0xff] & 0xff0000;
    last |= table1[state[now][from3] >> 24] & 0xff000000;
    if (at < words) {
        cipher[at] = last ^ round_keys[4 * ROUNDS + column];
    }
}
