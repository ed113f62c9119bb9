// C = A B for row-major A (m, k), B (k, n), C (m, n): one element of C a thread.
//
// Grid: n / 32 times m / 8, block (32, 8). Each element of A and B is fetched once for every thread
// that needs it; only the caches know that neighbours share them.
#include "element.cuh"

extern "C" __global__ void matmul_plain(const Word *__restrict__ a, const Word *__restrict__ b, Word *__restrict__ c,
                                        i64 m, i64 n, i64 k) {
    u32 across = (u32)((n + 31) / 32);
    i64 column = (i64)(blockIdx.x % across) * 32 + threadIdx.x, row = (i64)(blockIdx.x / across) * 8 + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (i64 i = 0; i < k; i++) sum = __fmaf_rn(to_float(a[row * k + i]), to_float(b[i * n + column]), sum);
    c[row * n + column] = from_float(sum);
}
