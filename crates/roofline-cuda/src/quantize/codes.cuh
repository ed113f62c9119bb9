// Codes of eight bits: PER_PACK of them beside each other, and how a quotient becomes one.
#pragma once
#include "element.cuh"

// The scale that takes the largest magnitude to the largest code; that of zeros is 1.
__device__ __forceinline__ float scale_of(float most) {
    return most == 0.0f ? 1.0f : most / OVER;
}

__device__ __forceinline__ signed char code_of(float x, float scale) {
    float quotient = x / scale, nearest = AWAY ? roundf(quotient) : rintf(quotient);
    return (signed char)fminf(fmaxf(nearest, LEAST), 127.0f);
}

// As many codes as a pack has elements, stored at once where they may be.
__device__ __forceinline__ void store_codes(signed char *to, const signed char (&code)[PER_PACK], bool whole, int first,
                                            int last) {
    if (whole && (reinterpret_cast<unsigned long long>(to) & (PER_PACK - 1)) == 0) {
        u32 word[PER_PACK / 4];
#pragma unroll
        for (int i = 0; i < PER_PACK / 4; i++) {
            word[i] = (u32)(unsigned char)code[4 * i] | (u32)(unsigned char)code[4 * i + 1] << 8 |
                      (u32)(unsigned char)code[4 * i + 2] << 16 | (u32)(unsigned char)code[4 * i + 3] << 24;
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
