// Where each element of an output comes from, a function for each operation.
#pragma once
#include "element.cuh"

// Element `index` of input `which`; so many elements from there on lie as they do in the output.
struct From {
    int which;
    i64 index, run;
};

// The tensor as it is.
__device__ __forceinline__ From same(int, i64 i, i64 n, i64, i64) {
    return From{0, i, n - i};
}

// A tensor of p elements, again and again.
__device__ __forceinline__ From repeated(int, i64 i, i64, i64 p, i64) {
    i64 at;
    divide(i, p, at);
    return From{0, at, p - at};
}

// A tensor of p elements, then another.
__device__ __forceinline__ From after_another(int, i64 i, i64, i64 p, i64) {
    return i < p ? From{0, i, p - i} : From{1, i - p, p - (i - p)};
}

// A row of p elements, then one of q.
__device__ __forceinline__ From side_by_side(int, i64 i, i64, i64 p, i64 q) {
    i64 at, row = divide(i, p + q, at);
    return at < p ? From{0, row * p + at, p - at} : From{1, row * q + at - p, p + q - at};
}

// The first p elements of rows of p + q, or the others.
__device__ __forceinline__ From apart(int output, i64 i, i64, i64 p, i64 q) {
    i64 own = output == 0 ? p : q, at, row = divide(i, own, at);
    return From{0, row * (p + q) + (output == 0 ? 0 : p) + at, own - at};
}

// x[p, q, k] as [q, p, k], by lines of `line` = n / (p * q) elements.
__device__ __forceinline__ From exchanged(int, i64 i, i64 n, i64 p, i64 q) {
    i64 at, outer, line = n / (p * q), place = divide(i, line, at), second = divide(place, p, outer);
    return From{0, (outer * q + second) * line + at, line - at};
}

// x[outer, 1, q] for every one of p, in an output [outer, p, q].
__device__ __forceinline__ From stretched(int, i64 i, i64, i64 p, i64 q) {
    i64 at, rest, line = divide(i, q, at), outer = divide(line, p, rest);
    return From{0, outer * q + at, q - at};
}

// x[lines, 1] for every one of q.
__device__ __forceinline__ From stretched_last(int, i64 i, i64, i64, i64 q) {
    i64 at, line = divide(i, q, at);
    return From{0, line, 1};
}
