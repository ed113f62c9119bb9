// Cross-entropy in one walk: largest element and sum of exponentials together, and nothing written
// but a number a row.
//
// Grid: a block of THREADS a row of any length. PACKS times sixteen bytes are in flight a thread; what
// was added up against an earlier largest element is rescaled when a larger one comes.
#define ROWS 1
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"
#include "exp.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    cross_entropy_online(const Word *__restrict__ x, const i64 *__restrict__ target, float *__restrict__ loss,
                         i64 rows, i64 cols) {
    const float minus_infinity = __uint_as_float(0xff800000u);
    Row row = this_row(x, rows, cols);
    int last = row.cols + row.phase;
    float largest = minus_infinity, sum = 0.0f;
    // Each turn moves the window that `begin_of` sees by all packs of the block.
    for (int begin = 0; begin < last; begin += THREADS * PACKS * PER_PACK) {
        Row part = row;
        part.thread = row.thread + begin / PER_PACK;
        Pack held[PACKS];
        load_row(part, x, MINUS_INFINITY, held);
        float before = largest;
        largest = fmaxf(largest, largest_of(held));
        float base = base_of(largest);
        if (before != largest) sum *= exp_of(before - base);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) sum += exp_term(value[i] - base);
        }
    }
    float of_warp = over_lanes<Largest, LANES>(largest);
    sum = over_lanes<Add, LANES>(sum * exp_of(largest - base_of(of_warp)));
    float mine[2] = {of_warp, sum}, neutral[2] = {minus_infinity, 0.0f}, all[CLUSTER][2];
    exchange<0>(mine, neutral, all);
    float base = base_of(over_lanes<Largest, SEATS>(all[0][0]));
    sum = over_lanes<Add, SEATS>(all[0][1] * exp_of(all[0][0] - base));
    if (threadIdx.x == 0) {
        i64 index = row.before / cols, column = target[index];
        // A target that names no column has no logit.
        bool named = column >= 0 && column < cols;
        float logit = named ? to_float(x[row.before + column]) : __uint_as_float(0x7fc00000u);
        loss[index] = (base - logit) + logf(sum);
    }
}
