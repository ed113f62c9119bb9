// The codes of add-rms-norm-quantize, in i8 or with DIGITS in fp8, and sums of which nothing is rounded.
#pragma once
#include "rows.cuh"

#define OVER (DIGITS ? 448.0f : 127.0f)
#define LEAST -127.0f
#define AWAY 0
#define POWERS 0
#include "codes.cuh"

// The sums of pack `p`, of which x is `held`; 0 outside the row.
__device__ __forceinline__ void sums_of(const Row &part, const Pack &held, const Word *r, int p, float (&sum)[PER_PACK]) {
    float residual[PER_PACK];
    unpack(held, sum);
    unpack(part.live ? load_weights(part, r + part.before, p) : Pack{}, residual);
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) sum[i] += residual[i];
}

// The largest magnitude of a row. Each use in a kernel needs an `ID` of its own.
template <int ID>
__device__ __forceinline__ float row_most(float most) {
    most = over_lanes<Largest, LANES>(most);
    if (!APART) return most;
    float mine[1] = {most}, neutral[1] = {0.0f}, all[CLUSTER][1];
    exchange<ID>(mine, neutral, all);
    most = 0.0f;
#pragma unroll
    for (int block = 0; block < CLUSTER; block++) most = fmaxf(most, all[block][0]);
    return over_lanes<Largest, SEATS>(most);
}

__device__ __forceinline__ void store_row_codes(const Row &part, unsigned char *q, int p, const float (&value)[PER_PACK],
                                                float scale) {
    int first = begin_of(part, p);
    if (!part.live || first >= part.cols) return;
    unsigned char code[PER_PACK];
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) code[i] = code_of(value[i], scale);
    store_codes(q + part.before + first, code, is_whole(part, first), -first, part.cols - first);
}
