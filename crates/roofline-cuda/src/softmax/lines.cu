// Softmax along the middle dimension of a tensor [outer, length, inner], or with LOG its logarithm: ACROSS threads beside each
// other, with WIDE lines each, and DOWN of them below each other; largest and sum in one walk, the result in a second.
//
// Grid: outer * inner / (ACROSS * WIDE), block (ACROSS, DOWN). Sixteen bytes a thread where every line of memory begins at a
// multiple of sixteen, else one element.
#define KIND LOGSUMEXP
#define RESULT 0.0f
#include "found.cuh"
#include "wide.cuh"
#include "exp.cuh"

extern "C" __global__ void __launch_bounds__(ACROSS *DOWN)
    softmax_lines(const Word *__restrict__ x, Word *__restrict__ y, i64 outer, i64 length, i64 inner) {
    Tile tile = this_tile(length, inner);
    Found found[WIDE];
    find_columns(x, tile, length, inner, found);
    __shared__ Found all[LEFT][ACROSS * WIDE];
    __shared__ float base[ACROSS * WIDE], scale[ACROSS * WIDE];
    int thread = threadIdx.y * ACROSS + threadIdx.x;
    if (Found line; meet(found, all, line)) {
        // One that is not finite makes all of its line no number.
        const float infinity = __uint_as_float(0x7f800000u), nan = __uint_as_float(0x7fc00000u);
        bool is_finite = fabsf(line.most) < infinity;
        base[thread] = line.most;
        scale[thread] = !is_finite ? nan : LOG ? logf(line.sum) : 1.0f / line.sum;
    }
    __syncthreads();
    float own_base[WIDE], own_scale[WIDE];
#pragma unroll
    for (int i = 0; i < WIDE; i++) {
        own_base[i] = base[threadIdx.x * WIDE + i];
        own_scale[i] = scale[threadIdx.x * WIDE + i];
    }
    for (i64 row = threadIdx.y; tile.column < inner && row < length; row += DOWN * AT_ONCE) {
        float value[AT_ONCE][WIDE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (row + k * DOWN < length) load_wide(x + tile.first + (row + k * DOWN) * inner, value[k]);
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (row + k * DOWN >= length) continue;
#pragma unroll
            for (int i = 0; i < WIDE; i++) {
                float below = value[k][i] - own_base[i];
                value[k][i] = LOG ? below - own_scale[i] : exp_scaled(below, own_scale[i]);
            }
            store_wide(y + tile.first + (row + k * DOWN) * inner, value[k]);
        }
    }
}
