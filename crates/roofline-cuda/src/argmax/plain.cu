// Where the maximum of each line of a tensor [outer, length, inner] stands, the first one; of a line with a NaN that NaN: one
// thread a line.
//
// Grid: outer * inner / 128. Neighbours have neighbouring lines: where inner is long, each fetch serves all of them.
#include "element.cuh"

extern "C" __global__ void argmax_plain(const Word *__restrict__ x, int *__restrict__ y, i64 outer, i64 length, i64 inner) {
    i64 line = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= outer * inner) return;
    i64 first = line / inner * length * inner + line % inner;
    float most = to_float(x[first]);
    int at = 0;
    for (i64 i = 1; i < length; i++) {
        float own = to_float(x[first + i * inner]);
        if (own > most || (own != own && most == most)) {
            most = own;
            at = (int)i;
        }
    }
    y[line] = at;
}
