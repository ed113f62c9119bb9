// One number for each line of a tensor [outer, length, inner] that lies across memory: ACROSS threads beside each other,
// with WIDE columns each, and DOWN of them below each other.
//
// Grid: outer * inner / (ACROSS * WIDE), block (ACROSS, DOWN). Sixteen bytes a thread where every line of memory begins at
// a multiple of sixteen, else one element.
#include "found.cuh"

#define AT_ONCE 4
// Threads of a warp that are below each other, and what is left of all after they have met.
#define BELOW (32 / ACROSS)
#define LEFT (DOWN / BELOW)

__device__ __forceinline__ void load_wide(const Word *from, float (&value)[WIDE]) {
#if WIDE > 1
    unpack(load_pack(from), value);
#else
    value[0] = to_float(from[0]);
#endif
}

extern "C" __global__ void __launch_bounds__(ACROSS *DOWN)
    reduce_columns(const Word *__restrict__ a, const Word *__restrict__ b, Word *__restrict__ out, u32 *scratch, i64 outer,
                   i64 length, i64 inner) {
    i64 tiles = (inner + ACROSS * WIDE - 1) / (ACROSS * WIDE), slab = blockIdx.x / tiles;
    i64 first = blockIdx.x % tiles * (ACROSS * WIDE), column = first + threadIdx.x * WIDE;
    const Word *from = a + slab * length * inner + column;
    Found found[WIDE];
#pragma unroll
    for (int i = 0; i < WIDE; i++) found[i] = nothing();
    for (i64 row = threadIdx.y; column < inner && row < length; row += DOWN * AT_ONCE) {
        float value[AT_ONCE][WIDE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
#pragma unroll
            for (int i = 0; i < WIDE; i++) value[k][i] = NO_TERM;
            if (row + k * DOWN < length) load_wide(from + (row + k * DOWN) * inner, value[k]);
        }
#pragma unroll
        for (int i = 0; i < WIDE; i++) {
            float term[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) term[k] = value[k][i];
            take(found[i], term);
        }
    }
    __shared__ Found all[LEFT][ACROSS * WIDE];
#pragma unroll
    for (int i = 0; i < WIDE; i++) {
        found[i] = over_lanes_of<32, ACROSS>(found[i]);
        if (threadIdx.y % BELOW == 0) all[threadIdx.y / BELOW][threadIdx.x * WIDE + i] = found[i];
    }
    __syncthreads();
    int thread = threadIdx.y * ACROSS + threadIdx.x;
    if (thread < ACROSS * WIDE && first + thread < inner) {
        Found line = all[0][thread];
        for (int k = 1; k < LEFT; k++) line = both(line, all[k][thread]);
        out[slab * inner + first + thread] = result_of(line, length);
    }
}
