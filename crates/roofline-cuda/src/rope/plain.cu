// RoPE as the mathematics says it: one pair a thread, each with an angle of its own.
//
// Grid: seq * heads * dim / 2 / 128. Tables of `cached` positions are read where there are some.
#include "rope.cuh"

extern "C" __global__ void rope_plain(const Word *__restrict__ x, const int *__restrict__ positions,
                                      const float *__restrict__ cosines, const float *__restrict__ sines,
                                      Word *__restrict__ y, i64 seq, i64 heads, i64 dim, i64 cached, double base) {
    i64 pair = (i64)blockIdx.x * blockDim.x + threadIdx.x, half = dim / 2;
    if (pair >= seq * heads * half) return;
    i64 head = pair / half, i = pair % half, position = positions[head / heads];
    float cosine, sine;
    if (position >= 0 && position < cached) {
        cosine = cosines[position * half + i];
        sine = sines[position * half + i];
    } else {
        turn_of(position * frequency(base, (int)i, (int)dim), cosine, sine);
    }
    i64 first = head * dim + (INTERLEAVED ? 2 * i : i), second = INTERLEAVED ? first + 1 : first + half;
    float a = to_float(x[first]), b = to_float(x[second]);
    turn(a, b, cosine, sine);
    y[first] = from_float(a);
    y[second] = from_float(b);
}
