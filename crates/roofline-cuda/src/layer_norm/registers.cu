// layer-norm with the row in registers: one read, one write; weights and bias come from the caches.
//
// Grid: rows / ROWS * CLUSTER, block (THREADS, ROWS). Each thread finds mean and squared deviations
// of its own elements; they are united in one exchange.
#include "moments.cuh"

extern "C" __global__ void __launch_bounds__(THREADS *ROWS)
    layer_norm_registers(const Word *__restrict__ x, const Word *__restrict__ w, const Word *__restrict__ b,
                         Word *__restrict__ y, i64 rows, i64 cols, float epsilon) {
    Row row = this_row(x, rows, cols);
    Pack held[PACKS];
    load_row(row, x, 0, held);
    Moments all = unite(moments_of(row, held));
    float mean = all.value[1], scale = 1.0f / sqrtf(all.value[2] / (float)cols + epsilon);
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        float value[PER_PACK], weight[PER_PACK], bias[PER_PACK];
        unpack(held[p], value);
        unpack(load_weights(row, w, p), weight);
        unpack(load_weights(row, b, p), bias);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) value[i] = (value[i] - mean) * scale * weight[i] + bias[i];
        store_pack(row, y, p, pack(value));
    }
}
