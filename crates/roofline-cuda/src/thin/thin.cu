// C = A Bᵀ for at most eight rows of A: every byte of B is read once, by as many threads as the device holds.
//
// Grid: n / (8 TILES), WARPS warps a block. The lanes of a warp are eight rows of B times four packs of sixteen bytes along
// k, and each holds TILES times UNROLL of them in flight; the matrix unit multiplies them with A, or in f32, where ROWS rows
// of A are taken, each lane by itself. The warps of a block have parts of k in turns, and add up in their order.
#include "thin.cuh"

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
    }
}
#endif

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    thin_product(const Word *__restrict__ a, const Word *__restrict__ b, const float *row_scales,
                 const float *column_scales, Out *__restrict__ c, i64 m, i64 n, i64 length) {
    __shared__ Sum found[WARPS][TILES][8][8];
    int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, lane = threadIdx.x % 4, k = (int)length;
    i64 first = (i64)blockIdx.x * COLUMNS;
    const Word *weights[TILES];
#pragma unroll
    for (int j = 0; j < TILES; j++) weights[j] = row_of(b, first + 8 * j + group, n, k);
#if !defined(ELEMENT_F32)
    const Word *row = row_of(a, group, m, k);
#endif
    Sum sum[TILES][SUMS] = {};
    for (int begin = warp * CHUNK; begin < k; begin += WARPS * CHUNK) {
        int own = begin + lane * PER_PACK;
        // At the ends of a row few are in flight, and the instructions for odd elements are there once.
        bool inner = ALIGNED || (begin >= PER_PACK && begin + CHUNK + PER_PACK <= k);
        if (!inner) {
#pragma unroll 1
            for (int at = own; at < own + CHUNK; at += STEP) {
                Pack held[TILES];
#pragma unroll
                for (int j = 0; j < TILES; j++) held[j] = load_part(weights[j], at, k, false);
#if defined(ELEMENT_F32)
                take(sum, a, (int)m, held, at, k, false);
#else
                Pack x = load_part(row, at, k, false);
#pragma unroll
                for (int j = 0; j < TILES; j++) multiply_packs(sum[j], x, held[j]);
#endif
            }
            continue;
        }
        Pack held[UNROLL][TILES];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
#pragma unroll
            for (int j = 0; j < TILES; j++) held[u][j] = load_part(weights[j], own + u * STEP, k, true);
        }
#if defined(ELEMENT_F32)
#pragma unroll
        for (int u = 0; u < UNROLL; u++) take(sum, a, (int)m, held[u], own + u * STEP, k, true);
#else
        Pack x[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) x[u] = load_part(row, own + u * STEP, k, true);
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
#pragma unroll
            for (int j = 0; j < TILES; j++) multiply_packs(sum[j], x[u], held[u][j]);
        }
#endif
    }
#pragma unroll
    for (int j = 0; j < TILES; j++) {
#pragma unroll
        for (int i = 0; i < SUMS; i++) {
#if defined(ELEMENT_F32)
            float value = sum[j][i];
            value += __shfl_xor_sync(0xffffffffu, value, 1);
            value += __shfl_xor_sync(0xffffffffu, value, 2);
            if (lane == 0) found[warp][j][i][group] = value;
#else
            found[warp][j][group][2 * lane + i] = sum[j][i];
#endif
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (int)m * COLUMNS; i += 32 * WARPS) {
        int of_row = i / COLUMNS, of_column = i % COLUMNS;
        if (first + of_column >= n) continue;
        Sum all = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) all += found[w][of_column / 8][of_row][of_column % 8];
        c[of_row * n + first + of_column] = result_of(all, Scales{row_scales, column_scales}, of_row, first + of_column);
    }
}
