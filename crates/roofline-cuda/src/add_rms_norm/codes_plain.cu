// h = x + r, and rms-norm(h) * w as codes with a scale of each row: one thread a row, three walks.
//
// Grid: rows / 128.
#define THREADS 128
#define PACKS 1
#define ROWS 1
#define CLUSTER 1
#define ALIGNED 0
#include "norm_codes.cuh"

extern "C" __global__ void add_rms_norm_codes_plain(const Word *__restrict__ x, const Word *__restrict__ r,
                                                    const Word *__restrict__ w, Word *__restrict__ h,
                                                    unsigned char *__restrict__ q, float *__restrict__ s, i64 rows, i64 cols,
                                                    float epsilon) {
    i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float squares = 0.0f, most = 0.0f;
    for (i64 i = row * cols; i < (row + 1) * cols; i++) {
        float sum = to_float(x[i]) + to_float(r[i]);
        squares += sum * sum;
        h[i] = from_float(sum);
    }
    float scale = 1.0f / sqrtf(squares / (float)cols + epsilon);
    // Of sums as they are, not as they are written: a code next to the right one is a wrong one.
    auto normed = [&](i64 i) {
        i64 at = row * cols + i;
        return (to_float(x[at]) + to_float(r[at])) * scale * to_float(w[i]);
    };
    for (i64 i = 0; i < cols; i++) most = fmaxf(most, fabsf(normed(i)));
    s[row] = scale_of(most);
    for (i64 i = 0; i < cols; i++) q[row * cols + i] = code_of(normed(i), s[row]);
}
