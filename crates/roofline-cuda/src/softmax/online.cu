// Softmax of rows that no cluster can hold: largest and sum in one walk, the quotient in a second.
//
// Grid: a block of THREADS a row. Two reads of a row, the second from the far cache where it fits.
#define PACKS 4
#define ROWS 1
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"
#include "exp.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    softmax_online(const Word *__restrict__ x, Word *__restrict__ y, i64 rows, i64 cols) {
    Row row = this_row(x, rows, cols);
    i64 last = cols + row.phase;
    Softmax mine;
    // Each turn moves the window that `begin_of` sees by all packs of the block.
    for (i64 begin = 0; begin < last; begin += (i64)THREADS * PACKS * PER_PACK) {
        Row part = row;
        part.thread = row.thread + (int)(begin / PER_PACK);
        Pack held[PACKS];
        load_row(part, x, MINUS_INFINITY, held);
        Softmax here;
        float value[PACKS][PER_PACK];
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            unpack(held[p], value[p]);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) here.value[0] = fmaxf(here.value[0], value[p][i]);
        }
        float base = here.base();
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) here.value[1] += exp_of(value[p][i] - base);
        }
        mine.merge(here);
    }
    Softmax all = unite(mine);
    float base = all.base(), scale = 1.0f / all.sum();
    for (i64 begin = 0; begin < last; begin += (i64)THREADS * PACKS * PER_PACK) {
        Row part = row;
        part.thread = row.thread + (int)(begin / PER_PACK);
        Pack held[PACKS];
        load_row(part, x, MINUS_INFINITY, held);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) value[i] = exp_of(value[i] - base) * scale;
            store_pack(part, y, p, pack(value));
        }
    }
}
