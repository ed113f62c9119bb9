// Lines that lie across memory, along the middle dimension of a tensor [outer, length, inner]: ACROSS threads beside each other,
// with WIDE lines each, and DOWN of them below each other, in a block (ACROSS, DOWN).
#pragma once
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

__device__ __forceinline__ void store_wide(Word *to, const float (&value)[WIDE]) {
#if WIDE > 1
    store_whole(to, pack(value));
#else
    to[0] = from_float(value[0]);
#endif
}

// The lines of a block, and where those of a thread begin.
struct Tile {
    i64 slab, lines, column, first;
};

__device__ __forceinline__ Tile this_tile(i64 length, i64 inner) {
    i64 tiles = (inner + ACROSS * WIDE - 1) / (ACROSS * WIDE);
    Tile tile;
    tile.slab = blockIdx.x / tiles;
    tile.lines = blockIdx.x % tiles * (ACROSS * WIDE);
    tile.column = tile.lines + threadIdx.x * WIDE;
    tile.first = tile.slab * length * inner + tile.column;
    return tile;
}

// What a thread finds in its part of its lines.
__device__ __forceinline__ void find_columns(const Word *from, const Tile &tile, i64 length, i64 inner, Found (&found)[WIDE]) {
#pragma unroll
    for (int i = 0; i < WIDE; i++) found[i] = nothing();
    for (i64 row = threadIdx.y; tile.column < inner && row < length; row += DOWN * AT_ONCE) {
        float value[AT_ONCE][WIDE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
#pragma unroll
            for (int i = 0; i < WIDE; i++) value[k][i] = NO_TERM;
            if (row + k * DOWN < length) load_wide(from + tile.first + (row + k * DOWN) * inner, value[k]);
        }
#pragma unroll
        for (int i = 0; i < WIDE; i++) {
            float term[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) term[k] = value[k][i];
            take(found[i], term);
        }
    }
}

// What all threads found, in those that are the first of so many as there are lines; whether this is one of them.
__device__ __forceinline__ bool meet(Found (&found)[WIDE], Found (&all)[LEFT][ACROSS * WIDE], Found &line) {
#pragma unroll
    for (int i = 0; i < WIDE; i++) {
        found[i] = over_lanes_of<32, ACROSS>(found[i]);
        if (threadIdx.y % BELOW == 0) all[threadIdx.y / BELOW][threadIdx.x * WIDE + i] = found[i];
    }
    __syncthreads();
    int thread = threadIdx.y * ACROSS + threadIdx.x;
    if (thread >= ACROSS * WIDE) return false;
    line = all[0][thread];
    for (int k = 1; k < LEFT; k++) line = both(line, all[k][thread]);
    return true;
}
