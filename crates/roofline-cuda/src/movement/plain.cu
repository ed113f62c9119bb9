// Each element from where MAP says; with ADD the second input's own element is added: one element a thread.
//
// Grid: (n / 256, outputs).
#include "maps.cuh"

extern "C" __global__ void movement_plain(const Word *__restrict__ x, const Word *__restrict__ y, Word *__restrict__ out,
                                          Word *__restrict__ other, i64 n, i64 m, i64 p, i64 q) {
    int output = blockIdx.y;
    i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x, count = output == 0 ? n : m;
    if (i >= count) return;
    From from = MAP(output, i, count, p, q);
    Word word = (from.which == 0 ? x : y)[from.index];
#if ADD
    word = from_float(to_float(word) + to_float(y[i]));
#endif
    (output == 0 ? out : other)[i] = word;
}
