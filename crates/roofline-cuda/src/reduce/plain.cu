// One number for each line of a tensor [outer, length, inner]: a block a line, then a tree.
//
// Grid: outer * inner. Where inner is not 1, neighbours read elements that lie apart.
#define EXACT
#include "found.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    reduce_plain(const Word *__restrict__ a, const Word *__restrict__ b, Word *__restrict__ out, u32 *scratch, i64 outer,
                 i64 length, i64 inner) {
    i64 line = blockIdx.x, first = line / inner * length * inner + line % inner;
    Found found = nothing();
    for (i64 i = threadIdx.x; i < length; i += THREADS) {
        float x = to_float(a[first + i * inner]);
#if INPUTS == 2
        float y = to_float(b[first + i * inner]);
#endif
        float term[1] = {TERM};
        take(found, term);
    }
    __shared__ Found all[THREADS];
    all[threadIdx.x] = found;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) all[threadIdx.x] = both(all[threadIdx.x], all[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) out[line] = result_of(all[0], length);
}
