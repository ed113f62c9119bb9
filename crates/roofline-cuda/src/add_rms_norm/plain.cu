// h = x + r, y = rms-norm(h) * w as the mathematics says it: one thread a row, two walks.
//
// Grid: rows / 128.
#include "element.cuh"

extern "C" __global__ void add_rms_norm_plain(const Word *__restrict__ x, const Word *__restrict__ r,
                                              const Word *__restrict__ w, Word *__restrict__ h, Word *__restrict__ y,
                                              i64 rows, i64 cols, float epsilon) {
    i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float squares = 0.0f;
    for (i64 i = row * cols; i < (row + 1) * cols; i++) {
        float sum = to_float(x[i]) + to_float(r[i]);
        squares += sum * sum;
        h[i] = from_float(sum);
    }
    float scale = 1.0f / sqrtf(squares / (float)cols + epsilon);
    for (i64 i = 0; i < cols; i++) {
        i64 at = row * cols + i;
        y[at] = from_float((to_float(x[at]) + to_float(r[at])) * scale * to_float(w[i]));
    }
}
