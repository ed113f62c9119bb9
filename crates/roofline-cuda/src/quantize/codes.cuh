// Codes of eight bits: PER_PACK of them beside each other, and how a quotient becomes one.
//
// DIGITS: of whole numbers 0, of numbers in fp8 those behind the point. With POWERS a scale is a power of two in a byte, and
// else a number. With GROUPED a row has several groups, each with a scale.
#pragma once
#include "fp8.cuh"

#if POWERS
typedef unsigned char Scale;
#else
typedef float Scale;
#endif

// The scale that takes the largest magnitude to the largest code, or near it; that of zeros is 1, or the least.
__device__ __forceinline__ Scale scale_of(float most) {
#if POWERS
    int exponent = (int)(__float_as_uint(most) >> 23) - (int)(__float_as_uint(OVER) >> 23);
    return (Scale)(exponent < -127 ? 0 : exponent + 127);
#else
    return most == 0.0f ? 1.0f : most / OVER;
#endif
}

__device__ __forceinline__ float divisor_of(Scale scale) {
#if POWERS
    return power_value(scale);
#else
    return scale;
#endif
}

__device__ __forceinline__ unsigned char code_of(float x, float divisor) {
    float quotient = x / divisor;
#if DIGITS > 0
    // Of what rounds to zero the sign stays.
    return fp8_of<DIGITS>(copysignf(fminf(fabsf(quotient), OVER), quotient));
#else
    float nearest = AWAY ? roundf(quotient) : rintf(quotient);
    return (unsigned char)(signed char)fminf(fmaxf(nearest, LEAST), 127.0f);
#endif
}

// As many codes as a pack has elements, stored at once where they may be.
__device__ __forceinline__ void store_codes(unsigned char *to, const unsigned char (&code)[PER_PACK], bool whole, int first,
                                            int last) {
    if (whole && (reinterpret_cast<unsigned long long>(to) & (PER_PACK - 1)) == 0) {
        u32 word[PER_PACK / 4];
#pragma unroll
        for (int i = 0; i < PER_PACK / 4; i++) {
            word[i] = (u32)code[4 * i] | (u32)code[4 * i + 1] << 8 | (u32)code[4 * i + 2] << 16 | (u32)code[4 * i + 3] << 24;
        }
#if PER_PACK == 8
        *reinterpret_cast<unsigned long long *>(to) = word[0] | (unsigned long long)word[1] << 32;
#else
        *reinterpret_cast<u32 *>(to) = word[0];
#endif
        return;
    }
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) {
        if (i >= first && i < last) to[i] = code[i];
    }
}
