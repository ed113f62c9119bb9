// z = FORMULA of x, of y where there are two inputs, and of the number s: a stream of packs.
//
// Grid: packs / (THREADS * PACKS), one tile a block.
#include "math.cuh"
#include "stream.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    elementwise_stream(const Word *__restrict__ a, const Word *__restrict__ b, Word *__restrict__ z, i64 n, float s) {
#if INPUTS == 2
    const Word *const from[2] = {a, b};
#else
    const Word *const from[1] = {a};
#endif
    stream(from, z, n, [s](i64, const float(&value)[INPUTS][PER_PACK], float(&result)[PER_PACK]) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            float x = value[0][i];
#if INPUTS == 2
            float y = value[1][i];
#endif
            result[i] = FORMULA;
        }
    });
}
