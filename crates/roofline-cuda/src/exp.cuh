// exp for arguments of at most 0, and the running pair of softmax.
#pragma once
#include "element.cuh"

// e^x by the machine's 2^x. The product with log2 e is rounded, which costs |x| half-units in the
// last place of the result; for f32 the rounding error is computed and put back.
__device__ __forceinline__ float exp_of(float x) {
    float scaled = x * 1.44269504f, power;
    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(scaled));
#if defined(ELEMENT_F32)
    float lost = __fmaf_rn(x, 1.44269504f, -scaled);
    lost = __fmaf_rn(x, 1.92596299e-8f, lost);
    // An infinite argument has no error to put back; inf - inf would make one.
    lost = x > -200.0f ? lost : 0.0f;
    power = __fmaf_rn(power, lost * 0.693147181f, power);
#endif
    return power;
}

// The largest element so far, and the sum of exp(element - largest).
struct Softmax {
    static const int WIDTH = 2;
    float value[2];
    __device__ Softmax() {
        value[0] = __uint_as_float(0xff800000u);
        value[1] = 0.0f;
    }
    __device__ float largest() const { return value[0]; }
    __device__ float sum() const { return value[1]; }
    // What `sum` is to be multiplied by where the largest is `to`. Minus infinity has no elements yet.
    __device__ float rescale(float to) const { return value[0] == to ? 1.0f : exp_of(value[0] - to); }
    __device__ void merge(const Softmax &other) {
        float to = fmaxf(value[0], other.value[0]);
        value[1] = value[1] * rescale(to) + other.value[1] * other.rescale(to);
        value[0] = to;
    }
    // A bound that is never minus infinity: elements that are give exp(-inf) = 0 and not NaN.
    __device__ float base() const { return value[0] == __uint_as_float(0xff800000u) ? 0.0f : value[0]; }
};
