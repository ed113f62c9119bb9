// Codes and the scale of each group of TERM, a row or with GROUPED a part of one: THREADS threads a group, ROWS groups a
// block, two walks, the second of which finds the group in a cache.
//
// Grid: groups / ROWS, block (THREADS, ROWS). Groups are `shared` elements of a row long but for the last, `of_row` to a row.
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
    quantize_rows(const Word *__restrict__ a, const Word *__restrict__ b, unsigned char *__restrict__ q,
                  Scale *__restrict__ s, i64 rows, i64 cols, i64 shared, i64 of_row) {
    i64 group = (i64)blockIdx.x * ROWS + threadIdx.y;
    Row row = GROUPED ? group_at(a, group, rows, cols, shared, of_row) : row_at(a, group, rows, cols);
    float most = 0.0f;
    walk_row(row, a, 0, [&](const Row &part, Pack(&held)[PACKS]) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            values_of(part, a, b, p, held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) most = fmaxf(most, fabsf(value[i]));
        }
    });
    most = over_lanes<Largest, LANES>(most);
    if (WARPS > 1) {
        float mine[1] = {most}, neutral[1] = {0.0f}, all[CLUSTER][1];
        exchange<0>(mine, neutral, all);
        most = over_lanes<Largest, SEATS>(all[0][0]);
    }
    Scale scale = scale_of(most);
    float divisor = divisor_of(scale);
    walk_row(row, a, 0, [&](const Row &part, Pack(&held)[PACKS]) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            values_of(part, a, b, p, held[p], value);
            unsigned char code[PER_PACK];
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) code[i] = code_of(value[i], divisor);
            int first = begin_of(part, p);
            if (first < row.cols) store_codes(q + row.before + first, code, is_whole(part, first), -first, row.cols - first);
        }
    });
    if (row.live && threadIdx.x == 0) s[group] = scale;
}
