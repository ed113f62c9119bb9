// rms-norm with the row in registers: one read, one write; the weights come from the caches.
//
// Grid: (rows / ROWS * CLUSTER, SIDES), block (THREADS, ROWS); a row's threads are part of a warp, a block or
// a cluster of blocks, by its length, or blocks walk. The row stays packed while it waits for the sum.
#include "rows.cuh"
#include "rms.cuh"

extern "C" __global__ void __launch_bounds__(THREADS *ROWS, BLOCKS)
    rms_norm_registers(const Word *__restrict__ x, const Word *__restrict__ w, Word *__restrict__ y,
                       const Word *__restrict__ x2, const Word *__restrict__ w2, Word *__restrict__ y2, i64 rows, i64 cols,
                       float epsilon) {
    if (SIDES == 2 && blockIdx.y == 1) {
        x = x2;
        w = w2;
        y = y2;
    }
    Shared<1> weights = {w};
    each_row<1>(x, 0, rows, cols, weights, [&](const Row &row, Pack(&held)[PACKS]) {
        float squares = 0.0f;
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) squares += value[i] * value[i];
        }
        keep_packed(held);
        float scale = 1.0f / sqrtf(row_sum<0>(squares) / (float)cols + epsilon);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK], weight[PER_PACK];
            unpack(held[p], value);
            unpack(load_shared(row, weights, 0, p), weight);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) value[i] = value[i] * scale * weight_of(weight[i]);
            store_pack(row, y, p, pack(value));
            // Where blocks walk, weights of all packs at once would find no registers.
            if (DEPTH > 0 && p % 2 == 1) __syncwarp();
        }
    });
}
