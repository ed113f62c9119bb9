// Reads up to four inputs once and writes one output once, and computes next to nothing: what memory gives to a kernel
// with these tensors.
//
// Grid: any; threads walk in strides of it, PACKS times sixteen bytes of every tensor in flight. All lie at multiples of
// sixteen bytes and are whole packs. What is read goes into what is written; beyond the output, into a word that
// is written only if it has a value which it never has.
#define ELEMENT_F32
#include "element.cuh"

__device__ __forceinline__ void add(Pack &sum, const Pack &more) {
#pragma unroll
    for (int i = 0; i < 4; i++) sum.word[i] ^= more.word[i];
}

extern "C" __global__ void __launch_bounds__(THREADS)
    probe_traffic(const Pack *__restrict__ a, i64 of_a, const Pack *__restrict__ b, i64 of_b,
                  const Pack *__restrict__ c, i64 of_c, const Pack *__restrict__ d, i64 of_d, Pack *__restrict__ y,
                  i64 of_y, i64 longest, i64 tail) {
    u32 left = 0;
    i64 stride = (i64)gridDim.x * (THREADS * PACKS);
    for (i64 tile = (i64)blockIdx.x * (THREADS * PACKS) + threadIdx.x; tile < longest; tile += stride) {
        Pack sum[PACKS] = {};
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            i64 i = tile + p * THREADS;
            if (i < of_a) add(sum[p], load_pack(a + i));
            if (i < of_b) add(sum[p], load_pack(b + i));
            if (i < of_c) add(sum[p], load_pack(c + i));
            if (i < of_d) add(sum[p], load_pack(d + i));
        }
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            i64 i = tile + p * THREADS;
            if (i < of_y) store_whole(y + i, sum[p]);
            else left |= sum[p].word[0] & sum[p].word[1] & sum[p].word[2] & sum[p].word[3];
        }
    }
    // What is left of the output is less than a pack.
    if (blockIdx.x == 0 && threadIdx.x < tail) ((unsigned char *)(y + of_y))[threadIdx.x] = 0;
    // Inputs of noise have no pack of ones alone but by a chance of 2 to the minus 128.
    if (left == 0xffffffffu && of_y > 0) y[0].word[0] = left;
}
