// z = FORMULA of x, of y where there are two inputs, and of the number s: one element a thread.
//
// Grid: n / 256. The yardstick that shows what sixteen bytes a thread are worth.
#define EXACT
#include "math.cuh"

extern "C" __global__ void elementwise_plain(const Word *__restrict__ a, const Word *__restrict__ b,
                                             Word *__restrict__ z, i64 n, float s) {
    i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = to_float(a[i]);
#if INPUTS == 2
    float y = to_float(b[i]);
#endif
    z[i] = from_float(FORMULA);
}
