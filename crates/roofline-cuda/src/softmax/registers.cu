// Softmax with the row in registers, or with LOG its logarithm: one read, one write. With MASKED a row that is all minus
// infinity is 0 throughout.
//
// Grid: rows / ROWS * CLUSTER, block (THREADS, ROWS); a row's threads are part of a warp, a block or
// a cluster of blocks, by its length, or blocks walk. Each warp adds up against its own largest element, so that
// warps exchange largest and sum at once. f32 keeps the exponentials; half precision keeps the row
// packed, in half the registers, and takes them again.
#include "rows.cuh"
#include "exp.cuh"

// Whether the exponentials are kept in the place of the row.
#define KEEPS (PER_PACK == 4 && !LOG)

extern "C" __global__ void __launch_bounds__(THREADS *ROWS, BLOCKS)
    softmax_registers(const Word *__restrict__ x, Word *__restrict__ y, i64 rows, i64 cols) {
    const float minus_infinity = __uint_as_float(0xff800000u);
    each_row<0>(x, MINUS_INFINITY, rows, cols, Shared<1>{x}, [&](const Row &row, Pack(&held)[PACKS]) {
        float largest = over_lanes<Largest, LANES>(largest_of(held)), sum = 0.0f;
        float base = base_of(largest);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) {
                value[i] = exp_term(value[i] - base);
                sum += value[i];
            }
            if (KEEPS) held[p] = pack(value);
        }
        sum = over_lanes<Add, LANES>(sum);
        keep_packed(held);

        float own = base;
        if (APART) {
            float mine[2] = {largest, sum}, neutral[2] = {minus_infinity, 0.0f}, all[CLUSTER][2];
            exchange<0>(mine, neutral, all);
#pragma unroll
            for (int block = 0; block < CLUSTER; block++) largest = fmaxf(largest, all[block][0]);
            base = base_of(over_lanes<Largest, SEATS>(largest));
            sum = 0.0f;
#pragma unroll
            for (int block = 0; block < CLUSTER; block++) sum += all[block][1] * exp_of(all[block][0] - base);
            sum = over_lanes<Add, SEATS>(sum);
        }
        float scale = MASKED && sum == 0.0f ? 0.0f : 1.0f / sum, logarithm = logf(sum);
        // What f32 keeps was taken against the warp's own base. A warp without a finite element has base
        // 0, maybe far above that of all, and nothing but zeros.
        if (KEEPS) scale *= own > base ? 0.0f : exp_of(own - base);
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            float value[PER_PACK];
            unpack(held[p], value);
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) {
                if (LOG) value[i] = value[i] - base - logarithm;
                else value[i] = KEEPS ? value[i] * scale : exp_scaled(value[i] - base, scale);
            }
            store_pack(row, y, p, pack(value));
        }
    });
}
