// The matrix unit of a warp: eight rows times eight columns, so many numbers long as two words of each lane hold four times.
//
// Lane 4 g + t has words of row g and of column g, and what it finds is of row g and of columns 2 t and 2 t + 1. Which
// numbers along a row a word stands for is the caller's affair, as long as rows and columns agree: here lanes hold packs,
// whose four words are two of these products. The unit has sixteen rows; eight of them are zeros.
#pragma once
#include "element.cuh"

#if defined(ELEMENT_I8)
typedef int Sum;
#else
typedef float Sum;
#endif

#if !defined(ELEMENT_F32)
// mma of two words a row: what the other eight rows would give has nowhere to go.
#define MULTIPLY(SHAPE, REGISTER, SUM)                                                                                 \
    asm volatile("{.reg ." REGISTER " rest<2>; mma.sync.aligned." SHAPE                                                \
                 " {%0, %1, rest0, rest1}, {%2, %6, %3, %6}, {%4, %5}, {%0, %1, %7, %7};}"                             \
                 : "+" SUM(sum[0]), "+" SUM(sum[1])                                                                    \
                 : "r"(row0), "r"(row1), "r"(column0), "r"(column1), "r"(0), SUM(Sum(0)))

__device__ __forceinline__ void multiply_words(Sum (&sum)[2], u32 row0, u32 row1, u32 column0, u32 column1) {
#if defined(ELEMENT_I8)
    MULTIPLY("m16n8k32.row.col.s32.s8.s8.s32", "s32", "r");
#elif defined(ELEMENT_BF16)
    MULTIPLY("m16n8k16.row.col.f32.bf16.bf16.f32", "f32", "f");
#else
    MULTIPLY("m16n8k16.row.col.f32.f16.f16.f32", "f32", "f");
#endif
}

// The products of all eight packs of rows with all eight of columns.
__device__ __forceinline__ void multiply_packs(Sum (&sum)[2], const Pack &row, const Pack &column) {
    multiply_words(sum, row.word[0], row.word[1], column.word[0], column.word[1]);
    multiply_words(sum, row.word[2], row.word[3], column.word[2], column.word[3]);
}

#if !defined(ELEMENT_I8)
// All sixteen rows: the words are of rows lane / 4 and, eight below, of the same once more.
__device__ __forceinline__ void multiply_all(float (&sum)[4], u32 upper0, u32 lower0, u32 upper1, u32 lower1, u32 column0,
                                             u32 column1) {
#if defined(ELEMENT_BF16)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
#endif
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(upper0), "r"(lower0), "r"(upper1), "r"(lower1), "r"(column0), "r"(column1));
}
#endif
#endif
