// z = x + y, one element a thread.
//
// Grid: n / 256. The yardstick that shows what sixteen bytes a thread are worth.
#include "element.cuh"

extern "C" __global__ void add_plain(const Word *__restrict__ x, const Word *__restrict__ y, Word *__restrict__ z,
                                     i64 n) {
    i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = from_float(to_float(x[i]) + to_float(y[i]));
}
