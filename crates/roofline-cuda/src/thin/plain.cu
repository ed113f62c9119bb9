// C = A Bᵀ as the mathematics says it: one element of C a thread.
//
// Grid: m n / 128. Neighbours in a warp are a row of B apart, so that each sixteen bytes fetched serve one thread alone.
#include "thin.cuh"

extern "C" __global__ void thin_plain(const Word *__restrict__ a, const Word *__restrict__ b,
                                      const float *row_scales, const float *column_scales, Out *__restrict__ c, i64 m,
                                      i64 n, i64 k) {
    i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= m * n) return;
    i64 row = at / n, column = at % n;
    Sum sum = 0;
    for (i64 i = 0; i < k; i++) {
#if defined(ELEMENT_I8)
        sum += a[row * k + i] * b[column * k + i];
#else
        sum = __fmaf_rn(to_float(a[row * k + i]), to_float(b[column * k + i]), sum);
#endif
    }
    c[at] = result_of(sum, Scales{row_scales, column_scales}, row, column);
}
