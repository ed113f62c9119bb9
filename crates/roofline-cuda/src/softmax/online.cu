// Softmax of rows that no cluster can hold, or with LOG its logarithm: largest and sum in one walk, the result in a second. With
// MASKED a row that is all minus infinity is 0 throughout.
//
// Grid: a block of THREADS a row. Two reads of a row, the second from the far cache where it fits.
#define PACKS 4
#define ROWS 1
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"
#include "exp.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    softmax_online(const Word *__restrict__ x, Word *__restrict__ y, i64 rows, i64 cols) {
    const float minus_infinity = __uint_as_float(0xff800000u);
    Row row = this_row(x, rows, cols);
    float largest = minus_infinity, sum = 0.0f;
    walk_row(row, x, MINUS_INFINITY, [&](const Row &part, Pack(&held)[PACKS]) {
        float value[PACKS][PER_PACK], before = largest;
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            unpack(held[p], value[p]);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) largest = fmaxf(largest, value[p][i]);
        }
        // What was added up against an earlier largest element weighs less against a later one.
        float base = base_of(largest);
        sum *= before == largest ? 1.0f : exp_of(before - base);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) sum += exp_term(value[p][i] - base);
        }
    });
    float of_warp = over_lanes<Largest, LANES>(largest);
    sum = over_lanes<Add, LANES>(sum * exp_of(largest - base_of(of_warp)));
    float mine[2] = {of_warp, sum}, neutral[2] = {minus_infinity, 0.0f}, all[CLUSTER][2];
    exchange<0>(mine, neutral, all);
    float base = base_of(over_lanes<Largest, SEATS>(all[0][0]));
    sum = over_lanes<Add, SEATS>(all[0][1] * exp_of(all[0][0] - base));
    float scale = MASKED && sum == 0.0f ? 0.0f : 1.0f / sum, logarithm = logf(sum);
    walk_row(row, x, MINUS_INFINITY, [&](const Row &part, Pack(&held)[PACKS]) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) {
                value[i] = LOG ? value[i] - base - logarithm : exp_scaled(value[i] - base, scale);
            }
            store_pack(part, y, p, pack(value));
        }
    });
}
