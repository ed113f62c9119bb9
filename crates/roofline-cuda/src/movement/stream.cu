// Each element from where MAP says; with ADD the second input's own element is added: a stream of packs.
//
// Grid: (packs / (THREADS * PACKS), outputs). A pack whose elements lie beside each other in their input is read in whole
// packs, shifted where it begins inside one; others are put together element by element. Inputs have `a` and `b` elements.
#include "maps.cuh"
#include "stream.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    movement_stream(const Word *__restrict__ x, const Word *__restrict__ y, Word *__restrict__ out,
                    Word *__restrict__ other, i64 n, i64 m, i64 p, i64 q, i64 a, i64 b) {
    int output = blockIdx.y;
    i64 count = output == 0 ? n : m;
    Word *to = output == 0 ? out : other;
#pragma unroll
    for (int k = 0; k < PACKS; k++) {
        i64 begin = begin_at(to, k);
        if (begin >= count) continue;
        Pack held = {};
        From first = MAP(output, begin < 0 ? 0 : begin, count, p, q);
        if (begin >= 0 && first.run >= PER_PACK && begin + PER_PACK <= count) {
            const Word *from = first.which == 0 ? x : y;
            held = load_at(from, first.index, first.which == 0 ? a : b, phase_of(from + first.index) == 0);
        } else {
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) {
                if (begin + i < 0 || begin + i >= count) continue;
                From each = MAP(output, begin + i, count, p, q);
                put_word(held, i, (each.which == 0 ? x : y)[each.index]);
            }
        }
#if ADD
        float left[PER_PACK], right[PER_PACK];
        unpack(held, left);
        unpack(load_at(y, begin, count, phase_of(y) == phase_of(to)), right);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) left[i] += right[i];
        held = pack(left);
#endif
        store_at(to, begin, count, held);
    }
}
