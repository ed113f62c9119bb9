// z = x + y, PACKS times sixteen bytes of each input in flight a thread.
//
// Grid: packs / (THREADS * PACKS), one tile a block. z is cut at multiples of sixteen bytes and its
// two ends are taken element by element. An input that does not lie as z does is read element by
// element, too: right for any address, fast for those that allocators give.
#include "element.cuh"

__device__ __forceinline__ Pack load_apart(const Word *from) {
    Pack held = {};
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) put_word(held, i, from[i]);
    return held;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    add_stream(const Word *__restrict__ x, const Word *__restrict__ y, Word *__restrict__ z, i64 n) {
    int phase = phase_of(z);
    bool x_lies = phase_of(x) == phase, y_lies = phase_of(y) == phase;
    i64 tile = (i64)blockIdx.x * (THREADS * PACKS);
    Pack a[PACKS], b[PACKS];
    i64 begin[PACKS];
    bool whole[PACKS];
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        begin[p] = (tile + p * THREADS + threadIdx.x) * PER_PACK - phase;
        whole[p] = begin[p] >= 0 && begin[p] + PER_PACK <= n;
        if (whole[p]) {
            a[p] = x_lies ? load_pack(x + begin[p]) : load_apart(x + begin[p]);
            b[p] = y_lies ? load_pack(y + begin[p]) : load_apart(y + begin[p]);
        }
    }
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        if (whole[p]) {
            float left[PER_PACK], right[PER_PACK];
            unpack(a[p], left);
            unpack(b[p], right);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) left[i] += right[i];
            store_whole(z + begin[p], pack(left));
        } else {
            for (i64 i = begin[p] < 0 ? 0 : begin[p]; i < begin[p] + PER_PACK && i < n; i++) {
                z[i] = from_float(to_float(x[i]) + to_float(y[i]));
            }
        }
    }
}
