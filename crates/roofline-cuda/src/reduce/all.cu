// One number of all elements, of one or two tensors: as many blocks as the device holds walk through them, and the last
// one to finish puts together what all found.
//
// Grid: at most so many blocks as the scratch has room for. PACKS times sixteen bytes of each input are in flight a thread.
#include "found.cuh"
#include "stream.cuh"
#include "together.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    reduce_all(const Word *__restrict__ a, const Word *__restrict__ b, Word *__restrict__ out, u32 *scratch, i64 outer,
               i64 length, i64 inner) {
    Found found = nothing();
    i64 step = (i64)gridDim.x * (THREADS * PACKS * PER_PACK);
    // `begin_at` is where the first tile's packs begin.
    for (i64 before = 0; begin_at(a, 0) + before < length; before += step) {
        Pack left[PACKS];
#if INPUTS == 2
        Pack right[PACKS];
#endif
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            left[p] = load_at(a, begin_at(a, p) + before, length, true);
#if INPUTS == 2
            right[p] = load_at(b, begin_at(a, p) + before, length, phase_of(b) == phase_of(a));
#endif
        }
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            i64 begin = begin_at(a, p) + before;
            float xs[PER_PACK], term[PER_PACK];
            unpack(left[p], xs);
#if INPUTS == 2
            float ys[PER_PACK];
            unpack(right[p], ys);
#endif
            bool whole = begin >= 0 && begin + PER_PACK <= length;
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) {
                float x = xs[i];
#if INPUTS == 2
                float y = ys[i];
#endif
                term[i] = whole || (begin + i >= 0 && begin + i < length) ? TERM : NO_TERM;
            }
            take(found, term);
        }
    }
    found = over_block_of<THREADS>(found);
    float mine[2] = {found.most, found.sum};
    if (!leave_and_is_last(scratch, mine)) return;
    found = nothing();
    for (u32 block = threadIdx.x; block < gridDim.x; block += THREADS) {
        found = both(found, Found{*left_by(scratch, 0, block), *left_by(scratch, 1, block)});
    }
    found = over_block_of<THREADS>(found);
    if (threadIdx.x == 0) out[0] = result_of(found, length);
}
