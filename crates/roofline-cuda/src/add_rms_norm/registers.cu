// h = x + r, y = rms-norm(h) * w with the row of sums in registers, as they are written: two reads, two writes.
//
// Grid: rows / ROWS * CLUSTER, block (THREADS, ROWS); a row's threads are part of a warp, a block or a cluster of blocks, by
// its length.
#include "rows.cuh"

extern "C" __global__ void __launch_bounds__(THREADS *ROWS, BLOCKS)
    add_rms_norm_registers(const Word *__restrict__ x, const Word *__restrict__ r, const Word *__restrict__ w,
                           Word *__restrict__ h, Word *__restrict__ y, i64 rows, i64 cols, float epsilon) {
    Row row = this_row(x, rows, cols);
    Pack held[PACKS];
    load_row(row, x, 0, held);
    float squares = 0.0f;
    Pack other[PACKS];
#pragma unroll
    for (int p = 0; p < PACKS; p++) other[p] = row.live ? load_weights(row, r + row.before, p) : Pack{};
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        float value[PER_PACK], residual[PER_PACK];
        unpack(held[p], value);
        unpack(other[p], residual);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) value[i] += residual[i];
        held[p] = pack(value);
        store_pack(row, h, p, held[p]);
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
        unpack(load_weights(row, w, p), weight);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) value[i] = value[i] * scale * weight[i];
        store_pack(row, y, p, pack(value));
    }
    leave();
}
