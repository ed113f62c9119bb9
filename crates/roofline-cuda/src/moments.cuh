// Mean and squared deviations, united by the formula of Chan, Golub and LeVeque: squares of the
// elements themselves are never added up, whose difference to the squared mean would lose every digit.
#pragma once
#include "rows.cuh"

// Count, mean, sum of squared deviations from it.
struct Moments {
    static const int WIDTH = 3;
    float value[3];
    __device__ Moments() { value[0] = value[1] = value[2] = 0.0f; }
    __device__ void merge(const Moments &other) {
        float count = value[0] + other.value[0];
        float share = count > 0.0f ? other.value[0] / count : 0.0f;
        float apart = other.value[1] - value[1];
        value[1] += apart * share;
        value[2] += other.value[2] + apart * apart * (value[0] * share);
        value[0] = count;
    }
};

// The moments of what one thread holds, found in two walks over its registers.
__device__ __forceinline__ Moments moments_of(const Row &row, const Pack (&held)[PACKS]) {
    Moments mine;
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        float value[PER_PACK];
        unpack(held[p], value);
        i64 begin = begin_of(row, p);
        i64 from = begin < 0 ? 0 : begin, to = begin + PER_PACK < row.cols ? begin + PER_PACK : row.cols;
        mine.value[0] += to > from ? (float)(to - from) : 0.0f;
        // Elements outside the row are 0 and change no sum.
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) mine.value[1] += value[i];
    }
    mine.value[1] = mine.value[0] > 0.0f ? mine.value[1] / mine.value[0] : 0.0f;
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        float value[PER_PACK];
        unpack(held[p], value);
        i64 begin = begin_of(row, p);
        bool whole = is_whole(row, begin);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            bool inside = whole || (!ALIGNED && begin + i >= 0 && begin + i < row.cols);
            float apart = inside ? value[i] - mine.value[1] : 0.0f;
            mine.value[2] += apart * apart;
        }
    }
    return mine;
}
