// Rows of a table by their numbers: a pack of the result a thread, or with ONE_BY_ONE an element.
//
// Grid: packs / THREADS. A pack inside a row is read in whole packs, shifted where it begins inside one; others are put
// together element by element. A number that no row has names the last one: no other memory is read.
#include "stream.cuh"

__device__ __forceinline__ i64 row_of(const int *numbers, i64 at, i64 table) {
    i64 number = numbers[at];
    return number >= 0 && number < table ? number : table - 1;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    embedding(const Word *__restrict__ x, const int *__restrict__ numbers, Word *__restrict__ y, i64 n, i64 table,
              i64 cols) {
#if ONE_BY_ONE
    i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = x[row_of(numbers, i / cols, table) * cols + i % cols];
#else
    i64 begin = begin_at(y, 0), column;
    if (begin >= n) return;
    i64 at = divide(begin < 0 ? 0 : begin, cols, column);
    Pack held = {};
    if (begin >= 0 && column + PER_PACK <= cols) {
        i64 from = row_of(numbers, at, table) * cols + column;
        held = load_at(x, from, table * cols, phase_of(x + from) == 0);
    } else {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            if (begin + i < 0 || begin + i >= n) continue;
            put_word(held, i, x[row_of(numbers, at, table) * cols + column]);
            bool is_next = ++column == cols;
            column = is_next ? 0 : column;
            at += is_next ? 1 : 0;
        }
    }
    store_at(y, begin, n, held);
#endif
}
