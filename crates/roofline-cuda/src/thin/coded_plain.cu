// Y = X Wᵀ with weights in codes, as the mathematics says it: one element of Y a thread.
//
// Grid: m n / 128. Neighbours in a warp are a row of W apart, so that each sixteen bytes fetched serve one thread alone.
#define ALIGNED 0
#define ALIGNED_X 0
#include "coded.cuh"

__device__ __forceinline__ float weight_at(const Weights &w, i64 row, i64 i) {
#if BITS
    i64 part = row * parts_of(w) + i / BLOCK;
    const unsigned char *codes = block_codes(w, part);
    int element = (int)(i % BLOCK);
    int code = BITS == 8 ? (signed char)codes[element] : (codes[element % 16] >> (element / 16 * 4) & 15) - 8;
    return (float)code * block_scale(w, part);
#else
    i64 part = row * parts_of(w) + i / w.shared;
    int code = w.codes[row * ((w.k + 1) / 2) + i / 2] >> (i % 2 * 4) & 15;
    return (float)(code - w.zeros[part]) * to_float(w.scales[part]);
#endif
}

extern "C" __global__ void thin_coded_plain(const Word *__restrict__ x, const unsigned char *__restrict__ codes,
                                            const unsigned short *__restrict__ scales,
                                            const unsigned char *__restrict__ zeros, Word *__restrict__ y, i64 m, i64 n,
                                            i64 k, i64 shared) {
    i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= m * n) return;
    Weights w = {codes, scales, zeros, n, k, shared};
    i64 row = at / n, column = at % n;
    float sum = 0.0f;
    for (i64 i = 0; i < k; i++) sum = __fmaf_rn(to_float(x[row * k + i]), weight_at(w, column, i), sum);
    y[at] = from_float(sum);
}
