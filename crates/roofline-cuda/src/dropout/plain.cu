// y = x * scale where the lot of an element is at least `least`, else 0: one element a thread.
//
// Grid: n / 256. Four neighbours draw the same four lots.
#include "philox.cuh"

extern "C" __global__ void dropout_plain(const Word *__restrict__ x, const int *__restrict__ seed, Word *__restrict__ y,
                                         i64 n, u32 least, float scale) {
    i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 lot[4];
    lots_of(i / 4, seed[0], seed[1], lot);
    u32 own = i % 4 == 0 ? lot[0] : i % 4 == 1 ? lot[1] : i % 4 == 2 ? lot[2] : lot[3];
    y[i] = from_float(own >= least ? to_float(x[i]) * scale : 0.0f);
}
