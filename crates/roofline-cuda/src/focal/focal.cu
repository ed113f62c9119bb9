// The focal loss of each element, from the probability of class 1 and the class that is true: with ONE_BY_ONE one element a
// thread, else a stream of packs.
//
// Grid: elements / THREADS, or packs / THREADS.
#if ONE_BY_ONE
#define EXACT
#endif
#include "math.cuh"
#include "stream.cuh"

__device__ __forceinline__ float loss_of(float p, int t, float alpha, float gamma) {
    float own = t == 1 ? p : 1.0f - p;
    return -alpha * to_power(1.0f - own, gamma) * logf(own);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    focal(const Word *__restrict__ p, const int *__restrict__ t, Word *__restrict__ y, i64 n, float alpha, float gamma) {
#if ONE_BY_ONE
    i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = from_float(loss_of(to_float(p[i]), t[i], alpha, gamma));
#else
    const Word *const from[1] = {p};
    stream(from, y, n, [=](i64 begin, const float(&value)[1][PER_PACK], float(&result)[PER_PACK]) {
        // Classes lie beside each other, wherever: neighbours' come by the same fetch.
        int own[PER_PACK];
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) own[i] = begin + i >= 0 && begin + i < n ? t[begin + i] : 0;
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) result[i] = loss_of(value[0][i], own[i], alpha, gamma);
    });
#endif
}
