// layer-norm as the mathematics says it: one thread a row, three walks. See `finish.cuh` for its forms.
//
// Grid: rows / 128. Neighbours in a warp are a row apart, so that each sixteen bytes fetched serve
// one thread alone.
#define EXACT
#include "finish.cuh"

extern "C" __global__ void layer_norm_plain(const Word *__restrict__ x, const Word *__restrict__ w,
                                            const Word *__restrict__ b, Word *__restrict__ y, i64 rows, i64 cols,
                                            float epsilon) {
    i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * cols;
    y += row * cols;
    float sum = 0.0f, squares = 0.0f;
    for (i64 i = 0; i < cols; i++) sum += to_float(x[i]);
    float mean = sum / (float)cols;
    for (i64 i = 0; i < cols; i++) squares += (to_float(x[i]) - mean) * (to_float(x[i]) - mean);
    float scale = 1.0f / sqrtf(squares / (float)cols + epsilon);
    for (i64 i = 0; i < cols; i++) {
        float normed = (to_float(x[i]) - mean) * scale;
        y[i] = from_float(finish(normed, AFFINE ? to_float(w[i]) : 1.0f, AFFINE ? to_float(b[i]) : 0.0f));
    }
}
