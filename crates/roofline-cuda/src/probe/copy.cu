// y = x, PACKS times sixteen bytes in flight a thread: what memory gives to a kernel that does nothing.
//
// Grid: packs / (THREADS * PACKS), one tile a block. Both ends lie at multiples of sixteen bytes.
#define ELEMENT_F32
#include "element.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    probe_copy(const Pack *__restrict__ x, Pack *__restrict__ y, i64 packs) {
    i64 first = (i64)blockIdx.x * (THREADS * PACKS) + threadIdx.x;
    Pack held[PACKS];
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        if (first + p * THREADS < packs) held[p] = load_pack(x + first + p * THREADS);
    }
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        if (first + p * THREADS < packs) store_whole(y + first + p * THREADS, held[p]);
    }
}
