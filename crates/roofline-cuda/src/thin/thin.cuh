// What thin products of all types share: sums of products, and what becomes of a sum.
//
// With SCALED codes have scales, a tensor's or with ROW_SCALES and COLUMN_SCALES one for each row of A and of B.
#pragma once
#include "matrix.cuh"

#if !defined(ELEMENT_I8)
typedef Word Out;
#elif !SCALED
typedef int Out;
#elif OUT_BF16
typedef unsigned short Out;
#else
typedef float Out;
#endif

// Where a product is, and the scales that it may have.
struct Scales {
    const float *rows, *columns;
};

__device__ __forceinline__ Out result_of(Sum sum, Scales scales, i64 row, i64 column) {
#if !defined(ELEMENT_I8)
    return from_float(sum);
#elif !SCALED
    return sum;
#else
    float scaled = __int2float_rn(sum) * scales.rows[ROW_SCALES ? row : 0] * scales.columns[COLUMN_SCALES ? column : 0];
#if OUT_BF16
    Out bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(scaled));
    return bits;
#else
    return scaled;
#endif
#endif
}
