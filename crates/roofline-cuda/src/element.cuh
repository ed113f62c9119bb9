// Number types of tensors: f32, bf16 and f16 share every kernel, which computes in f32.
//
// `-DELEMENT_F32`, `-DELEMENT_BF16` or `-DELEMENT_F16` chooses one; products know codes, too, `-DELEMENT_I8`. No header
// is included: the conversions are the machine's own instructions, so that NVRTC alone can compile every kernel.
// `Word` is one element as bits, `Pack` sixteen bytes of them, `PER_PACK` how many that is.
#pragma once

typedef long long i64;
typedef unsigned int u32;

// Quotient and remainder; most tensors can be counted in 32 bits, where dividing is short.
__device__ __forceinline__ i64 divide(i64 a, i64 b, i64 &rest) {
    i64 quotient = ((a | b) >> 32) == 0 ? (i64)((u32)a / (u32)b) : a / b;
    rest = a - quotient * b;
    return quotient;
}

struct alignas(16) Pack {
    u32 word[4];
};

#if defined(ELEMENT_F32)
typedef u32 Word;
#define PER_PACK 4
#define MINUS_INFINITY 0xff800000u
#elif defined(ELEMENT_I8)
typedef signed char Word;
#define PER_PACK 16
#else
typedef unsigned short Word;
#define PER_PACK 8
#if defined(ELEMENT_BF16)
#define MINUS_INFINITY 0xff80u
#else
#define MINUS_INFINITY 0xfc00u
#endif
#endif

// A number in f16.
__device__ __forceinline__ float half_value(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

#if !defined(ELEMENT_I8)
__device__ __forceinline__ float to_float(Word bits) {
#if defined(ELEMENT_F32)
    return __uint_as_float(bits);
#elif defined(ELEMENT_BF16)
    return __uint_as_float((u32)bits << 16);
#else
    return half_value(bits);
#endif
}

// Rounded to nearest even; beyond the largest number is infinity.
__device__ __forceinline__ Word from_float(float value) {
#if defined(ELEMENT_F32)
    return __float_as_uint(value);
#else
    unsigned short bits;
#if defined(ELEMENT_BF16)
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#else
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#endif
    return bits;
#endif
}

__device__ __forceinline__ void unpack(const Pack &pack, float (&value)[PER_PACK]) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
#if defined(ELEMENT_F32)
        value[i] = __uint_as_float(pack.word[i]);
#elif defined(ELEMENT_BF16)
        value[2 * i] = __uint_as_float(pack.word[i] << 16);
        value[2 * i + 1] = __uint_as_float(pack.word[i] & 0xffff0000u);
#else
        asm("{.reg .b16 lo, hi; mov.b32 {lo, hi}, %2; cvt.f32.f16 %0, lo; cvt.f32.f16 %1, hi;}"
            : "=f"(value[2 * i]), "=f"(value[2 * i + 1])
            : "r"(pack.word[i]));
#endif
    }
}

__device__ __forceinline__ Pack pack(const float (&value)[PER_PACK]) {
    Pack packed;
#pragma unroll
    for (int i = 0; i < 4; i++) {
#if defined(ELEMENT_F32)
        packed.word[i] = __float_as_uint(value[i]);
#elif defined(ELEMENT_BF16)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed.word[i]) : "f"(value[2 * i + 1]), "f"(value[2 * i]));
#else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed.word[i]) : "f"(value[2 * i + 1]), "f"(value[2 * i]));
#endif
    }
    return packed;
}
#endif

// One element of a pack as bits. `i` must be known to the compiler, or the pack leaves the registers.
__device__ __forceinline__ void put_word(Pack &pack, int i, Word bits) {
#if defined(ELEMENT_F32)
    pack.word[i] = bits;
#elif defined(ELEMENT_I8)
    pack.word[i / 4] = (pack.word[i / 4] & ~(0xffu << (i % 4 * 8))) | ((u32)(unsigned char)bits << (i % 4 * 8));
#else
    pack.word[i / 2] = i % 2 ? (pack.word[i / 2] & 0xffffu) | ((u32)bits << 16) : (pack.word[i / 2] & 0xffff0000u) | bits;
#endif
}

__device__ __forceinline__ Word get_word(const Pack &pack, int i) {
#if defined(ELEMENT_F32)
    return pack.word[i];
#elif defined(ELEMENT_I8)
    return (Word)(pack.word[i / 4] >> (i % 4 * 8));
#else
    return (Word)(i % 2 ? pack.word[i / 2] >> 16 : pack.word[i / 2]);
#endif
}

// Sixteen bytes that no kernel writes while this one runs. No hint to the caches: on Hopper all that
// were tried, for streams as for rows read again, cost a few per cent and won nothing.
__device__ __forceinline__ Pack load_pack(const void *from) {
    Pack pack;
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(pack.word[0]), "=r"(pack.word[1]), "=r"(pack.word[2]), "=r"(pack.word[3])
                 : "l"(from));
    return pack;
}

__device__ __forceinline__ void store_whole(void *to, const Pack &pack) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(pack.word[0]), "r"(pack.word[1]),
                 "r"(pack.word[2]), "r"(pack.word[3])
                 : "memory");
}

// Elements by which an address lies beyond a multiple of sixteen bytes.
__device__ __forceinline__ int phase_of(const Word *address) {
    return (int)((reinterpret_cast<unsigned long long>(address) & 15) / sizeof(Word));
}

// Sixteen bytes from an address that is no multiple of sixteen: two whole packs, shifted into one.
__device__ __forceinline__ Pack load_across(const void *from) {
    u32 bytes = (u32)(reinterpret_cast<unsigned long long>(from) & 15);
    const char *low = reinterpret_cast<const char *>(from) - bytes;
    Pack first = load_pack(low), second = load_pack(low + 16);
    u32 word[8] = {first.word[0],  first.word[1],  first.word[2],  first.word[3],
                   second.word[0], second.word[1], second.word[2], second.word[3]};
#pragma unroll
    for (int i = 0; i < 6; i++) word[i] = bytes & 8 ? word[i + 2] : word[i];
#pragma unroll
    for (int i = 0; i < 5; i++) word[i] = bytes & 4 ? word[i + 1] : word[i];
    Pack held;
#pragma unroll
    for (int i = 0; i < 4; i++) held.word[i] = __funnelshift_r(word[i], word[i + 1], (bytes & 3) * 8);
    return held;
}

#if !defined(ELEMENT_I8)
// The largest element of some packs; NaN counts for nothing.
template <int COUNT>
__device__ __forceinline__ float largest_of(const Pack (&held)[COUNT]) {
    u32 both = held[0].word[0];
#if defined(ELEMENT_F32)
    float largest = __uint_as_float(both);
#endif
#pragma unroll
    for (int i = 1; i < 4 * COUNT; i++) {
        u32 word = held[i / 4].word[i % 4];
#if defined(ELEMENT_F32)
        largest = fmaxf(largest, __uint_as_float(word));
#elif defined(ELEMENT_BF16)
        asm("max.bf16x2 %0, %0, %1;" : "+r"(both) : "r"(word));
#else
        asm("max.f16x2 %0, %0, %1;" : "+r"(both) : "r"(word));
#endif
    }
#if defined(ELEMENT_F32)
    return largest;
#else
    return fmaxf(to_float((Word)both), to_float((Word)(both >> 16)));
#endif
}
#endif
