// Y = X Wᵀ for at most eight rows of X in half precision and weights of four bits in groups: every byte of W is read once,
// and the matrix unit multiplies.
//
// Grid: n / (8 TILES), WARPS warps a block. The lanes of a warp are eight rows of W times four packs of 32 codes along k,
// which lie in one group, and each holds TILES times UNROLL packs in flight. A code becomes a number of half precision without
// rounding: its bits are the last digits of 2^7 or 2^10, from which the same and the code of zero are taken. Scales meet the
// sums of 128 products. The warps of a block have parts of k in turns, and add up in their order.
#define BITS 0
#define RAW 0
#include "matrix.cuh"
#include "coded.cuh"

#define STEP 128
#if defined(ELEMENT_BF16)
#define BASE 0x4300u
#define ONES 0x3f803f80u
#else
#define BASE 0x6400u
#define ONES 0x3c003c00u
#endif

// Two codes, in the low digits of both halves of a word, without that of zero: `base` is −(BASE + zero) twice.
__device__ __forceinline__ u32 numbers_of(u32 codes, u32 base) {
    u32 both = (codes & 0x000f000fu) | (BASE << 16 | BASE);
#if defined(ELEMENT_BF16)
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(both) : "r"(both), "r"(ONES), "r"(base));
#else
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(both) : "r"(both), "r"(ONES), "r"(base));
#endif
    return both;
}

// −(BASE + zero), for both halves of a word: the last digit of BASE counts one.
__device__ __forceinline__ u32 base_of(unsigned char zero) {
    u32 half = 0x8000u | (BASE + zero);
    return half << 16 | half;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
    thin_grouped(const Word *__restrict__ x, const unsigned char *__restrict__ codes,
                 const unsigned short *__restrict__ scales, const unsigned char *__restrict__ zeros, Word *__restrict__ y,
                 i64 m, i64 n, i64 k, i64 shared) {
    __shared__ float found[WARPS][TILES][8][8];
    Weights w = {codes, scales, zeros, n, k, shared};
    int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, lane = threadIdx.x % 4;
    i64 bytes = (k + 1) / 2, groups = parts_of(w), first = (i64)blockIdx.x * (8 * TILES);
    const unsigned char *end = codes + n * bytes;
    const Word *row = x + row_of(group, m) * k;
    float sum[TILES][2] = {};
    for (i64 begin = (i64)warp * STEP * UNROLL; begin < k; begin += WARPS * STEP * UNROLL) {
        Pack held[UNROLL][TILES];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            i64 at = begin + u * STEP + lane * 32;
#pragma unroll
            for (int j = 0; j < TILES; j++) {
                const unsigned char *from = codes + row_of(first + 8 * j + group, n) * bytes + at / 2;
                held[u][j] = at < k ? load_bytes(from, codes, end) : Pack{};
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            i64 at = begin + u * STEP, of_group = at / shared;
            if (at >= k) break;
            // Elements that stand as codes do: those beside each other in a word are four apart.
            u32 value[4][4];
#pragma unroll
            for (int p = 0; p < 4; p++) {
                Pack own = load_part(row, at + lane * 32 + p * PER_PACK, k);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    value[p][i] = __byte_perm(own.word[i / 2], own.word[2 + i / 2], i % 2 ? 0x7632 : 0x5410);
                }
            }
#pragma unroll
            for (int j = 0; j < TILES; j++) {
                i64 own = row_of(first + 8 * j + group, n) * groups + of_group;
                u32 base = base_of(zeros[own]);
                float part[2] = {};
#pragma unroll
                for (int p = 0; p < 4; p++) {
                    u32 pack = held[u][j].word[p];
                    multiply_words(part, value[p][0], value[p][1], numbers_of(pack, base), numbers_of(pack >> 4, base));
                    multiply_words(part, value[p][2], value[p][3], numbers_of(pack >> 8, base), numbers_of(pack >> 12, base));
                }
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    float scale = to_float(scales[row_of(first + 8 * j + 2 * lane + i, n) * groups + of_group]);
                    sum[j][i] = __fmaf_rn(scale, part[i], sum[j][i]);
                }
            }
        }
    }
#pragma unroll
    for (int j = 0; j < TILES; j++) {
#pragma unroll
        for (int i = 0; i < 2; i++) found[warp][j][group][2 * lane + i] = sum[j][i];
    }
    put_together(found, y, m, n);
}
