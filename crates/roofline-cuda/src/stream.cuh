// Tensors as streams of packs: THREADS threads a block, PACKS times sixteen bytes of each input in flight a thread.
//
// The output is cut at multiples of sixteen bytes; its two ends are taken element by element. An input that does not lie
// as the output does is read in whole packs too, each shifted out of two: right for any address.
#pragma once
#include "element.cuh"

// Elements `begin` and up of a tensor of `n`, with zeros where there are none. `lies`: whether this is a whole pack there.
__device__ __forceinline__ Pack load_at(const Word *from, i64 begin, i64 n, bool lies) {
    if (lies && begin >= 0 && begin + PER_PACK <= n) return load_pack(from + begin);
    // Inside by a pack at both ends: what is fetched beside it is the tensor's, too.
    if (!lies && begin >= PER_PACK && begin + 2 * PER_PACK <= n) return load_across(from + begin);
    Pack held = {};
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) {
        if (begin + i >= 0 && begin + i < n) put_word(held, i, from[begin + i]);
    }
    return held;
}

__device__ __forceinline__ void store_at(Word *to, i64 begin, i64 n, const Pack &value) {
    if (begin >= 0 && begin + PER_PACK <= n) {
        store_whole(to + begin, value);
        return;
    }
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) {
        if (begin + i >= 0 && begin + i < n) to[begin + i] = get_word(value, i);
    }
}

// Where pack `p` of this thread begins in a tensor that is written, in elements.
__device__ __forceinline__ i64 begin_at(const Word *to, int p) {
    return ((i64)blockIdx.x * (THREADS * PACKS) + p * THREADS + threadIdx.x) * PER_PACK - phase_of(to);
}

// to[i] from what the inputs have at i. `each(begin, values, results)` computes a pack from those of every input; beyond
// the ends of the tensor it is given zeros, and what it makes of them goes nowhere.
template <int COUNT, typename Each>
__device__ __forceinline__ void stream(const Word *const (&from)[COUNT], Word *to, i64 n, Each each) {
    Pack held[PACKS][COUNT];
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        i64 begin = begin_at(to, p);
        if (begin >= n) continue;
#pragma unroll
        for (int k = 0; k < COUNT; k++) held[p][k] = load_at(from[k], begin, n, phase_of(from[k]) == phase_of(to));
    }
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        i64 begin = begin_at(to, p);
        if (begin >= n) continue;
        float value[COUNT][PER_PACK], result[PER_PACK];
#pragma unroll
        for (int k = 0; k < COUNT; k++) unpack(held[p][k], value[k]);
        each(begin, value, result);
        store_at(to, begin, n, pack(result));
    }
}
