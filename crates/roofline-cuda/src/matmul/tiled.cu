// C = A B for row-major A (m, k), B (k, n), C (m, n): tiles in shared memory, 8 x 8 elements a thread.
//
// Grid: n / 128 times m / 128, block 256, 33 KiB of shared memory. What `plain` fetches for every
// element of C comes here once for 128 of them, and a thread uses each word it takes from shared
// memory eight times. Teaching rung: the tensor cores stand idle.
#include "element.cuh"

#define TILE 128
#define DEPTH 16
#define EACH 8

extern "C" __global__ void __launch_bounds__(256) matmul_tiled(const Word *__restrict__ a, const Word *__restrict__ b,
                                                               Word *__restrict__ c, i64 m, i64 n, i64 k) {
    // Four words more a line: threads that fill a column of `left` meet different banks.
    __shared__ float left[DEPTH][TILE + 4], right[DEPTH][TILE + 4];
    u32 across = (u32)((n + TILE - 1) / TILE);
    i64 row0 = (i64)(blockIdx.x / across) * TILE, column0 = (i64)(blockIdx.x % across) * TILE;
    // A thread's rows and columns are 16 apart, so that neighbours read neighbouring words.
    int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
    float sum[EACH][EACH] = {};
    for (i64 depth = 0; depth < k; depth += DEPTH) {
#pragma unroll
        for (int i = threadIdx.x; i < TILE * DEPTH; i += 256) {
            i64 row = row0 + i / DEPTH, at = depth + i % DEPTH;
            left[i % DEPTH][i / DEPTH] = row < m && at < k ? to_float(a[row * k + at]) : 0.0f;
        }
#pragma unroll
        for (int i = threadIdx.x; i < TILE * DEPTH; i += 256) {
            i64 at = depth + i / TILE, column = column0 + i % TILE;
            right[i / TILE][i % TILE] = at < k && column < n ? to_float(b[at * n + column]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float l[EACH], r[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                l[i] = left[d][ty + 16 * i];
                r[i] = right[d][tx + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < EACH; i++) {
#pragma unroll
                for (int j = 0; j < EACH; j++) sum[i][j] = __fmaf_rn(l[i], r[j], sum[i][j]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            i64 row = row0 + ty + 16 * i, column = column0 + tx + 16 * j;
            if (row < m && column < n) c[row * n + column] = from_float(sum[i][j]);
        }
    }
}
