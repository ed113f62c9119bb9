// rms-norm as the mathematics says it: one thread a row, two walks.
//
// Grid: rows / 128. Neighbours in a warp are a row apart, so that each sixteen bytes fetched serve
// one thread alone.
#include "element.cuh"

extern "C" __global__ void rms_norm_plain(const Word *__restrict__ x, const Word *__restrict__ w,
                                          Word *__restrict__ y, i64 rows, i64 cols, float epsilon) {
    i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * cols;
    y += row * cols;
    float squares = 0.0f;
    for (i64 i = 0; i < cols; i++) squares += to_float(x[i]) * to_float(x[i]);
    float scale = 1.0f / sqrtf(squares / (float)cols + epsilon);
    for (i64 i = 0; i < cols; i++) y[i] = from_float(to_float(x[i]) * scale * to_float(w[i]));
}
