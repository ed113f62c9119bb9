// Functions of formulas. A rung says `#define EXACT` for CUDA's own, which are the yardstick; without it they are the
// shortest ones that the bound has room for.
#pragma once
#include "element.cuh"

// 1 / x, off by one unit in the last place at most; of an infinity 0.
__device__ __forceinline__ float reciprocal(float x) {
#if defined(EXACT)
    return 1.0f / x;
#else
    float result;
    asm("rcp.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#endif
}

// e^x. The rounded product with log2 e costs |x| units in the last place, which the bound gives it.
__device__ __forceinline__ float e_to(float x) {
#if defined(EXACT)
    return expf(x);
#else
    float power;
    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(x * 1.44269504f));
    return power;
#endif
}

__device__ __forceinline__ float sigmoid(float x) {
    return reciprocal(1.0f + e_to(-x));
}

// The error function. For results of sixteen bits one polynomial and one exponential: off by 1.5e-7 at most (7.1.26 of
// Abramowitz and Stegun), which their rounding hides; the machine's own has two cases, and a warp takes both.
__device__ __forceinline__ float erf_of(float x) {
#if defined(EXACT) || defined(ELEMENT_F32)
    return erff(x);
#else
    float size = fabsf(x), t = reciprocal(__fmaf_rn(size, 0.3275911f, 1.0f));
    float terms = __fmaf_rn(t, 1.061405429f, -1.453152027f);
    terms = __fmaf_rn(terms, t, 1.421413741f);
    terms = __fmaf_rn(terms, t, -0.284496736f);
    terms = __fmaf_rn(terms, t, 0.254829592f);
    return copysignf(__fmaf_rn(-terms * t, e_to(-x * x), 1.0f), x);
#endif
}

__device__ __forceinline__ float gelu(float x) {
    return 0.5f * x * (1.0f + erf_of(x * 0.707106781f));
}

// (1 + tanh a) / 2 is the sigmoid of 2a, which does not cancel.
__device__ __forceinline__ float gelu_tanh(float x) {
    return x * sigmoid(1.59576912f * (x + 0.044715f * x * x * x));
}

// x to the power of s: a square needs no logarithm.
__device__ __forceinline__ float to_power(float x, float s) {
    return s == 2.0f ? x * x : powf(x, s);
}
