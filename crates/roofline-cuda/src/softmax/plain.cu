// Softmax as the mathematics says it, or with LOG its logarithm: one thread a row, three walks. With MASKED a row
// that is all minus infinity is 0 throughout.
//
// Grid: rows / 128. Three reads of a row, all but the first from a cache where it fits; neighbours
// in a warp are a row apart, so that each sixteen bytes fetched serve one thread alone.
#include "exp.cuh"

extern "C" __global__ void softmax_plain(const Word *__restrict__ x, Word *__restrict__ y, i64 rows, i64 cols) {
    i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * cols;
    y += row * cols;
    float largest = __uint_as_float(0xff800000u);
    for (i64 i = 0; i < cols; i++) largest = fmaxf(largest, to_float(x[i]));
    float sum = 0.0f, base = MASKED ? base_of(largest) : largest;
    for (i64 i = 0; i < cols; i++) sum += exp_of(to_float(x[i]) - base);
    for (i64 i = 0; i < cols; i++) {
        float below = to_float(x[i]) - base, share = MASKED && sum == 0.0f ? 0.0f : exp_of(below) / sum;
        y[i] = from_float(LOG ? below - logf(sum) : share);
    }
}
