// C = A Bᵀ for at most eight rows of A: every byte of B is read once, by as many threads as the device holds.
//
// The lanes of a warp are eight rows of B times four packs of sixteen bytes along k, and each has TILES times UNROLL of them in
// a stage. The matrix unit multiplies them with A, which comes from a near cache, or in f32, where ROWS rows of A are taken,
// each lane by itself. The warps of a block have parts of k in turns, and add up in their order.
//
// ALIGNED: all rows begin at multiples of sixteen bytes. Then B is on its way to shared memory long before it is multiplied,
// DEPTH stages of it, across the borders of what a block computes. Grid: as many blocks as find room beside each other, or
// fewer; each takes every so many-th 8 TILES columns of C. Otherwise a stage is in flight to registers, each pack shifted out of
// two. Grid: n / (8 TILES).
#include "async.cuh"
#include "thin.cuh"

#if ALIGNED
#define THREADS (32 * WARPS)
#define STAGE (TILES * UNROLL)

// The parts of B that a warp fetches, in the order in which it multiplies them.
struct Course {
    const Word *weights[TILES];
    i64 tile;
    int at;
};

__device__ __forceinline__ void begin_tile(Course &course, const Word *b, i64 n, int k, int first) {
#pragma unroll
    for (int j = 0; j < TILES; j++) {
        course.weights[j] = row_of(b, course.tile * COLUMNS + 8 * j + threadIdx.x % 32 / 4, n, k);
    }
    course.at = first;
}

extern __shared__ Pack room[];

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    thin_product(const Word *__restrict__ a, const Word *__restrict__ b, const float *row_scales, const float *column_scales,
              Out *__restrict__ c, i64 m, i64 n, i64 length) {
    // Two, by turns: what is found of one tile is added up while the next is multiplied.
    __shared__ Sum found[2][WARPS][TILES][8][8];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 4, k = (int)length;
    int first = warp * CHUNK + lane * PER_PACK;
    i64 tiles = (n + COLUMNS - 1) / COLUMNS;
    Pack *own = room + threadIdx.x;
    Course course;
    course.tile = warp * CHUNK < k ? blockIdx.x : tiles;
    begin_tile(course, b, n, k, first);
    auto fetch_stage = [&](int stage) {
        if (course.tile < tiles) {
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
                int at = course.at + u * STEP;
#pragma unroll
                for (int j = 0; j < TILES; j++) {
                    fetch(own + ((stage * UNROLL + u) * TILES + j) * THREADS, course.weights[j] + (at < k ? at : 0), at < k);
                }
            }
            course.at += WARPS * CHUNK;
            if (course.at - lane * PER_PACK >= k) {
                course.tile += gridDim.x;
                begin_tile(course, b, n, k, first);
            }
        }
        end_stage();
    };
#pragma unroll
    for (int stage = 0; stage < DEPTH; stage++) fetch_stage(stage);
#if !defined(ELEMENT_F32)
    const Word *row = row_of(a, threadIdx.x % 32 / 4, m, k);
#endif
    int stage = 0, side = 0;
    for (i64 tile = blockIdx.x; tile < tiles; tile += gridDim.x, side ^= 1) {
        Sum sum[TILES][SUMS] = {};
        for (int at = first; at - lane * PER_PACK < k; at += WARPS * CHUNK) {
#if !defined(ELEMENT_F32)
            Pack x[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; u++) x[u] = load_part(row, at + u * STEP, k, true);
#endif
            wait_for_stages<DEPTH - 1>();
            const Pack *from = own + stage * (STAGE * THREADS);
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
                Pack held[TILES];
#pragma unroll
                for (int j = 0; j < TILES; j++) held[j] = from[(u * TILES + j) * THREADS];
#if defined(ELEMENT_F32)
                take(sum, a, (int)m, held, at + u * STEP, k, true);
#else
#pragma unroll
                for (int j = 0; j < TILES; j++) multiply_packs(sum[j], x[u], held[j]);
#endif
            }
            fetch_stage(stage);
            stage = stage == DEPTH - 1 ? 0 : stage + 1;
        }
        leave(sum, found[side][warp]);
        __syncthreads();
        put_together(found[side], c, m, n, tile * COLUMNS, Scales{row_scales, column_scales});
    }
}
#else
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
#endif
