// The scale of a tensor: as many blocks as the device holds walk through it, and the last one to finish puts together what all
// found.
//
// Grid: at most so many blocks as the scratch has room for. PACKS times sixteen bytes are in flight a thread.
#include "apart.cuh"
#include "stream.cuh"
#include "together.cuh"

// Of all threads of the block, which all know it.
__device__ __forceinline__ Ends over_block(Ends ends) {
    __shared__ Ends of_warp[THREADS / 32];
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        Ends other = {__shfl_xor_sync(0xffffffffu, ends.most, step), __shfl_xor_sync(0xffffffffu, ends.least, step)};
        ends = both(ends, other);
    }
    // What was left here before is read.
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = ends;
    __syncthreads();
    ends = of_warp[0];
#pragma unroll
    for (int warp = 1; warp < THREADS / 32; warp++) ends = both(ends, of_warp[warp]);
    return ends;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    quantize_apart_scale(const Word *__restrict__ x, const float *__restrict__ t, unsigned char *q, Scale *__restrict__ s,
                         unsigned char *__restrict__ z, u32 *scratch, i64 rows, i64 cols, i64 shared, i64 of_row) {
    Ends ends = {0.0f, 0.0f};
    i64 n = rows * cols, step = (i64)gridDim.x * (THREADS * PACKS * PER_PACK);
    // `begin_at` is where the first tile's packs begin. Beyond the ends there are zeros, which change nothing.
    for (i64 before = 0; begin_at(x, 0) + before < n; before += step) {
        Pack held[PACKS];
#pragma unroll
        for (int p = 0; p < PACKS; p++) held[p] = load_at(x, begin_at(x, p) + before, n, true);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) take(ends, value[i]);
        }
    }
    ends = over_block(ends);
    float mine[2] = {ends.most, ends.least};
    if (!leave_and_is_last(scratch, mine)) return;
    ends = Ends{0.0f, 0.0f};
    for (u32 block = threadIdx.x; block < gridDim.x; block += THREADS) {
        ends = both(ends, Ends{*left_by(scratch, 0, block), *left_by(scratch, 1, block)});
    }
    ends = over_block(ends);
    if (threadIdx.x == 0) leave_scale(s, z, 0, ends, HAS_TENSOR ? *t : 1.0f);
}
