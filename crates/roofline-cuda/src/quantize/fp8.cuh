// Numbers of eight bits and of four, and powers of two in a byte: to codes and back.
#pragma once
#include "element.cuh"

// The code next to a number of at most the largest magnitude, ties to even, of so many digits behind the point: 3 is e4m3,
// 2 is e5m2. In integers, for not every architecture has an instruction for it.
template <int FRACTION>
__device__ __forceinline__ unsigned char fp8_of(float x) {
    const int least = FRACTION == 3 ? -6 : -14;
    u32 sign = __float_as_uint(x) >> 24 & 0x80u, bits = __float_as_uint(x) & 0x7fffffffu;
    // Numbers below the least normal one are counted in steps of that size: added to one whose last digit is a step.
    const float steps = __uint_as_float((u32)(127 + least - FRACTION + 23) << 23);
    u32 small = __float_as_uint(__uint_as_float(bits) + steps) - __float_as_uint(steps);
    u32 odd = bits >> (23 - FRACTION) & 1u;
    u32 normal = ((bits + (1u << (22 - FRACTION)) - 1u + odd) >> (23 - FRACTION)) - ((u32)(126 + least) << FRACTION);
    return (unsigned char)(sign | (bits < (u32)(127 + least) << 23 ? small : normal));
}

__device__ __forceinline__ float e4m3_value(unsigned char code) {
    if ((code & 0x7f) == 0x7f) return __uint_as_float(0x7fc00000u);
    // The digits of a number that is 2^120 times too small.
    float magnitude = __uint_as_float((u32)(code & 0x7f) << 20) * __uint_as_float(247u << 23);
    return code & 0x80 ? -magnitude : magnitude;
}

// 0 ½ 1 1½ 2 3 4 6, and a sign.
__device__ __forceinline__ float fp4_value(int code) {
    int exponent = code >> 1 & 3, digit = code & 1;
    float magnitude = exponent == 0 ? 0.5f * digit : __uint_as_float((u32)(126 + exponent) << 23 | (u32)digit << 22);
    return code & 8 ? -magnitude : magnitude;
}

// 2^(byte − 127); 255 stands for no number.
__device__ __forceinline__ float power_value(int byte) {
    if (byte == 255) return __uint_as_float(0x7fc00000u);
    return __uint_as_float(byte == 0 ? 0x00400000u : (u32)byte << 23);
}
