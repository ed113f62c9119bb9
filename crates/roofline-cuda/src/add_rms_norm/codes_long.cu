// h = x + r, and rms-norm(h) * w as codes with a scale of each row, of rows that no cluster can hold: a block a row, three
// walks.
//
// Grid: a block of THREADS a row. Later walks add again what the first one added, from the far cache where it fits.
#define PACKS 4
#define ROWS 1
#define CLUSTER 1
#define ALIGNED 0
#include "norm_codes.cuh"

// The norm of pack `p`.
__device__ __forceinline__ void normed(const Row &part, const Pack &held, const Word *r, const Word *w, int p, float scale,
                                       float (&value)[PER_PACK]) {
    float weight[PER_PACK];
    sums_of(part, held, r, p, value);
    unpack(load_weights(part, w, p), weight);
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) value[i] = value[i] * scale * weight[i];
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    add_rms_norm_codes_long(const Word *__restrict__ x, const Word *__restrict__ r, const Word *__restrict__ w,
                            Word *__restrict__ h, unsigned char *__restrict__ q, float *__restrict__ s, i64 rows, i64 cols,
                            float epsilon) {
    Row row = this_row(x, rows, cols);
    float found = 0.0f, norm = 0.0f, scale = 0.0f;
#pragma unroll
    for (int walk = 0; walk < 3; walk++) {
        walk_row(row, x, 0, [&](const Row &part, Pack(&held)[PACKS]) {
#pragma unroll
            for (int p = 0; p < PACKS; p++) {
                float value[PER_PACK];
                if (walk == 0) sums_of(part, held[p], r, p, value);
                else normed(part, held[p], r, w, p, norm, value);
                if (walk == 0) store_pack(part, h, p, pack(value));
                if (walk == 2) store_row_codes(part, q, p, value, scale);
#pragma unroll
                for (int i = 0; i < PER_PACK; i++) {
                    found = walk == 0 ? found + value[i] * value[i] : fmaxf(found, fabsf(value[i]));
                }
            }
        });
        if (walk == 0) norm = 1.0f / sqrtf(row_sum<0>(found) / (float)cols + epsilon);
        if (walk == 1) scale = scale_of(row_most<1>(found));
        found = 0.0f;
    }
    if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
