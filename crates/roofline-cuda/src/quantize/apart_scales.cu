// The scale of each group: THREADS threads a group, ROWS groups a block, PACKS times sixteen bytes in flight a thread.
//
// Grid: groups / ROWS, block (THREADS, ROWS). Groups are `shared` elements of a row long but for the last, `of_row` to a row.
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"
#include "apart.cuh"

extern "C" __global__ void __launch_bounds__(THREADS *ROWS)
    quantize_apart_scales(const Word *__restrict__ x, const float *__restrict__ t, unsigned char *q, Scale *__restrict__ s,
                          unsigned char *__restrict__ z, u32 *scratch, i64 rows, i64 cols, i64 shared, i64 of_row) {
    i64 group = (i64)blockIdx.x * ROWS + threadIdx.y;
    Row row = group_at(x, group, rows, cols, shared, of_row);
    Ends ends = {0.0f, 0.0f};
    walk_row(row, x, 0, [&](const Row &part, Pack(&held)[PACKS]) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) take(ends, value[i]);
        }
    });
    float mine[2] = {over_lanes<Largest, LANES>(ends.most), over_lanes<Largest, LANES>(-ends.least)};
    if (WARPS > 1) {
        float neutral[2] = {0.0f, 0.0f}, all[CLUSTER][2];
        exchange<0>(mine, neutral, all);
        mine[0] = over_lanes<Largest, SEATS>(all[0][0]);
        mine[1] = over_lanes<Largest, SEATS>(all[0][1]);
    }
    if (row.live && threadIdx.x == 0) leave_scale(s, z, group, Ends{mine[0], -mine[1]}, HAS_TENSOR ? *t : 1.0f);
}
