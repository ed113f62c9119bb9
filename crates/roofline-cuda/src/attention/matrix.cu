// Attention of few queries on the matrix unit: eight heads of queries that look at one head of keys are its rows, and every
// key and value is read once for all of them.
//
// Grid: see `split.cuh`. A warp takes sixteen keys at a time, with all of their values in flight, to registers: by way of
// shared memory it took one and a half times as long. DIMS is the length of a head, in sixty-fours. Scores come out of the
// unit as it wants the probabilities: these meet the values in three parts that together are all their digits, so that
// nothing is rounded to half precision but the result.
#define COLUMNS (64 * DIMS)
// f16 has no digits left far below 1: probabilities are of this, and so is their sum.
#if defined(ELEMENT_F16)
#define ONE 32768.0f
#else
#define ONE 1.0f
#endif
#include "matrix.cuh"
#include "split.cuh"

static_assert(TILE == 8, "as many as the unit has columns");
#define KEYS 16
// Thirty-twos of a head.
#define STEPS (2 * DIMS)
// Long heads find no registers for keys and values at once, nor do others with more to do about a score.
#define ALL_IN_FLIGHT (DIMS < 2 || (DIMS == 2 && !CAPPED))

// A pair as two numbers of half precision, and what that leaves of it. In bf16 the leading digits are cut off, in f16 the
// rest of rounding is exact, too.
__device__ __forceinline__ u32 split_off(float (&pair)[2]) {
#if defined(ELEMENT_BF16)
    u32 first = __float_as_uint(pair[0]) & 0xffff0000u, second = __float_as_uint(pair[1]) & 0xffff0000u;
    pair[0] -= __uint_as_float(first);
    pair[1] -= __uint_as_float(second);
    return first >> 16 | second;
#else
    Word first = from_float(pair[0]), second = from_float(pair[1]);
    pair[0] -= to_float(first);
    pair[1] -= to_float(second);
    return (u32)first | (u32)second << 16;
#endif
}

// The probabilities of sixteen keys times their values, for the dimensions that a lane holds.
__device__ __forceinline__ void add_values(float (&mean)[DIMS][4][4], const Pack (&value)[DIMS][4], float (&share)[2][2]) {
#pragma unroll
    for (int part = 0; part < 3; part++) {
        u32 column0 = split_off(share[0]), column1 = split_off(share[1]);
#pragma unroll
        for (int p = 0; p < DIMS; p++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                // Keys beside each other in a word, for two neighbouring dimensions.
                u32 a = value[p][0].word[i], b = value[p][1].word[i], c = value[p][2].word[i], d = value[p][3].word[i];
                multiply_all(mean[p][i], __byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632), __byte_perm(c, d, 0x5410),
                             __byte_perm(c, d, 0x7632), column0, column1);
            }
        }
    }
}

