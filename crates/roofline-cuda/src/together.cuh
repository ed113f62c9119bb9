// One number from all blocks of one launch: each leaves what it found, and the last one to do so puts it together, in the
// order of the blocks, so that every launch gives the same bits.
//
// `scratch` begins with a counter, which is 0 before a launch and after it.
#pragma once
#include "element.cuh"

__device__ __forceinline__ volatile float *left_by(u32 *scratch, int which, u32 block) {
    return reinterpret_cast<volatile float *>(scratch + 4) + which * gridDim.x + block;
}

// Leaves what this block found, in its first thread; says to all its threads whether it was the last. All threads call it.
template <int WIDTH>
__device__ __forceinline__ bool leave_and_is_last(u32 *scratch, const float (&mine)[WIDTH]) {
    __shared__ bool last;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
#pragma unroll
        for (int i = 0; i < WIDTH; i++) *left_by(scratch, i, blockIdx.x) = mine[i];
        __threadfence();
        // Counts around: the last block leaves it at 0.
        last = atomicInc(scratch, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}
