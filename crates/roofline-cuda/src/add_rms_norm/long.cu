// h = x + r, y = rms-norm(h) * w of rows that no cluster can hold: a block a row, two walks.
//
// Grid: a block of THREADS a row. The second walk adds again what the first one added, from the far cache where it fits.
#define PACKS 4
#define ROWS 1
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"

// PACKS packs become sums with those of r, as they are written; 0 outside the row.
__device__ __forceinline__ void add_residual(const Row &part, const Word *r, Pack (&held)[PACKS]) {
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        float value[PER_PACK], residual[PER_PACK];
        unpack(held[p], value);
        unpack(load_weights(part, r + part.before, p), residual);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) value[i] += residual[i];
        held[p] = pack(value);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    add_rms_norm_long(const Word *__restrict__ x, const Word *__restrict__ r, const Word *__restrict__ w,
                      Word *__restrict__ h, Word *__restrict__ y, i64 rows, i64 cols, float epsilon) {
    Row row = this_row(x, rows, cols);
    float squares = 0.0f;
    walk_row(row, x, 0, [&](const Row &part, Pack(&held)[PACKS]) {
        add_residual(part, r, held);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) squares += value[i] * value[i];
            store_pack(part, h, p, held[p]);
        }
    });
    float scale = 1.0f / sqrtf(row_sum<0>(squares) / (float)cols + epsilon);
    walk_row(row, x, 0, [&](const Row &part, Pack(&held)[PACKS]) {
        add_residual(part, r, held);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK], weight[PER_PACK];
            unpack(held[p], value);
            unpack(load_weights(part, w, p), weight);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) value[i] = value[i] * scale * weight[i];
            store_pack(part, y, p, pack(value));
        }
    });
}
