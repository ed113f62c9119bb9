// y = x * scale where the lot of an element is at least `least`, else 0: a stream of packs, lots drawn once.
//
// Grid: packs / (THREADS * PACKS). Packs are cut by address and lots by number: where the two do not meet, a pack draws one
// block of lots more, and its lots are shifted into place.
#include "philox.cuh"
#include "stream.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    dropout_stream(const Word *__restrict__ x, const int *__restrict__ seed, Word *__restrict__ y, i64 n, u32 least,
                   float scale) {
    u32 key = seed[0], offset = seed[1];
    const Word *const from[1] = {x};
    stream(from, y, n, [=](i64 begin, const float(&value)[1][PER_PACK], float(&result)[PER_PACK]) {
        u32 lot[PER_PACK + 4];
        int lead = (int)(begin & 3);
#pragma unroll
        for (int block = 0; block <= PER_PACK / 4; block++) {
            u32 four[4] = {};
            if (block < PER_PACK / 4 || lead != 0) lots_of((begin >> 2) + block, key, offset, four);
#pragma unroll
            for (int i = 0; i < 4; i++) lot[4 * block + i] = four[i];
        }
#pragma unroll
        for (int i = 0; i < PER_PACK + 2; i++) lot[i] = lead & 2 ? lot[i + 2] : lot[i];
#pragma unroll
        for (int i = 0; i < PER_PACK + 1; i++) lot[i] = lead & 1 ? lot[i + 1] : lot[i];
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) result[i] = lot[i] >= least ? value[0][i] * scale : 0.0f;
    });
}
