// RoPE with the cosines and sines of POSITIONS positions in shared memory: computed or read once, used by all heads.
//
// Grid: seq / POSITIONS, block of THREADS. A frequency is computed once for all positions of a block. WHOLE: packs of
// sixteen bytes lie inside halves of heads (or of pairs), and at multiples of sixteen; otherwise pairs go one by one.
#include "rope.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    rope_shared(const Word *__restrict__ x, const int *__restrict__ positions, const float *__restrict__ cosines,
                const float *__restrict__ sines, Word *__restrict__ y, i64 seq, i64 heads, i64 dim, i64 cached,
                double base) {
    extern __shared__ float turns[];
    i64 first = (i64)blockIdx.x * POSITIONS;
    int half = (int)dim / 2, count = (int)(seq - first < POSITIONS ? seq - first : POSITIONS);
    float *cosine = turns, *sine = turns + POSITIONS * half;
    for (int i = threadIdx.x; i < half; i += THREADS) {
        double each = -1.0;
        for (int p = 0; p < count; p++) {
            i64 position = positions[first + p];
            if (position >= 0 && position < cached) {
                cosine[p * half + i] = cosines[position * half + i];
                sine[p * half + i] = sines[position * half + i];
            } else {
                if (each < 0.0) each = frequency(base, i, (int)dim);
                turn_of(position * each, cosine[p * half + i], sine[p * half + i]);
            }
        }
    }
    __syncthreads();
    x += first * heads * dim;
    y += first * heads * dim;
#if WHOLE && INTERLEAVED
    // A pack is PER_PACK / 2 pairs.
    i64 packs_of_head = dim / PER_PACK, packs = count * heads * packs_of_head;
    for (i64 at = threadIdx.x; at < packs; at += THREADS) {
        int head = (int)(at / packs_of_head), i = (int)(at % packs_of_head) * (PER_PACK / 2), p = head / (int)heads;
        float value[PER_PACK];
        unpack(load_pack(x + at * PER_PACK), value);
#pragma unroll
        for (int k = 0; k < PER_PACK / 2; k++) {
            turn(value[2 * k], value[2 * k + 1], cosine[p * half + i + k], sine[p * half + i + k]);
        }
        store_whole(y + at * PER_PACK, pack(value));
    }
#elif WHOLE
    // A pack of the first half, and that of the second beside it.
    int packs_of_half = half / PER_PACK;
    i64 packs = count * heads * packs_of_half;
    for (i64 at = threadIdx.x; at < packs; at += THREADS) {
        int head = (int)(at / packs_of_half), i = (int)(at % packs_of_half) * PER_PACK, p = head / (int)heads;
        i64 from = head * dim + i;
        float a[PER_PACK], b[PER_PACK];
        Pack low = load_pack(x + from), high = load_pack(x + from + half);
        unpack(low, a);
        unpack(high, b);
#pragma unroll
        for (int k = 0; k < PER_PACK; k++) turn(a[k], b[k], cosine[p * half + i + k], sine[p * half + i + k]);
        store_whole(y + from, pack(a));
        store_whole(y + from + half, pack(b));
    }
#else
    i64 pairs = count * heads * half;
    for (i64 at = threadIdx.x; at < pairs; at += THREADS) {
        int head = (int)(at / half), i = (int)(at % half), p = head / (int)heads;
        i64 one = head * dim + (INTERLEAVED ? 2 * i : i), other = INTERLEAVED ? one + 1 : one + half;
        float a = to_float(x[one]), b = to_float(x[other]);
        turn(a, b, cosine[p * half + i], sine[p * half + i]);
        y[one] = from_float(a);
        y[other] = from_float(b);
    }
#endif
}
