// C = A Bᵀ for at most eight rows of A: every byte of B is read once, by as many threads as the device holds.
//
// Grid: n / (8 TILES), WARPS warps a block. The lanes of a warp are eight rows of B times four packs of sixteen bytes along
// k, and each holds TILES times UNROLL of them in flight, each shifted out of two, for rows lie anywhere; the matrix unit
// multiplies them with A, or in f32, where ROWS rows of A are taken, each lane by itself. The warps of a block have parts of k
// in turns, and add up in their order.
#define ALIGNED 0
#include "thin.cuh"

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
        bool inner = begin >= PER_PACK && begin + CHUNK + PER_PACK <= k;
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
    leave(sum, found[warp]);
    __syncthreads();
    put_together(found, c, m, n, first, Scales{row_scales, column_scales});
}
