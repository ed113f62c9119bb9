// layer-norm with the row in registers: one read, one write; weights and bias come from the caches.
//
// Grid: rows / ROWS * CLUSTER, block (THREADS, ROWS), or blocks that walk. The mean first, then the squared deviations from
// it: squares of the elements themselves are never added up, whose difference to the squared mean
// would lose every digit.
#include "rows.cuh"
#include "finish.cuh"

extern "C" __global__ void __launch_bounds__(THREADS *ROWS, BLOCKS)
    layer_norm_registers(const Word *__restrict__ x, const Word *__restrict__ w, const Word *__restrict__ b,
                         Word *__restrict__ y, i64 rows, i64 cols, float epsilon) {
    Shared<2> affine = {w, b};
    each_row<2 * AFFINE>(x, 0, rows, cols, affine, [&](const Row &row, Pack(&held)[PACKS]) {
        float sum = 0.0f, squares = 0.0f;
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) sum += value[i];
        }
        keep_packed(held);
        float mean = row_sum<0>(sum) / (float)cols;
#pragma unroll
        for (int p = 0; p < PACKS; p++) squares += deviations(row, p, held[p], mean);
        keep_packed(held);
        float scale = 1.0f / sqrtf(row_sum<1>(squares) / (float)cols + epsilon);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK], weight[PER_PACK] = {}, bias[PER_PACK] = {};
            unpack(held[p], value);
            if (AFFINE) {
                unpack(load_shared(row, affine, 0, p), weight);
                unpack(load_shared(row, affine, 1, p), bias);
            }
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) value[i] = finish((value[i] - mean) * scale, weight[i], bias[i]);
            store_pack(row, y, p, pack(value));
            // Weights are fetched two packs ahead and no further: there are no registers for more.
            if (p % 2 == 1) __syncwarp();
        }
    });
}
