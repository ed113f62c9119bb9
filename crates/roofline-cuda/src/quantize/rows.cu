// Codes and the scale of each row of TERM: THREADS threads a row, ROWS rows a block, two walks, the second of which finds
// the row in a cache.
//
// Grid: rows / ROWS, block (THREADS, ROWS).
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"
#include "math.cuh"
#include "codes.cuh"

// TERM of pack `p`, 0 outside the row.
__device__ __forceinline__ void values_of(const Row &part, const Word *a, const Word *b, int p, const Pack &held,
                                          float (&value)[PER_PACK]) {
    float xs[PER_PACK];
    unpack(held, xs);
#if INPUTS == 2
    float ys[PER_PACK];
    unpack(load_weights(part, b + part.before, p), ys);
#endif
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) {
        float x = xs[i];
#if INPUTS == 2
        float y = ys[i];
#endif
        value[i] = is_inside(part, begin_of(part, p) + i) ? TERM : 0.0f;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS *ROWS)
    quantize_rows(const Word *__restrict__ a, const Word *__restrict__ b, signed char *__restrict__ q,
                  float *__restrict__ s, i64 rows, i64 cols) {
    Row row = this_row(a, rows, cols);
    int last = row.live ? row.cols + row.phase : 0;
    float most = 0.0f;
    for (int begin = 0; begin < last; begin += THREADS * PACKS * PER_PACK) {
        Row part = row;
        part.thread = row.thread + begin / PER_PACK;
        Pack held[PACKS];
        load_row(part, a, 0, held);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            values_of(part, a, b, p, held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) most = fmaxf(most, fabsf(value[i]));
        }
    }
    most = over_lanes<Largest, LANES>(most);
    if (WARPS > 1) {
        float mine[1] = {most}, neutral[1] = {0.0f}, all[CLUSTER][1];
        exchange<0>(mine, neutral, all);
        most = over_lanes<Largest, SEATS>(all[0][0]);
    }
    float scale = scale_of(most);
    for (int begin = 0; begin < last; begin += THREADS * PACKS * PER_PACK) {
        Row part = row;
        part.thread = row.thread + begin / PER_PACK;
        Pack held[PACKS];
        load_row(part, a, 0, held);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            values_of(part, a, b, p, held[p], value);
            signed char code[PER_PACK];
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) code[i] = code_of(value[i], scale);
            int first = begin_of(part, p);
            if (first < row.cols) store_codes(q + row.before + first, code, is_whole(part, first), -first, row.cols - first);
        }
    }
    if (row.live && threadIdx.x == 0) s[(i64)blockIdx.x * ROWS + threadIdx.y] = scale;
}
