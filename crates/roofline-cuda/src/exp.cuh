// Exponentials for softmax: arguments of at most 0.
#pragma once
#include "element.cuh"

// 2^x, with results below the smallest normal number given as 0.
__device__ __forceinline__ float exp2_flushed(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

// e^x. The product with log2 e is rounded, which costs |x| half-units in the last place of the
// result; that rounding error is computed and put back.
__device__ __forceinline__ float exp_of(float x) {
    float scaled = x * 1.44269504f, power;
    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(scaled));
    float lost = __fmaf_rn(x, 1.44269504f, -scaled);
    lost = __fmaf_rn(x, 1.92596299e-8f, lost);
    // An infinite argument has no error to put back; inf - inf would make one.
    lost = x > -200.0f ? lost : 0.0f;
    return __fmaf_rn(power, lost * 0.693147181f, power);
}

// e^x as a term of a sum with 1 in it: what is flushed would not have changed it.
__device__ __forceinline__ float exp_term(float x) {
#if defined(ELEMENT_F32)
    return exp_of(x);
#else
    return exp2_flushed(x * 1.44269504f);
#endif
}

// e^x * scale, exact to the rounding of a half-precision result: 2^(x/2) is taken twice, for it is
// a normal number wherever e^x is a number at all.
__device__ __forceinline__ float exp_scaled(float x, float scale) {
#if defined(ELEMENT_F32)
    return exp_of(x) * scale;
#else
    float root = exp2_flushed(x * 0.72134752f);
    return root * scale * root;
#endif
}

// A bound that is never minus infinity: elements that are give exp(-inf) = 0 and not NaN.
__device__ __forceinline__ float base_of(float largest) {
    return largest == __uint_as_float(0xff800000u) ? 0.0f : largest;
}
