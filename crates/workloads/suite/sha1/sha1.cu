// SHA-1 of overlapping stretches of data, as a store needs them that keeps every stretch once.
#include "raddle.cuh"

#define BLOCK 128
// A word more than a chunk has, so that threads use different banks.
#define PITCH 17

static __device__ __forceinline__ uint rotate(uint v, int by) { return v << by | v >> (32 - by); }

static __device__ __forceinline__ uint big_endian(uint v) {
    return v << 24 | (v & 0xff00) << 8 | (v >> 8 & 0xff00) | v >> 24;
}

// Sixteen words into the digest; they change.
static __device__ __forceinline__ void compress(uint *words, uint *digest) {
    uint a = digest[0], b = digest[1], c = digest[2], d = digest[3], e = digest[4];
#pragma unroll
    for (int i = 0; i < 80; i++) {
        uint word;
        if (i < 16) {
            word = words[i];
        } else {
            word = rotate(words[(i - 3) & 15] ^ words[(i - 8) & 15] ^ words[(i - 14) & 15] ^ words[i & 15], 1);
            words[i & 15] = word;
        }
        uint mixed, constant;
        if (i < 20) {
            mixed = (b & c) | (~b & d);
            constant = 0x5a827999u;
        } else if (i < 40) {
            mixed = b ^ c ^ d;
            constant = 0x6ed9eba1u;
        } else if (i < 60) {
            mixed = (b & c) | (b & d) | (c & d);
            constant = 0x8f1bbcdcu;
        } else {
            mixed = b ^ c ^ d;
            constant = 0xca62c1d6u;
        }
        uint next = rotate(a, 5) + mixed + e + constant + word;
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    digest[0] += a;
    digest[1] += b;
    digest[2] += c;
    digest[3] += d;
    digest[4] += e;
}

// A thread has a stretch of `chunks` times 64 bytes; the next stretch begins `step` words later.
__global__ void __launch_bounds__(BLOCK)
    sha1_overlap(const uint *__restrict__ data, int step, int chunks, int count, uint *__restrict__ digests) {
    __shared__ uint shared[BLOCK * PITCH];
    const int stretch = blockIdx.x * BLOCK + threadIdx.x;
    if (stretch >= count) {
        return;
    }
    uint *words = shared + threadIdx.x * PITCH;
    uint digest[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    const uint *from = data + stretch * step;
    for (int chunk = 0; chunk <= chunks; chunk++) {
        if (chunk < chunks) {
            for (int i = 0; i < 16; i++) {
                words[i] = big_endian(from[chunk * 16 + i]);
            }
        } else {
            // The end: a one, zeros and the number of bits.
            words[0] = 0x80000000u;
            for (int i = 1; i < 15; i++) {
                words[i] = 0;
            }
            words[15] = chunks * 512;
        }
        compress(words, digest);
    }
    for (int i = 0; i < 5; i++) {
        digests[stretch * 5 + i] = digest[i];
    }
}
