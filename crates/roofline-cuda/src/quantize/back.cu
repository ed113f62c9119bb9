// y = code * scale, with the scale of a row, of a block of a row or of all: PER_PACK codes a thread, or with ONE_BY_ONE one.
//
// Grid: packs / THREADS. Groups are `shared` elements long, `of_row` to a row. What codes and scales are is said by VALUE and
// SCALE, in terms of `code` and `zero`, and of `scale` and `all`. With PAIRED two neighbours of a row share a byte, the first
// in its low half.
#include "stream.cuh"
#include "fp8.cuh"

// An element and the group that it is in.
struct Place {
    i64 row, column, group, within;
};

__device__ __forceinline__ Place place_of(i64 i, i64 cols, i64 shared, i64 of_row) {
    Place place;
    place.row = divide(i, cols, place.column);
    place.group = place.row * of_row + divide(place.column, shared, place.within);
    return place;
}

// The next one: groups are numbered through all rows.
__device__ __forceinline__ void step(Place &place, i64 cols, i64 shared) {
    place.column++;
    place.within++;
    bool is_next = place.column == cols;
    if (is_next || place.within == shared) {
        place.within = 0;
        place.group++;
    }
    place.column = is_next ? 0 : place.column;
    place.row += is_next ? 1 : 0;
}

__device__ __forceinline__ Code code_at(const Code *q, const Place &place, i64 cols) {
#if PAIRED
    return (Code)(q[place.row * ((cols + 1) / 2) + place.column / 2] >> (place.column % 2 * 4) & 15);
#else
    return q[place.row * cols + place.column];
#endif
}

__device__ __forceinline__ float scaled(Code code, Code zero, Scale scale, float all) {
    float value = VALUE;
    return value * SCALE;
}

// The codes of a pack that begins at element `begin`, if they lie so that they can be read as one.
__device__ __forceinline__ bool load_codes(const Code *q, i64 begin, i64 cols, Code (&code)[PER_PACK]) {
    const int size = PAIRED ? PER_PACK / 2 : PER_PACK;
    const Code *from = q + (PAIRED ? begin / 2 : begin);
    if ((PAIRED && (begin | cols) % 2 != 0) || reinterpret_cast<unsigned long long>(from) % size != 0) return false;
    unsigned long long bits;
    if (size == 8) bits = *reinterpret_cast<const unsigned long long *>(from);
    else if (size == 4) bits = *reinterpret_cast<const u32 *>(from);
    else bits = *reinterpret_cast<const unsigned short *>(from);
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) code[i] = (Code)(PAIRED ? bits >> (4 * i) & 15 : bits >> (8 * i));
    return true;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    dequantize(const Code *__restrict__ q, const Scale *__restrict__ s, const Code *__restrict__ z,
               const float *__restrict__ t, Word *__restrict__ y, i64 n, i64 cols, i64 shared, i64 of_row) {
    float all = HAS_TENSOR ? *t : 1.0f;
#if ONE_BY_ONE
    i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    Place place = place_of(i, cols, shared, of_row);
    y[i] = from_float(scaled(code_at(q, place, cols), HAS_ZERO ? z[place.group] : 0, s[place.group], all));
#else
    i64 begin = begin_at(y, 0);
    if (begin >= n) return;
    Place place = place_of(begin < 0 ? 0 : begin, cols, shared, of_row);
    Code code[PER_PACK] = {};
    bool known = begin >= 0 && begin + PER_PACK <= n && load_codes(q, begin, cols, code);
    float result[PER_PACK];
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) {
        if (begin + i < 0 || begin + i >= n) continue;
        if (!known) code[i] = code_at(q, place, cols);
        result[i] = scaled(code[i], HAS_ZERO ? z[place.group] : 0, s[place.group], all);
        step(place, cols, shared);
    }
    store_at(y, begin, n, pack(result));
#endif
}
