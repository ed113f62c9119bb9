// One number for each row: THREADS threads a row, ROWS rows a block, PACKS times sixteen bytes in flight a thread.
//
// Grid: rows / ROWS, block (THREADS, ROWS).
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"
#include "found.cuh"

extern "C" __global__ void __launch_bounds__(THREADS *ROWS)
    reduce_rows(const Word *__restrict__ a, const Word *__restrict__ b, Word *__restrict__ out, u32 *scratch, i64 outer,
                i64 length, i64 inner) {
    Row row = this_row(a, outer, length);
    Found found = nothing();
    walk_row(row, a, KIND == SUM ? 0 : MINUS_INFINITY, [&](const Row &part, Pack(&held)[PACKS]) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
            take(found, value);
        }
    });
    found = over_lanes_of<LANES>(found);
    if (WARPS > 1) {
        float mine[2] = {found.most, found.sum}, neutral[2] = {NOTHING_LARGER, 0.0f}, all[CLUSTER][2];
        exchange<0>(mine, neutral, all);
        found = over_lanes_of<SEATS>(Found{all[0][0], all[0][1]});
    }
    if (row.live && threadIdx.x == 0) out[(i64)blockIdx.x * ROWS + threadIdx.y] = result_of(found, length);
}
