// Where the maximum of each row stands, the first one; of a row with a NaN that NaN: THREADS threads a row, ROWS rows a block,
// PACKS times sixteen bytes in flight a thread.
//
// Grid: rows / ROWS, block (THREADS, ROWS). Numbers are compared as whole ones that stand in the same order.
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"

// A number's place in the order of all, with NaN above them; 0 is below all.
__device__ __forceinline__ u32 rank_of(float x) {
    u32 bits = __float_as_uint(x);
    if (x != x) return 0xffffffffu;
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

struct Best {
    u32 rank, at;
};

// The better one, and of two that are alike the first in the row.
__device__ __forceinline__ Best better(const Best &a, const Best &b) {
    return a.rank > b.rank || (a.rank == b.rank && a.at < b.at) ? a : b;
}

template <int COUNT>
__device__ __forceinline__ Best over_lanes_of(Best best) {
#pragma unroll
    for (int step = COUNT / 2; step > 0; step /= 2) {
        Best other = {__shfl_xor_sync(0xffffffffu, best.rank, step), __shfl_xor_sync(0xffffffffu, best.at, step)};
        best = better(best, other);
    }
    return best;
}

extern "C" __global__ void __launch_bounds__(THREADS *ROWS)
    argmax_rows(const Word *__restrict__ x, int *__restrict__ y, i64 rows, i64 cols, i64 one) {
    Row row = this_row(x, rows, cols);
    Best best = {0, 0};
    walk_row(row, x, 0, [&](const Row &part, Pack(&held)[PACKS]) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            int first = begin_of(part, p);
            bool whole = is_whole(part, first);
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) {
                u32 rank = whole || is_inside(part, first + i) ? rank_of(value[i]) : 0;
                if (rank > best.rank) best = Best{rank, (u32)(first + i)};
            }
        }
    });
    best = over_lanes_of<LANES>(best);
    if (WARPS > 1) {
        float mine[2] = {__uint_as_float(best.rank), __uint_as_float(best.at)}, neutral[2] = {0.0f, 0.0f}, all[CLUSTER][2];
        exchange<0>(mine, neutral, all);
        best = over_lanes_of<SEATS>(Best{__float_as_uint(all[0][0]), __float_as_uint(all[0][1])});
    }
    if (row.live && threadIdx.x == 0) y[(i64)blockIdx.x * ROWS + threadIdx.y] = (int)best.at;
}
