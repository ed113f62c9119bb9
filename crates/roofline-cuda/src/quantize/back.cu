// y = (q - z) * s, with the scale of a row, of a block of a row or of all, and z the code of zero of a row: PER_PACK codes
// a thread, or with ONE_BY_ONE one.
//
// Grid: packs / THREADS. Groups are `shared` elements long, `of_row` to a row; rows of 0 elements mean one group in all.
#include "stream.cuh"

__device__ __forceinline__ i64 group_of(i64 i, i64 cols, i64 shared, i64 of_row) {
    return cols == 0 ? 0 : i / cols * of_row + i % cols / shared;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    dequantize(const Code *__restrict__ q, const float *__restrict__ s, const Code *__restrict__ z, Word *__restrict__ y,
               i64 n, i64 cols, i64 shared, i64 of_row) {
#if ONE_BY_ONE
    i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    i64 group = group_of(i, cols, shared, of_row);
    y[i] = from_float((float)(q[i] - (HAS_ZERO ? z[group] : 0)) * s[group]);
#else
    i64 begin = begin_at(y, 0);
    if (begin >= n) return;
    bool whole = begin >= 0 && begin + PER_PACK <= n;
    Code code[PER_PACK] = {};
    if (whole && (reinterpret_cast<unsigned long long>(q + begin) & (PER_PACK - 1)) == 0) {
#pragma unroll
        for (int k = 0; k < PER_PACK / 4; k++) {
            u32 word = reinterpret_cast<const u32 *>(q + begin)[k];
#pragma unroll
            for (int i = 0; i < 4; i++) code[4 * k + i] = (Code)(word >> (8 * i));
        }
    } else {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            if (begin + i >= 0 && begin + i < n) code[i] = q[begin + i];
        }
    }
    i64 first = group_of(begin < 0 ? 0 : begin, cols, shared, of_row);
    i64 last = group_of(begin + PER_PACK <= n ? begin + PER_PACK - 1 : n - 1, cols, shared, of_row);
    float result[PER_PACK];
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) {
        bool inside = begin + i >= 0 && begin + i < n;
        i64 group = first == last || !inside ? first : group_of(begin + i, cols, shared, of_row);
        result[i] = (float)(code[i] - (HAS_ZERO ? z[group] : 0)) * s[group];
    }
    store_at(y, begin, n, pack(result));
#endif
}
