// layer-norm of rows that no cluster can hold: three walks, for mean, deviations and quotient.
//
// Grid: a block of THREADS a row. Later walks read from the far cache where the row fits.
#define PACKS 4
#define ROWS 1
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"
#include "finish.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    layer_norm_long(const Word *__restrict__ x, const Word *__restrict__ w, const Word *__restrict__ b,
                    Word *__restrict__ y, i64 rows, i64 cols, float epsilon) {
    Row row = this_row(x, rows, cols);
    float mean = 0.0f, scale = 0.0f, found = 0.0f;
#pragma unroll
    for (int walk = 0; walk < 3; walk++) {
        walk_row(row, x, 0, [&](const Row &part, Pack(&held)[PACKS]) {
#pragma unroll
            for (int p = 0; p < PACKS; p++) {
                float value[PER_PACK], weight[PER_PACK] = {}, bias[PER_PACK] = {};
                unpack(held[p], value);
                if (walk == 0) {
#pragma unroll
                    for (int i = 0; i < PER_PACK; i++) found += value[i];
                } else if (walk == 1) {
                    found += deviations(part, p, held[p], mean);
                } else {
                    if (AFFINE) {
                        unpack(load_weights(part, w, p), weight);
                        unpack(load_weights(part, b, p), bias);
                    }
#pragma unroll
                    for (int i = 0; i < PER_PACK; i++) value[i] = finish((value[i] - mean) * scale, weight[i], bias[i]);
                    store_pack(part, y, p, pack(value));
                }
            }
        });
        if (walk == 0) mean = row_sum<0>(found) / (float)cols;
        if (walk == 1) scale = 1.0f / sqrtf(row_sum<1>(found) / (float)cols + epsilon);
        found = 0.0f;
    }
}