extern __shared__ Pack room[];

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    attention_matrix(const Word *__restrict__ q, const Word *__restrict__ k, const Word *__restrict__ v, const int *list,
                     const int *offsets, const int *last, const Word *__restrict__ numbers, Word *__restrict__ y, u32 *parts,
                     i64 batches, i64 seq, i64 kv,
                     i64 heads, i64 kv_heads, i64 dim, i64 count, i64 elements, i64 splits, i64 window, float scale,
                     float cap) {
    const float minus_infinity = __uint_as_float(0xff800000u);
    Sizes size = {batches, seq, kv, heads, kv_heads, WHOLE ? COLUMNS : dim, elements};
    Pages pages = {list, offsets, last, (int)count};
    Beside beside = {numbers, window, scale, cap};
    Job job = this_job(size, pages, beside, (int)splits, KEYS);
    int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, lane = threadIdx.x % 4;
    Sizes of_query = size;
    of_query.elements = batches * seq * heads * dim;

    // As each lane of every warp wants it: registers are for what is in flight.
    __shared__ Pack query[STEPS][32];
    for (int p = warp; p < STEPS; p += WARPS) {
        query[p][threadIdx.x % 32] = load_head(q, row_at(size, job, group), (4 * p + lane) * PER_PACK, of_query, true);
    }
    __syncthreads();
    int query_row = (int)query_of(job, group);
    int seen = min(job.end, seen_by(size, job.length, query_row)), from = seen_from(size, beside, job.length, query_row);
    float largest = minus_infinity, sum = 0.0f, mean[DIMS][4][4] = {};
    // Where pack `p` of this lane's key `s`, or of value `s`, begins; keys that are not there have none.
    auto key_of = [&](int j) { return j < job.end ? key_at(size, place_of(size, pages, job.batch, j), job.kv_head) : 0; };
    auto row_of_key = [&](int first, int s) { return first + 8 * s + group; };
    auto row_of_value = [&](int first, int s) { return first + 8 * (s / 2) + 2 * lane + s % 2; };
    for (int first = job.begin + KEYS * warp; first < job.end; first += KEYS * WARPS) {
        Pack key[2][STEPS], value[DIMS][4];
#pragma unroll
        for (int s = 0; s < 2; s++) {
            int j = row_of_key(first, s);
            i64 at = key_of(j);
#pragma unroll
            for (int p = 0; p < STEPS; p++) key[s][p] = load_head(k, at, (4 * p + lane) * PER_PACK, size, j < job.end);
        }
        auto load_values = [&] {
#pragma unroll
            for (int s = 0; s < 4; s++) {
                int j = row_of_value(first, s);
                i64 at = key_of(j);
#pragma unroll
                for (int p = 0; p < DIMS; p++) value[p][s] = load_head(v, at, (8 * p + group) * PER_PACK, size, j < job.end);
            }
        };
        if (ALL_IN_FLIGHT) load_values();
        // Of the query in this lane's row, with keys 2 lane and 2 lane + 1 of each eight.
        float share[2][2] = {}, most = largest;
        const Word *mask = mask_of(size, beside, query_row);
#pragma unroll
        for (int s = 0; s < 2; s++) {
#pragma unroll
            for (int p = 0; p < STEPS; p++) multiply_packs(share[s], query[p][threadIdx.x % 32], key[s][p]);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                int j = first + 8 * s + 2 * lane + i;
                bool is_seen = j < seen && j >= from;
                share[s][i] = is_seen ? score_of(share[s][i], beside, mask, j) : minus_infinity;
                most = fmaxf(most, share[s][i]);
            }
        }
        if (!ALL_IN_FLIGHT) load_values();
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
        float base = base_of(most);
        if (__any_sync(0xffffffffu, most != largest)) {
            float less = exp_of(largest - base);
            sum *= less;
            // Means are of queries 2 lane and 2 lane + 1.
            float less0 = __shfl_sync(0xffffffffu, less, 8 * lane), less1 = __shfl_sync(0xffffffffu, less, 8 * lane + 4);
#pragma unroll
            for (int p = 0; p < DIMS; p++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    mean[p][i][0] *= less0;
                    mean[p][i][1] *= less1;
                    mean[p][i][2] *= less0;
                    mean[p][i][3] *= less1;
                }
            }
            largest = most;
        }
#pragma unroll
        for (int s = 0; s < 2; s++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                share[s][i] = exp_of(share[s][i] - base) * ONE;
                sum += share[s][i];
            }
        }
        add_values(mean, value, share);
    }
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    Found &found = *reinterpret_cast<Found *>(room);
    if (lane == 0) {
        found.most[warp][group] = largest;
        found.sum[warp][group] = sum;
    }
#pragma unroll
    for (int p = 0; p < DIMS; p++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int n = 0; n < 4; n++) {
                found.mean[warp][2 * lane + n % 2][64 * p + 16 * i + 2 * group + n / 2] = mean[p][i][n];
            }
        }
    }
    put_together(found, found.weight, size, job, beside, parts, y,
                 [](int column) { return column / 64 * 64 + column % 16 / 2 * 8 + column % 64 / 16 * 2 + column % 2; });
}
