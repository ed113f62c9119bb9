// Y = X Wᵀ for at most eight rows of X in f32 and weights in blocks: every byte of W is read once.
//
// Grid: n / (8 TILES), WARPS warps a block. The lanes of a warp are eight rows of W times four blocks along k, and each holds
// TILES times UNROLL blocks in flight; it multiplies them with ROWS rows of X, and applies a scale to the sum of its block.
// The warps of a block have parts of k in turns, and add up in their order.
#include "coded.cuh"

#define PACKS (BITS == 8 ? 2 : 1)
#define CHUNK (4 * UNROLL)

// Codes 4 p to 4 p + 3 of a block.
__device__ __forceinline__ void decode(const Pack (&held)[PACKS], int p, float (&value)[4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
#if BITS == 8
        value[i] = (float)(signed char)(held[p / 4].word[p % 4] >> (8 * i));
#else
        // 2^23 and a code in its last digits, without the former and 8.
        u32 code = held[0].word[p % 4] >> (8 * i + p / 4 * 4) & 15u;
        value[i] = __uint_as_float(0x4b000000u | code) - 8388616.0f;
#endif
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
    thin_coded(const Word *__restrict__ x, const unsigned char *__restrict__ codes,
               const unsigned short *__restrict__ scales, const unsigned char *__restrict__ zeros, Word *__restrict__ y,
               i64 m, i64 n, i64 k, i64 shared) {
    __shared__ float found[WARPS][TILES][8][8];
    Weights w = {codes, scales, zeros, n, k, shared};
    int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, lane = threadIdx.x % 4, blocks = (int)parts_of(w);
    const unsigned char *end = codes + n * blocks * BLOCK_BYTES;
    i64 row[TILES];
#pragma unroll
    for (int j = 0; j < TILES; j++) row[j] = row_of((i64)blockIdx.x * (8 * TILES) + 8 * j + group, n) * blocks;
    float sum[TILES][ROWS] = {};
    for (int begin = warp * CHUNK; begin < blocks; begin += WARPS * CHUNK) {
        Pack held[UNROLL][TILES][PACKS];
        float scale[UNROLL][TILES];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            int block = begin + 4 * u + lane;
#pragma unroll
            for (int j = 0; j < TILES; j++) {
                scale[u][j] = block < blocks ? block_scale(w, row[j] + block) : 0.0f;
#pragma unroll
                for (int p = 0; p < PACKS; p++) {
                    held[u][j][p] = block < blocks ? load_bytes(block_codes(w, row[j] + block) + 16 * p, codes, end) : Pack{};
                }
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            i64 at = (i64)(begin + 4 * u + lane) * BLOCK;
            float part[TILES][ROWS] = {};
#pragma unroll
            for (int p = 0; p < BLOCK / PER_PACK; p++) {
                float weight[TILES][4];
#pragma unroll
                for (int j = 0; j < TILES; j++) decode(held[u][j], p, weight[j]);
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    float value[PER_PACK];
                    unpack(load_part(x + row_of(r, m) * k, at + PER_PACK * p, k), value);
#pragma unroll
                    for (int j = 0; j < TILES; j++) {
#pragma unroll
                        for (int i = 0; i < PER_PACK; i++) part[j][r] = __fmaf_rn(value[i], weight[j][i], part[j][r]);
                    }
                }
                // X of many rows is fetched no further ahead: there are no registers for more.
                if (ROWS >= 4) __syncwarp();
            }
#pragma unroll
            for (int j = 0; j < TILES; j++) {
#pragma unroll
                for (int r = 0; r < ROWS; r++) sum[j][r] = __fmaf_rn(scale[u][j], part[j][r], sum[j][r]);
            }
        }
    }
#pragma unroll
    for (int j = 0; j < TILES; j++) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float value = sum[j][r];
            value += __shfl_xor_sync(0xffffffffu, value, 1);
            value += __shfl_xor_sync(0xffffffffu, value, 2);
            if (lane == 0) found[warp][j][r][group] = value;
        }
    }
    put_together(found, y, m, n);
}
