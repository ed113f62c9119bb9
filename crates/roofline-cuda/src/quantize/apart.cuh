// Codes whose scales are found in a launch before: what a scale is, of `most` and `least` of a group and of `all`, the scale of
// the tensor, and what becomes of an element x under a `divisor` and the code of `zero`.
//
// Kernels are compiled with the type Scale, and with SCALE, DIVISOR (of `scale` and `all`) and CODE. With SIGNED a group's
// ends are looked for, which zero is between, and else its largest magnitude. With PAIRED two neighbours of a row share a byte,
// the first in its low half.
#pragma once
#include "fp8.cuh"

struct Ends {
    float most, least;
};

__device__ __forceinline__ void take(Ends &ends, float x) {
    ends.most = fmaxf(ends.most, SIGNED ? x : fabsf(x));
    if (SIGNED) ends.least = fminf(ends.least, x);
}

__device__ __forceinline__ Ends both(const Ends &a, const Ends &b) {
    return Ends{fmaxf(a.most, b.most), fminf(a.least, b.least)};
}

__device__ __forceinline__ int whole_of(float x, float least, float most) {
    return (int)fminf(fmaxf(x, least), most);
}

// 2^e as the byte e + 127, with which the largest magnitude comes near six.
__device__ __forceinline__ Scale power_for_six(float most) {
    int exponent = (int)(__float_as_uint(most) >> 23) - (int)(__float_as_uint(6.0f) >> 23);
    return (Scale)(exponent < -127 ? 0 : exponent + 127);
}

// The next of 0 ½ 1 1½ 2 3 4 6, ties to the even code, and a sign, which stays on what rounds to zero.
__device__ __forceinline__ int fp4_of(float x) {
    float size = fabsf(x);
    int code = (size > 0.25f) + (size >= 0.75f) + (size > 1.25f) + (size >= 1.75f) + (size > 2.5f) + (size >= 3.5f) +
               (size > 5.0f);
    return code | (int)(__float_as_uint(x) >> 31 << 3);
}

// Leaves the scale of a group, and with SIGNED its code of zero.
__device__ __forceinline__ void leave_scale(Scale *s, unsigned char *z, i64 group, const Ends &ends, float all) {
    float most = ends.most;
    [[maybe_unused]] float least = ends.least;
    s[group] = SCALE;
    if (SIGNED) z[group] = (unsigned char)whole_of(rintf(-least / (float)s[group]), 0.0f, 255.0f);
}

__device__ __forceinline__ float divisor_of(Scale scale, float all) {
    return DIVISOR;
}

__device__ __forceinline__ int code_of(float x, float divisor, int zero) {
    return CODE;
}
