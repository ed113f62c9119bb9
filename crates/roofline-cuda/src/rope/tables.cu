// The tables that cached forms of rope read: cosine and sine of every pair's angle, for each of some positions.
//
// Grid: pairs of a head / THREADS, positions / POSITIONS. A thread has a pair, of which it computes the frequency once, and
// POSITIONS positions.
#include "rope.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    rope_tables(const int *__restrict__ positions, Word *__restrict__ cosines, Word *__restrict__ sines, i64 seq, i64 dim,
                double base) {
    i64 half = dim / 2, tiles = (half + THREADS - 1) / THREADS, first = blockIdx.x / tiles * POSITIONS;
    i64 i = blockIdx.x % tiles * THREADS + threadIdx.x;
    if (i >= half) return;
    double each = frequency(base, (int)i, (int)dim);
    for (i64 p = first; p < first + POSITIONS && p < seq; p++) {
        float cosine, sine;
        turn_of(positions[p] * each, cosine, sine);
        cosines[p * half + i] = from_float(cosine);
        sines[p * half + i] = from_float(sine);
    }
}
