// Cross-entropy as the mathematics says it: one thread a row, two walks over its logits.
//
// Grid: rows / 128. Neighbours in a warp are a row apart, so that each sixteen bytes fetched serve
// one thread alone.
#include "exp.cuh"

extern "C" __global__ void cross_entropy_plain(const Word *__restrict__ x, const i64 *__restrict__ target,
                                               float *__restrict__ loss, i64 rows, i64 cols) {
    i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * cols;
    float largest = __uint_as_float(0xff800000u), sum = 0.0f;
    for (i64 i = 0; i < cols; i++) largest = fmaxf(largest, to_float(x[i]));
    for (i64 i = 0; i < cols; i++) sum += exp_of(to_float(x[i]) - largest);
    // A target that names no column has no logit.
    bool named = target[row] >= 0 && target[row] < cols;
    float logit = named ? to_float(x[target[row]]) : __uint_as_float(0x7fc00000u);
    loss[row] = (largest - logit) + logf(sum);
}
