// Softmax with the row in registers: one read, one write, one exponential an element.
//
// Grid: rows / ROWS * CLUSTER, block (THREADS, ROWS); a row's threads are part of a warp, a block or
// a cluster of blocks, by its length. Each thread takes the exponentials against its own largest
// element, so that largest and sum are united in one exchange; what its elements must still be
// multiplied by is one factor a thread.
#include "rows.cuh"
#include "exp.cuh"

extern "C" __global__ void __launch_bounds__(THREADS *ROWS)
    softmax_registers(const Word *__restrict__ x, Word *__restrict__ y, i64 rows, i64 cols) {
    Row row = this_row(x, rows, cols);
    Pack held[PACKS];
    load_row(row, x, MINUS_INFINITY, held);

    Softmax mine;
    float value[PACKS][PER_PACK];
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        unpack(held[p], value[p]);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) mine.value[0] = fmaxf(mine.value[0], value[p][i]);
    }
    float base = mine.base();
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            value[p][i] = exp_of(value[p][i] - base);
            mine.value[1] += value[p][i];
        }
    }

    Softmax all = unite(mine);
    float scale = exp_of(base - all.base()) / all.sum();
    // A thread without a finite element has base 0, above the largest of all: its exponentials are 0.
    if (base > all.base()) scale = 0.0f / all.sum();
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) value[p][i] *= scale;
        store_pack(row, y, p, pack(value[p]));
    }
}
