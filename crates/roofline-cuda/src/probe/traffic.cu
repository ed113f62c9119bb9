// Reads INPUTS tensors once and writes OUTPUTS once, and computes next to nothing: what memory gives to a kernel with
// these tensors.
//
// Grid: any; threads walk in strides of it, PACKS times sixteen bytes of every tensor in flight. All begin at multiples of
// sixteen bytes; what an input has beyond its last whole pack is left out. What is read goes into what is written at the
// same place of the walk; where nothing is, it is looked at, so that it must be read.
#define ELEMENT_F32
#include "element.cuh"

// A tensor, and the place of the walk that its first pack has.
struct Span {
    Pack *base;
    i64 first;
    i64 bytes;
};

__device__ __forceinline__ void mix(Pack &sum, const Pack &more) {
#pragma unroll
    for (int i = 0; i < 4; i++) sum.word[i] ^= more.word[i];
}

// Whether the packs of a thread from a place of the walk on are all of a tensor, or none of them.
__device__ __forceinline__ bool has_all(const Span &span, i64 place) {
    return place >= span.first && place - span.first + (PACKS - 1) * THREADS < span.bytes / 16;
}

__device__ __forceinline__ bool has_none(const Span &span, i64 place) {
    return place + (PACKS - 1) * THREADS < span.first || place - span.first >= span.bytes / 16;
}

__device__ __forceinline__ bool has(const Span &span, i64 place) {
    return place >= span.first && place - span.first < span.bytes / 16;
}

__device__ __forceinline__ void read(const Span &from, i64 place, Pack (&sum)[PACKS]) {
    const Pack *begin = from.base + (place - from.first);
    if (has_none(from, place)) return;
    Pack held[PACKS] = {};
    if (has_all(from, place)) {
        // All in flight before the first is looked at.
#pragma unroll
        for (int p = 0; p < PACKS; p++) held[p] = load_pack(begin + p * THREADS);
    } else {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            if (has(from, place + p * THREADS)) held[p] = load_pack(begin + p * THREADS);
        }
    }
#pragma unroll
    for (int p = 0; p < PACKS; p++) mix(sum[p], held[p]);
}

__device__ __forceinline__ void write(const Span &to, i64 place, const Pack (&sum)[PACKS]) {
    Pack *begin = to.base + (place - to.first);
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        if (has(to, place + p * THREADS)) store_whole(begin + p * THREADS, sum[p]);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    probe_traffic(Span a, Span b, Span c, Span d, Span e, Span f, Span g, Span h, Span w, Span x, Span y, Span z,
                  i64 places) {
    const Span from[] = {a, b, c, d, e, f, g, h}, to[] = {w, x, y, z};
    bool is_odd = false;
    i64 stride = (i64)gridDim.x * (THREADS * PACKS);
    for (i64 place = (i64)blockIdx.x * (THREADS * PACKS) + threadIdx.x; place < places; place += stride) {
        Pack sum[PACKS] = {};
#pragma unroll
        for (int k = 0; k < INPUTS; k++) read(from[k], place, sum);
        bool goes_nowhere = true;
#pragma unroll
        for (int k = 0; k < OUTPUTS; k++) {
            write(to[k], place, sum);
            goes_nowhere &= !has_all(to[k], place);
        }
        if (!goes_nowhere) continue;
        // Contents of noise have no pack of ones alone but by a chance of 2 to the minus 128.
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            is_odd |= (sum[p].word[0] & sum[p].word[1] & sum[p].word[2] & sum[p].word[3]) == 0xffffffffu;
        }
    }
#pragma unroll
    for (int k = 0; k < OUTPUTS; k++) {
        // What is left of an output is less than a pack.
        unsigned char *tail = (unsigned char *)(to[k].base + to[k].bytes / 16);
        if (blockIdx.x == 0 && threadIdx.x < to[k].bytes % 16) tail[threadIdx.x] = 0;
    }
    if (is_odd && w.bytes >= 16) w.base[0].word[0] = 1;
}
