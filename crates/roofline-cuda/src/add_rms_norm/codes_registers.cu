// h = x + r, and rms-norm(h) * w as codes with a scale of each row, which stays in registers in f32: two reads and one write
// of a row, and its codes.
//
// Grid: rows / ROWS * CLUSTER, block (THREADS, ROWS); a row's threads are part of a warp, a block or a cluster of blocks, by
// its length.
#include "norm_codes.cuh"

// Sums in f32 and their codes take more registers than the plan counts on: two blocks find room where it has three.
#define ROOM ((2 * BLOCKS + 2) / 3)

extern "C" __global__ void __launch_bounds__(THREADS *ROWS, ROOM)
    add_rms_norm_codes_registers(const Word *__restrict__ x, const Word *__restrict__ r, const Word *__restrict__ w,
                                 Word *__restrict__ h, unsigned char *__restrict__ q, float *__restrict__ s, i64 rows,
                                 i64 cols, float epsilon) {
    Row row = this_row(x, rows, cols);
    Pack held[PACKS];
    load_row(row, x, 0, held);
    float value[PACKS][PER_PACK], squares = 0.0f, most = 0.0f;
#pragma unroll
    for (int p = 0; p < PACKS; p++) sums_of(row, held[p], r, p, value[p]);
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        store_pack(row, h, p, pack(value[p]));
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) squares += value[p][i] * value[p][i];
    }
    float scale = 1.0f / sqrtf(row_sum<0>(squares) / (float)cols + epsilon);
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        float weight[PER_PACK];
        unpack(load_weights(row, w, p), weight);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            value[p][i] = value[p][i] * scale * weight[i];
            most = fmaxf(most, fabsf(value[p][i]));
        }
    }
    scale = scale_of(row_most<1>(most));
#pragma unroll
    for (int p = 0; p < PACKS; p++) store_row_codes(row, q, p, value[p], scale);
    if (row.live && row.thread == 0) s[(i64)(blockIdx.x / CLUSTER) * ROWS + threadIdx.y] = scale;
    leave();
}
