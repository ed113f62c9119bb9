// What thin products of all types share: sums of products, and what becomes of a sum.
//
// With SCALED codes have scales, a tensor's or with ROW_SCALES and COLUMN_SCALES one for each row of A and of B.
#pragma once
#include "matrix.cuh"

#if !defined(ELEMENT_I8)
typedef Word Out;
#elif !SCALED
typedef int Out;
#elif OUT_BF16
typedef unsigned short Out;
#else
typedef float Out;
#endif

// Where a product is, and the scales that it may have.
struct Scales {
    const float *rows, *columns;
};

__device__ __forceinline__ Out result_of(Sum sum, Scales scales, i64 row, i64 column) {
#if !defined(ELEMENT_I8)
    return from_float(sum);
#elif !SCALED
    return sum;
#else
    float scaled = __int2float_rn(sum) * scales.rows[ROW_SCALES ? row : 0] * scales.columns[COLUMN_SCALES ? column : 0];
#if OUT_BF16
    Out bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(scaled));
    return bits;
#else
    return scaled;
#endif
#endif
}

#if defined(WARPS)
#define STEP (4 * PER_PACK)
#define CHUNK (UNROLL * STEP)
#define COLUMNS (8 * TILES)

// What a warp's lanes add up, for each eight rows of B: in f32 of the lane's row of B with each of A, at the lane's places.
#if defined(ELEMENT_F32)
#define SUMS ROWS
#else
#define SUMS 2
#endif

// Elements `at` and up of a row of `k`, with zeros behind it. `inner`: whether there is a pack of it before and behind.
__device__ __forceinline__ Pack load_part(const Word *row, int at, int k, bool inner) {
#if ALIGNED
    return at < k ? load_pack(row + at) : Pack{};
#else
    if (inner) return load_across(row + at);
    Pack held = {};
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) {
        if (at + i < k) put_word(held, i, row[at + i]);
    }
    return held;
#endif
}

// Rows beyond the last are the last one once more: what comes of them goes nowhere.
__device__ __forceinline__ const Word *row_of(const Word *tensor, i64 row, i64 rows, i64 k) {
    return tensor + (row < rows ? row : rows - 1) * k;
}

#if defined(ELEMENT_F32)
__device__ __forceinline__ void take(Sum (&sum)[TILES][SUMS], const Word *a, int m, const Pack (&held)[TILES], int at, int k,
                                     bool inner) {
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        float x[PER_PACK], w[PER_PACK];
        unpack(load_part(row_of(a, r, m, k), at, k, inner), x);
#pragma unroll
        for (int j = 0; j < TILES; j++) {
            unpack(held[j], w);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) sum[j][r] = __fmaf_rn(x[i], w[i], sum[j][r]);
        }
        // Half of A is fetched ahead and no more: there are no registers for it.
        if (ALIGNED && ROWS == 8 && r % 4 == 3) __syncwarp();
    }
}
#endif

// What a warp found, for rows of A and columns of C.
__device__ __forceinline__ void leave(const Sum (&sum)[TILES][SUMS], Sum (&found)[TILES][8][8]) {
    int group = threadIdx.x % 32 / 4, lane = threadIdx.x % 4;
#pragma unroll
    for (int j = 0; j < TILES; j++) {
#pragma unroll
        for (int i = 0; i < SUMS; i++) {
#if defined(ELEMENT_F32)
            float value = sum[j][i];
            value += __shfl_xor_sync(0xffffffffu, value, 1);
            value += __shfl_xor_sync(0xffffffffu, value, 2);
            if (lane == 0) found[j][i][group] = value;
#else
            found[j][group][2 * lane + i] = sum[j][i];
#endif
        }
    }
}

// The columns of C from `first` on, of what the warps of a block found, added up in their order.
__device__ __forceinline__ void put_together(const Sum (&found)[WARPS][TILES][8][8], Out *c, i64 m, i64 n, i64 first,
                                             Scales scales) {
    for (int i = threadIdx.x; i < (int)m * COLUMNS; i += 32 * WARPS) {
        int row = i / COLUMNS, column = i % COLUMNS;
        if (first + column >= n) continue;
        Sum all = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) all += found[w][column / 8][row][column % 8];
        c[row * n + first + column] = result_of(all, scales, row, first + column);
    }
}
#endif
