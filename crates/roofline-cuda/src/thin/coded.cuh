// What thin products with weights in codes share: what a code stands for, and how parts of a sum are put together.
//
// With BITS 8 or 4 a row of W is whole blocks of 32 codes with a scale in f16, apart or with RAW right before the codes. A
// block of four bits has the codes of elements i and i + 16 in byte i, and 8 in the middle. With BITS 0 two neighbours of a
// row share a byte, and groups of `shared` elements have a scale of the type of X and a code of zero.
#pragma once
#include "element.cuh"

#define BLOCK 32
#define CODE_BYTES (BITS == 4 ? 16 : 32)
#define BLOCK_BYTES (CODE_BYTES + (RAW ? 2 : 0))

struct Weights {
    const unsigned char *codes;
    // In f16 or of the type of X; with RAW there are none but those among the codes.
    const unsigned short *scales;
    const unsigned char *zeros;
    i64 n, k, shared;
};

// Blocks or groups of a row.
__device__ __forceinline__ i64 parts_of(const Weights &w) {
    return BITS ? (w.k + BLOCK - 1) / BLOCK : (w.k + w.shared - 1) / w.shared;
}

// The scale of block `part` of all rows.
__device__ __forceinline__ float block_scale(const Weights &w, i64 part) {
#if RAW
    const unsigned char *at = w.codes + part * BLOCK_BYTES;
    return half_value((unsigned short)(at[0] | at[1] << 8));
#else
    return half_value(w.scales[part]);
#endif
}

__device__ __forceinline__ const unsigned char *block_codes(const Weights &w, i64 part) {
    return w.codes + part * BLOCK_BYTES + (RAW ? 2 : 0);
}

// Sixteen bytes from anywhere, of which those outside `begin` to `end` are 0.
__device__ __forceinline__ Pack load_bytes(const unsigned char *from, const unsigned char *begin, const unsigned char *end) {
#if ALIGNED
    return from + 16 <= end ? load_pack(from) : Pack{};
#else
    // What is fetched around them is the tensor's, too.
    if (from - begin >= 16 && end - from >= 32) return load_across(from);
    Pack held = {};
#pragma unroll
    for (int i = 0; i < 16; i++) {
        if (from + i < end) held.word[i / 4] |= (u32)from[i] << (i % 4 * 8);
    }
    return held;
#endif
}

// Elements `at` and up of a row of X, with zeros behind it.
__device__ __forceinline__ Pack load_part(const Word *row, i64 at, i64 k) {
#if ALIGNED_X
    return at < k ? load_pack(row + at) : Pack{};
#else
    // Between its first pack and its last, what is fetched around them is the row's, too.
    if (at >= PER_PACK && at + 2 * PER_PACK <= k) return load_across(row + at);
    Pack held = {};
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) {
        if (at + i < k) put_word(held, i, row[at + i]);
    }
    return held;
#endif
}

// Rows beyond the last are the last one once more: what comes of them goes nowhere.
__device__ __forceinline__ i64 row_of(i64 row, i64 rows) {
    return row < rows ? row : rows - 1;
}

#if defined(WARPS)
// What the warps of a block found, by eights of rows of W, rows of X and rows of W: added up in their order, and written.
__device__ __forceinline__ void put_together(const float (&found)[WARPS][TILES][8][8], Word *y, i64 m, i64 n) {
    i64 first = (i64)blockIdx.x * (8 * TILES);
    __syncthreads();
    for (int i = threadIdx.x; i < (int)m * 8 * TILES; i += 32 * WARPS) {
        int row = i / (8 * TILES), column = i % (8 * TILES);
        if (first + column >= n) continue;
        float all = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS; w++) all += found[w][column / 8][row][column % 8];
        y[row * n + first + column] = from_float(all);
    }
}
#endif
