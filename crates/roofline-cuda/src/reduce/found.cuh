// What a reduction has found so far. KIND says what is looked for: a SUM, the LARGEST, or both, for LOGSUMEXP.
#pragma once
#include "math.cuh"

#define SUM 0
#define LARGEST 1
#define LOGSUMEXP 2
#define NOTHING_LARGER __uint_as_float(0xff800000u)
// What an element that is not there counts as.
#define NO_TERM (KIND == SUM ? 0.0f : NOTHING_LARGER)

struct Found {
    float most, sum;
};

__device__ __forceinline__ Found nothing() {
    return Found{NOTHING_LARGER, 0.0f};
}

// The larger one, and NaN if either is.
__device__ __forceinline__ float larger(float a, float b) {
    float most;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
    return most;
}

// What is taken off before an exponential. An infinity is what it is: nothing is taken off.
__device__ __forceinline__ float pivot_of(float most) {
    return fabsf(most) < __uint_as_float(0x7f800000u) ? most : 0.0f;
}

// A sum of exponentials as it is with another pivot; without a finite term it is 0 with any.
__device__ __forceinline__ float around(const Found &found, float pivot) {
    return found.sum == 0.0f ? 0.0f : found.sum * e_to(pivot_of(found.most) - pivot);
}

template <int COUNT>
__device__ __forceinline__ void take(Found &found, const float (&term)[COUNT]) {
#if KIND != SUM
    [[maybe_unused]] Found before = found;
#pragma unroll
    for (int i = 0; i < COUNT; i++) found.most = larger(found.most, term[i]);
#endif
#if KIND == LOGSUMEXP
    float pivot = pivot_of(found.most);
    if (before.most != found.most) found.sum = around(before, pivot);
#pragma unroll
    for (int i = 0; i < COUNT; i++) found.sum += e_to(term[i] - pivot);
#endif
#if KIND == SUM
#pragma unroll
    for (int i = 0; i < COUNT; i++) found.sum += term[i];
#endif
}

// The same bits in either order.
__device__ __forceinline__ Found both(const Found &a, const Found &b) {
    Found all = {KIND == SUM ? a.most : larger(a.most, b.most), a.sum + b.sum};
#if KIND == LOGSUMEXP
    float pivot = pivot_of(all.most);
    all.sum = around(a, pivot) + around(b, pivot);
#endif
    return all;
}

// Of lanes that are FIRST, 2 FIRST, … apart, up to COUNT lanes.
template <int COUNT, int FIRST = 1>
__device__ __forceinline__ Found over_lanes_of(Found found) {
#pragma unroll
    for (int step = COUNT / 2; step >= FIRST; step /= 2) {
        Found other = {__shfl_xor_sync(0xffffffffu, found.most, step), __shfl_xor_sync(0xffffffffu, found.sum, step)};
        found = both(found, other);
    }
    return found;
}

// Of all threads of a block of whole warps, which all call it and all know the result.
template <int COUNT>
__device__ __forceinline__ Found over_block_of(Found found) {
    __shared__ Found of_warp[COUNT / 32];
    found = over_lanes_of<32>(found);
    // What was left here before is read.
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = found;
    __syncthreads();
    found = threadIdx.x % 32 < COUNT / 32 ? of_warp[threadIdx.x % 32] : nothing();
    return over_lanes_of<32>(found);
}

// RESULT of what was found in a line of so many elements.
__device__ __forceinline__ Word result_of(const Found &found, i64 length) {
    return from_float(RESULT);
}
