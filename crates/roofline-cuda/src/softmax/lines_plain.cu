// Softmax along the middle dimension of a tensor [outer, length, inner], or with LOG its logarithm: one thread a line, three
// walks.
//
// Grid: outer * inner / 128. Neighbours have neighbouring lines: where inner is long, each fetch serves all of them.
#include "exp.cuh"

extern "C" __global__ void softmax_lines_plain(const Word *__restrict__ x, Word *__restrict__ y, i64 outer, i64 length,
                                               i64 inner) {
    i64 line = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= outer * inner) return;
    i64 first = line / inner * length * inner + line % inner;
    float largest = __uint_as_float(0xff800000u), sum = 0.0f;
    for (i64 i = 0; i < length; i++) largest = fmaxf(largest, to_float(x[first + i * inner]));
    for (i64 i = 0; i < length; i++) sum += exp_of(to_float(x[first + i * inner]) - largest);
    for (i64 i = 0; i < length; i++) {
        i64 at = first + i * inner;
        float below = to_float(x[at]) - largest;
        y[at] = from_float(LOG ? below - logf(sum) : exp_of(below) / sum);
    }
}
