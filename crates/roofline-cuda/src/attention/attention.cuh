// What all ways of attention share: where queries, keys and values lie, and which keys a query sees.
//
// HEADS_FIRST: heads before places; PAGED: keys and values in pages of a pool, which `pages` names; CAUSAL: a query sees
// no key after its own, and the last query stands at the last key; WINDOWED: of these the last `window` alone. MASKED: numbers
// are added to the products; SINKS: each head has a score more, of nothing; CAPPED: products are kept below `cap`.
#pragma once
#include "exp.cuh"

#ifndef VARLEN
#define VARLEN 0
#endif

struct Sizes {
    // `kv` is that of every sequence, and with PAGED the keys of a page; `elements` those of all keys.
    i64 batch, seq, kv, heads, kv_heads, dim, elements;
};

// Which of the `count` pages a sequence has, as paged attention is told. Whatever it is told, no other memory is read.
struct Pages {
    const int *pages, *offsets, *last;
    int count;
};

__device__ __forceinline__ int below(int number, int count) {
    return (int)((u32)number < (u32)count ? number : count - 1);
}

__device__ __forceinline__ i64 query_at(const Sizes &size, i64 batch, i64 i, i64 head) {
    return (HEADS_FIRST ? (batch * size.heads + head) * size.seq + i : (batch * size.seq + i) * size.heads + head) * size.dim;
}

__device__ __forceinline__ int length_of(const Sizes &size, const Pages &pages, i64 batch) {
#if PAGED
    int first = pages.offsets[batch], end = pages.offsets[batch + 1], page = (int)size.kv;
    if (first < 0 || end > pages.count || first >= end) return 0;
    return (end - first - 1) * page + below(pages.last[batch], page) + 1;
#else
    return (int)size.kv;
#endif
}

// The place of key `j` in what holds all keys of the batch, or the pool.
__device__ __forceinline__ i64 place_of(const Sizes &size, const Pages &pages, i64 batch, int j) {
#if PAGED
    int page = (int)size.kv;
    return below(pages.pages[pages.offsets[batch] + j / page], pages.count) * size.kv + j % page;
#else
    return (HEADS_FIRST ? batch * size.kv_heads * size.kv : batch * size.kv) + j;
#endif
}

__device__ __forceinline__ i64 key_at(const Sizes &size, i64 place, i64 kv_head) {
    return (HEADS_FIRST ? kv_head * size.kv + place : place * size.kv_heads + kv_head) * size.dim;
}

// What counts beside the products: the mask, or the sinks.
struct Beside {
    const Word *numbers;
    i64 window;
    float scale, cap;
};

// The end of the keys that query `i` sees, and their beginning.
__device__ __forceinline__ int seen_by(const Sizes &size, int length, i64 i) {
    return CAUSAL ? (int)(size.kv - size.seq + i + 1) : length;
}

__device__ __forceinline__ int seen_from(const Sizes &size, const Beside &beside, int length, i64 i) {
    i64 first = seen_by(size, length, i) - beside.window;
    return WINDOWED && first > 0 ? (int)first : 0;
}

// The mask of query `i`.
__device__ __forceinline__ const Word *mask_of(const Sizes &size, const Beside &beside, i64 i) {
    return MASKED ? beside.numbers + i * size.kv : beside.numbers;
}

// The score of key `j`, from its product with a query.
__device__ __forceinline__ float score_of(float product, const Beside &beside, const Word *mask, int j) {
    float score = product * beside.scale;
    if (CAPPED) score = tanhf(score / beside.cap) * beside.cap;
    return MASKED ? score + to_float(mask[j]) : score;
}

// The mean of values, from their sum and that of what they count, both against `largest`, and of `one` where that counts 1.
// Who sees nothing has zeros.
__device__ __forceinline__ float mean_of(float mean, float sum, float largest, const Beside &beside, i64 head, float one) {
    if (sum == 0.0f) return 0.0f;
    if (!SINKS) return mean / sum;
    float sink = to_float(beside.numbers[head]), most = fmaxf(largest, sink), less = exp_of(largest - most);
    return mean * less / (sum * less + exp_of(sink - most) * one);
}
