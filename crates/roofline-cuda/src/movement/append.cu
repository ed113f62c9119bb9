// New keys and values into the slots of a cache, whose other slots stay what they are: with ONE_BY_ONE one element a thread,
// else sixteen bytes, shifted where they must be.
//
// Grid: (elements or packs of all new lines / THREADS, keys and values). A line is all heads of a slot; it is cut at multiples
// of sixteen bytes of the cache.
#include "stream.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    kv_append(const Word *__restrict__ keys, const Word *__restrict__ values, const int *__restrict__ slots,
              Word *__restrict__ key_cache, Word *__restrict__ value_cache, i64 seq, i64 count, i64 line) {
    const Word *from = blockIdx.y == 0 ? keys : values;
    Word *to = blockIdx.y == 0 ? key_cache : value_cache;
    // A line that begins inside a pack can touch one more.
    i64 of_line = ONE_BY_ONE ? line : (line + PER_PACK - 1) / PER_PACK + 1, at;
    i64 row = divide((i64)blockIdx.x * THREADS + threadIdx.x, of_line, at);
    if (row >= seq || (u32)slots[row] >= (u32)count) return;
    from += row * line;
    to += slots[row] * line;
#if ONE_BY_ONE
    to[at] = from[at];
#else
    i64 begin = at * PER_PACK - phase_of(to);
    if (begin >= line) return;
    store_at(to, begin, line, load_at(from, begin, line, phase_of(from) == phase_of(to)));
#endif
}
