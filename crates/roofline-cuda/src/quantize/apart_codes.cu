// Codes under scales that are known: eight elements of a row a thread.
//
// Grid: eights of all rows / THREADS. Groups are `shared` elements of a row long but for the last, `of_row` to a row.
#include "apart.cuh"

#define EACH 8
#define BYTES (PAIRED ? EACH / 2 : EACH)

extern "C" __global__ void __launch_bounds__(THREADS)
    quantize_apart_codes(const Word *__restrict__ x, const float *__restrict__ t, unsigned char *__restrict__ q,
                         const Scale *__restrict__ s, const unsigned char *__restrict__ z, u32 *scratch, i64 rows, i64 cols,
                         i64 shared, i64 of_row) {
    i64 of_line = (cols + EACH - 1) / EACH, at, row = divide((i64)blockIdx.x * THREADS + threadIdx.x, of_line, at);
    if (row >= rows) return;
    i64 column = at * EACH, within, group = row * of_row + divide(column, shared, within);
    int count = cols - column < EACH ? (int)(cols - column) : EACH;
    const Word *from = x + row * cols + column;
    float value[EACH] = {};
    if (count == EACH && phase_of(from) == 0) {
        float part[PER_PACK];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (i % PER_PACK == 0) unpack(load_pack(from + i), part);
            value[i] = part[i % PER_PACK];
        }
    } else {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (i < count) value[i] = to_float(from[i]);
        }
    }
    float all = HAS_TENSOR ? *t : 1.0f, divisor = divisor_of(s[group], all);
    int zero = SIGNED ? z[group] : 0;
    unsigned long long codes = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        if (i >= count) continue;
        if (within == shared) {
            within = 0;
            group++;
            divisor = divisor_of(s[group], all);
            zero = SIGNED ? z[group] : 0;
        }
        within++;
        int code = code_of(value[i], divisor, zero);
        codes |= (unsigned long long)(PAIRED ? code & 15 : code & 255) << (i * (PAIRED ? 4 : 8));
    }
    unsigned char *to = q + (PAIRED ? row * ((cols + 1) / 2) + column / 2 : row * cols + column);
    if (count == EACH && reinterpret_cast<unsigned long long>(to) % BYTES == 0) {
        if (PAIRED) *reinterpret_cast<u32 *>(to) = (u32)codes;
        else *reinterpret_cast<unsigned long long *>(to) = codes;
        return;
    }
#pragma unroll
    for (int i = 0; i < BYTES; i++) {
        if (i < (PAIRED ? (count + 1) / 2 : count)) to[i] = (unsigned char)(codes >> (8 * i));
    }
}
