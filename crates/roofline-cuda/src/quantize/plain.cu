// Codes and the scale of each group of TERM: one thread a group, two walks.
//
// Grid: groups / 128. Groups are `shared` elements of a row long but for the last, `of_row` to a row.
#define EXACT
#include "math.cuh"
#include "codes.cuh"

__device__ __forceinline__ float value_at(const Word *a, const Word *b, i64 i) {
    float x = to_float(a[i]);
#if INPUTS == 2
    float y = to_float(b[i]);
#endif
    return TERM;
}

extern "C" __global__ void quantize_plain(const Word *__restrict__ a, const Word *__restrict__ b,
                                          unsigned char *__restrict__ q, Scale *__restrict__ s, i64 rows, i64 cols,
                                          i64 shared, i64 of_row) {
    i64 group = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= rows * of_row) return;
    i64 row = group / of_row * cols, first = group % of_row * shared;
    i64 end = first + shared < cols ? first + shared : cols;
    float most = 0.0f;
    for (i64 i = row + first; i < row + end; i++) most = fmaxf(most, fabsf(value_at(a, b, i)));
    Scale scale = scale_of(most);
    float divisor = divisor_of(scale);
    for (i64 i = row + first; i < row + end; i++) q[i] = code_of(value_at(a, b, i), divisor);
    s[group] = scale;
}
