// Cross-entropy in one walk: largest element and sum of exponentials together, and nothing written but a number a row, or
// with MEAN one in all.
//
// Grid: a block of THREADS a row of any length; with MEAN as many blocks as the device holds, each with every so manieth
// row. PACKS times sixteen bytes are in flight a thread; what was added up against an earlier largest element is rescaled
// when a larger one comes.
#define ROWS 1
#define CLUSTER 1
#define ALIGNED 0
#include "rows.cuh"
#include "exp.cuh"
#include "together.cuh"

// The loss of a row, known to its first thread.
__device__ __forceinline__ float loss_of(const Row &row, const Word *x, int target) {
    const float minus_infinity = __uint_as_float(0xff800000u);
    float largest = minus_infinity, sum = 0.0f;
    walk_row(row, x, MINUS_INFINITY, [&](const Row &part, Pack(&held)[PACKS]) {
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
    });
    float of_warp = over_lanes<Largest, LANES>(largest);
    sum = over_lanes<Add, LANES>(sum * exp_of(largest - base_of(of_warp)));
    float mine[2] = {of_warp, sum}, neutral[2] = {minus_infinity, 0.0f}, all[CLUSTER][2];
    exchange<0>(mine, neutral, all);
    float base = base_of(over_lanes<Largest, SEATS>(all[0][0]));
    sum = over_lanes<Add, SEATS>(all[0][1] * exp_of(all[0][0] - base));
    if (threadIdx.x != 0) return 0.0f;
    // A target that names no column has no logit.
    bool named = target >= 0 && target < row.cols;
    float logit = named ? to_float(x[row.before + target]) : __uint_as_float(0x7fc00000u);
    return (base - logit) + logf(sum);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    cross_entropy_online(const Word *__restrict__ x, const int *__restrict__ target, Word *__restrict__ y, u32 *scratch,
                         i64 rows, i64 cols) {
    float sum = 0.0f, count = 0.0f;
    for (i64 index = blockIdx.x; index < rows; index += gridDim.x) {
        int named = target[index];
        if (named != NO_TARGET) {
            sum += loss_of(row_at(x, index, rows, cols), x, named);
            count += 1.0f;
            // What warps exchanged is read before the next row is.
            if (MEAN) __syncthreads();
        }
        if (!MEAN && threadIdx.x == 0) y[index] = from_float(sum);
        if (!MEAN) return;
    }
    float mine[2] = {sum, count};
    if (!leave_and_is_last(scratch, mine)) return;
    sum = count = 0.0f;
    for (u32 block = threadIdx.x; block < gridDim.x; block += THREADS) {
        sum += *left_by(scratch, 0, block);
        count += *left_by(scratch, 1, block);
    }
    sum = row_sum<1>(sum);
    count = row_sum<2>(count);
    if (threadIdx.x == 0) y[0] = from_float(sum / count);
}
