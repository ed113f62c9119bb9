// Attention of few queries in f32: the lanes of a warp share a head, and every key and value is read once for TILE heads of
// queries.
//
// Grid: see `split.cuh`. A warp takes KEYS keys at a time, with all of their values in flight; a lane holds PACKS packs of a
// head.
#define COLUMNS (128 * PACKS)
#include "split.cuh"

#define KEYS 4

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    attention_lanes(const Word *__restrict__ q, const Word *__restrict__ k, const Word *__restrict__ v, const int *list,
                    const int *offsets, const int *last, const Word *__restrict__ numbers, Word *__restrict__ y, u32 *parts,
                    i64 batches, i64 seq, i64 kv,
                    i64 heads, i64 kv_heads, i64 dim, i64 count, i64 elements, i64 splits, i64 window, float scale,
                    float cap) {
    __shared__ Found found;
    const float minus_infinity = __uint_as_float(0xff800000u);
    Sizes size = {batches, seq, kv, heads, kv_heads, WHOLE ? COLUMNS : dim, elements};
    Pages pages = {list, offsets, last, (int)count};
    Beside beside = {numbers, window, scale, cap};
    Job job = this_job(size, pages, beside, (int)splits, KEYS);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Sizes of_query = size;
    of_query.elements = batches * seq * heads * dim;

    float query[TILE][PACKS][PER_PACK], mean[TILE][PACKS][PER_PACK] = {}, largest[TILE], sum[TILE] = {};
#pragma unroll
    for (int row = 0; row < TILE; row++) {
        largest[row] = minus_infinity;
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            unpack(load_head(q, row_at(size, job, row), (32 * p + lane) * PER_PACK, of_query, true), query[row][p]);
        }
    }
    for (int first = job.begin + KEYS * warp; first < job.end; first += KEYS * WARPS) {
        Pack key[KEYS][PACKS], value[KEYS][PACKS];
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            bool is_there = first + j < job.end;
            i64 at = is_there ? key_at(size, place_of(size, pages, job.batch, first + j), job.kv_head) : 0;
#pragma unroll
            for (int p = 0; p < PACKS; p++) {
                key[j][p] = load_head(k, at, (32 * p + lane) * PER_PACK, size, is_there);
                value[j][p] = load_head(v, at, (32 * p + lane) * PER_PACK, size, is_there);
            }
        }
#pragma unroll
        for (int row = 0; row < TILE; row++) {
            i64 query_row = query_of(job, row);
            int seen = seen_by(size, job.length, query_row), from = seen_from(size, beside, job.length, query_row);
            float share[KEYS], most = largest[row];
#pragma unroll
            for (int j = 0; j < KEYS; j++) {
                float dot = 0.0f;
#pragma unroll
                for (int p = 0; p < PACKS; p++) {
                    float x[PER_PACK];
                    unpack(key[j][p], x);
#pragma unroll
                    for (int i = 0; i < PER_PACK; i++) dot = __fmaf_rn(query[row][p][i], x[i], dot);
                }
#pragma unroll
                for (int step = 16; step > 0; step /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, step);
                int own = first + j;
                bool is_seen = own < job.end && own < seen && own >= from;
                share[j] = is_seen ? score_of(dot, beside, mask_of(size, beside, query_row), own) : minus_infinity;
                most = fmaxf(most, share[j]);
            }
            float base = base_of(most), less = exp_of(largest[row] - base);
            largest[row] = most;
            sum[row] *= less;
#pragma unroll
            for (int j = 0; j < KEYS; j++) {
                share[j] = exp_of(share[j] - base);
                sum[row] += share[j];
            }
#pragma unroll
            for (int p = 0; p < PACKS; p++) {
#pragma unroll
                for (int i = 0; i < PER_PACK; i++) mean[row][p][i] *= less;
#pragma unroll
                for (int j = 0; j < KEYS; j++) {
                    float x[PER_PACK];
                    unpack(value[j][p], x);
#pragma unroll
                    for (int i = 0; i < PER_PACK; i++) mean[row][p][i] = __fmaf_rn(share[j], x[i], mean[row][p][i]);
                }
            }
        }
    }
#pragma unroll
    for (int row = 0; row < TILE; row++) {
        if (lane == 0) {
            found.most[warp][row] = largest[row];
            found.sum[warp][row] = sum[row];
        }
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) found.mean[warp][row][128 * p + 4 * lane + i] = mean[row][p][i];
        }
    }
    put_together(found, found.weight, size, job, beside, parts, y, [](int column) { return column; });
}
