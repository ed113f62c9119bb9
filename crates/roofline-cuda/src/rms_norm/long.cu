// rms-norm of rows that no cluster can hold: the sum of squares in one walk, the product in a second.
//
// Grid: (a block of THREADS a row, SIDES). Two reads of a row, the second from the far cache where it fits.
#define PACKS 4
#define ROWS 1
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"
#include "rms.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    rms_norm_long(const Word *__restrict__ x, const Word *__restrict__ w, Word *__restrict__ y, const Word *__restrict__ x2,
                  const Word *__restrict__ w2, Word *__restrict__ y2, i64 rows, i64 cols, float epsilon) {
    if (SIDES == 2 && blockIdx.y == 1) {
        x = x2;
        w = w2;
        y = y2;
    }
    Row row = this_row(x, rows, cols);
    float squares = 0.0f;
    walk_row(row, x, 0, [&](const Row &part, Pack(&held)[PACKS]) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) squares += value[i] * value[i];
        }
    });
    float scale = 1.0f / sqrtf(row_sum<0>(squares) / (float)cols + epsilon);
    walk_row(row, x, 0, [&](const Row &part, Pack(&held)[PACKS]) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK], weight[PER_PACK];
            unpack(held[p], value);
            unpack(load_weights(part, w, p), weight);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) value[i] = value[i] * scale * weight_of(weight[i]);
            store_pack(part, y, p, pack(value));
        }
    });
}
