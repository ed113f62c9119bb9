// rms-norm as the mathematics says it: one thread a row, two walks; with GEMMA of 1 + w, with SIDES of two tensors.
//
// Grid: (rows / 128, SIDES). Neighbours in a warp are a row apart, so that each sixteen bytes fetched serve
// one thread alone.
#include "rms.cuh"

extern "C" __global__ void rms_norm_plain(const Word *__restrict__ x, const Word *__restrict__ w,
                                          Word *__restrict__ y, const Word *__restrict__ x2, const Word *__restrict__ w2,
                                          Word *__restrict__ y2, i64 rows, i64 cols, float epsilon) {
    if (SIDES == 2 && blockIdx.y == 1) {
        x = x2;
        w = w2;
        y = y2;
    }
    i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * cols;
    y += row * cols;
    float squares = 0.0f;
    for (i64 i = 0; i < cols; i++) squares += to_float(x[i]) * to_float(x[i]);
    float scale = 1.0f / sqrtf(squares / (float)cols + epsilon);
    for (i64 i = 0; i < cols; i++) y[i] = from_float(to_float(x[i]) * scale * weight_of(to_float(w[i])));
}
