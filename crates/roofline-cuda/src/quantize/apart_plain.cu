// Codes whose scales are found in a launch before. With SCALES a block a group, then a tree; else one thread a byte of codes.
//
// Grid: groups, or bytes / THREADS. Groups are `shared` elements of a row long but for the last, `of_row` to a row.
#include "apart.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    quantize_apart_plain(const Word *__restrict__ x, const float *__restrict__ t, unsigned char *__restrict__ q, Scale *s,
                         unsigned char *z, u32 *scratch, i64 rows, i64 cols, i64 shared, i64 of_row) {
    float all = HAS_TENSOR ? *t : 1.0f;
#if SCALES
    i64 group = blockIdx.x, first = group % of_row * shared, end = first + shared < cols ? first + shared : cols;
    Ends found = {0.0f, 0.0f};
    for (i64 i = first + threadIdx.x; i < end; i += THREADS) take(found, to_float(x[group / of_row * cols + i]));
    __shared__ Ends ends[THREADS];
    ends[threadIdx.x] = found;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) ends[threadIdx.x] = both(ends[threadIdx.x], ends[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) leave_scale(s, z, group, ends[0], all);
#else
    const int each = PAIRED ? 2 : 1;
    i64 of_line = (cols + each - 1) / each, byte = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (byte >= rows * of_line) return;
    i64 row = byte / of_line, column = byte % of_line * each;
    int codes = 0;
    for (int i = 0; i < each && column + i < cols; i++) {
        i64 group = row * of_row + (column + i) / shared;
        int code = code_of(to_float(x[row * cols + column + i]), divisor_of(s[group], all), SIGNED ? z[group] : 0);
        codes |= PAIRED ? (code & 15) << (4 * i) : code;
    }
    q[byte] = (unsigned char)codes;
#endif
}
