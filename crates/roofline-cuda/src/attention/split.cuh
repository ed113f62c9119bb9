// Attention of few queries: TILE of those that look at one head of keys are a block's, whose warps have parts of the keys;
// and keys are split over SPLITS blocks, the last of which puts together what all found.
//
// Each warp leaves for each query the largest score, the sum of exponentials and the mean of values times it: COLUMNS
// numbers, in an order of its own that `dim_of` knows. A block does the same in `parts`, behind a counter for each of its
// groups, which is 0 before a launch and after it. Everything is added up in a fixed order.
#pragma once
#include "attention.cuh"

#define THREADS (32 * WARPS)
// What the largest score counts.
#ifndef ONE
#define ONE 1.0f
#endif
// Words that lanes of one warp write at once lie in different banks.
#define PITCH (COLUMNS + 4)
#define COUNTERS 1024
#define MOST_SPLITS 64
// What a block leaves: the columns of its queries, then two numbers of each; a whole number of packs.
#define PART (TILE * COLUMNS + (2 * TILE + 3) / 4 * 4)
// Parts that a thread has in flight while it puts them together.
#define AT_ONCE 16

// What a block is to do.
struct Job {
    i64 batch, kv_head, group;
    int split, splits, rows, first_row, of_key;
    // Keys from `begin` up to `end`, of those that any of its queries sees.
    int begin, end, length;
};

// Blocks of neighbouring heads of the same keys follow each other.
__device__ __forceinline__ Job this_job(const Sizes &size, const Pages &pages, const Beside &beside, int splits, int turn) {
    Job job;
    i64 block = blockIdx.x;
    job.of_key = (int)(size.heads / size.kv_heads);
    job.kv_head = block % size.kv_heads;
    block /= size.kv_heads;
    job.splits = splits;
    job.split = (int)(block % splits);
    block /= splits;
    i64 all = size.seq * job.of_key, tiles = (all + TILE - 1) / TILE;
    job.first_row = (int)(block % tiles) * TILE;
    job.batch = block / tiles;
    job.group = block * size.kv_heads + job.kv_head;
    job.rows = all - job.first_row < TILE ? (int)(all - job.first_row) : TILE;
    job.length = length_of(size, pages, job.batch);
    int seen = seen_by(size, job.length, (job.first_row + job.rows - 1) / job.of_key);
    int from = seen_from(size, beside, job.length, job.first_row / job.of_key);
    int each = ((seen - from + turn - 1) / turn + splits - 1) / splits * turn;
    job.begin = from + job.split * each;
    job.end = job.begin + each < seen ? job.begin + each : seen;
    return job;
}

// A row of a block is a head of a query: which, and where it begins. Rows beyond the last are the last once more.
__device__ __forceinline__ i64 query_of(const Job &job, int row) {
    return (job.first_row + (row < job.rows ? row : job.rows - 1)) / job.of_key;
}

__device__ __forceinline__ i64 head_of(const Job &job, int row) {
    return job.kv_head * job.of_key + (job.first_row + row) % job.of_key;
}

__device__ __forceinline__ i64 row_at(const Sizes &size, const Job &job, int row) {
    int own = job.first_row + (row < job.rows ? row : job.rows - 1);
    return query_at(size, job.batch, own / job.of_key, job.kv_head * job.of_key + own % job.of_key);
}

// Elements `d` and up of the head that begins at `at`, with zeros behind its end, and where there is no such key.
__device__ __forceinline__ Pack load_head(const Word *tensor, i64 at, int d, const Sizes &size, bool is_there) {
    Pack held = {};
    if (!is_there || d >= size.dim) return held;
    const Word *from = tensor + at + d;
#if ALIGNED
    held = load_pack(from);
#else
    // Inside by a pack at both ends: what is fetched beside it is the tensor's, too.
    bool inner = at + d >= PER_PACK && at + d + 2 * PER_PACK <= size.elements;
    if (inner) held = load_across(from);
#pragma unroll
    for (int i = 0; i < PER_PACK; i++) {
        if (d + i >= size.dim) put_word(held, i, 0);
        else if (!inner) put_word(held, i, from[i]);
    }
#endif
    return held;
}

// What parts found, each with a largest score `most`, become one: `weight` is what the numbers of each count. The number of
// parts is known to all threads, which call it together.
__device__ __forceinline__ void weigh(const float (*most)[TILE], float (*weight)[TILE], int parts) {
    for (int i = threadIdx.x; i < parts * TILE; i += THREADS) {
        float largest = most[0][i % TILE];
        for (int part = 1; part < parts; part++) largest = fmaxf(largest, most[part][i % TILE]);
        weight[i / TILE][i % TILE] = exp_of(most[i / TILE][i % TILE] - base_of(largest));
    }
    __syncthreads();
}

struct Found {
    float most[WARPS][TILE], sum[WARPS][TILE], weight[WARPS][TILE];
    float mean[WARPS][TILE][PITCH];
};

// Four numbers that another block left.
__device__ __forceinline__ Pack load_left(const float *from) {
    Pack held;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held.word[0]), "=r"(held.word[1]), "=r"(held.word[2]), "=r"(held.word[3])
                 : "l"(from));
    return held;
}

// The end of a group: what all its blocks left, by the last of them. What the first columns of a thread are put together from
// is under way while it is found out what each part weighs.
template <typename DimOf>
__device__ __forceinline__ void put_splits_together(const float *all, const Sizes &size, const Job &job, const Beside &beside,
                                                    Word *y, DimOf dim_of) {
    __shared__ float weight[MOST_SPLITS][TILE], sums[TILE], most[TILE];
    int fours = job.rows * (COLUMNS / 4);
    Pack held[AT_ONCE];
    auto load = [&](int four, int begin) {
#pragma unroll
        for (int s = 0; s < AT_ONCE; s++) {
            held[s] = Pack{};
            if (four < fours && begin + s < job.splits) held[s] = load_left(all + (begin + s) * PART + 4 * four);
        }
    };
    load(threadIdx.x, 0);
    // A warp a query, and for each lane a part or two.
    const float minus_infinity = __uint_as_float(0xff800000u);
    int lane = threadIdx.x % 32;
    for (int row = threadIdx.x / 32; row < job.rows; row += WARPS) {
        const volatile float *two = all + TILE * COLUMNS + row;
        float own[MOST_SPLITS / 32], count[MOST_SPLITS / 32], largest = minus_infinity, sum = 0.0f;
#pragma unroll
        for (int i = 0; i < MOST_SPLITS / 32; i++) {
            int split = lane + 32 * i;
            own[i] = minus_infinity;
            count[i] = 0.0f;
            if (split < job.splits) {
                own[i] = two[split * PART];
                count[i] = two[split * PART + TILE];
            }
            largest = fmaxf(largest, own[i]);
        }
#pragma unroll
        for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
#pragma unroll
        for (int i = 0; i < MOST_SPLITS / 32; i++) {
            float share = exp_of(own[i] - base_of(largest));
            weight[lane + 32 * i][row] = share;
            sum += count[i] * share;
        }
#pragma unroll
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (lane == 0) {
            sums[row] = sum;
            most[row] = largest;
        }
    }
    __syncthreads();
    for (int four = threadIdx.x; four < fours; four += THREADS) {
        int row = 4 * four / COLUMNS;
        float mean[4] = {};
        for (int begin = 0; begin < job.splits; begin += AT_ONCE) {
            if (four >= THREADS || begin > 0) load(four, begin);
#pragma unroll
            for (int s = 0; s < AT_ONCE; s++) {
                float share = begin + s < job.splits ? weight[begin + s][row] : 0.0f;
#pragma unroll
                for (int i = 0; i < 4; i++) mean[i] = __fmaf_rn(__uint_as_float(held[s].word[i]), share, mean[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int d = dim_of(4 * four % COLUMNS + i);
            float result = mean_of(mean[i], sums[row], most[row], beside, head_of(job, row), ONE);
            if (d < size.dim) y[row_at(size, job, row) + d] = from_float(result);
        }
    }
}

// The end of a kernel: what the warps found is put together, and what blocks found.
template <typename DimOf>
__device__ __forceinline__ void put_together(const Found &found, float (&weight)[WARPS][TILE], const Sizes &size,
                                             const Job &job, const Beside &beside, u32 *parts, Word *y, DimOf dim_of) {
    __syncthreads();
    weigh(found.most, weight, WARPS);
    float *own = reinterpret_cast<float *>(parts + COUNTERS) + (job.group * job.splits + job.split) * PART;
    for (int i = threadIdx.x; i < job.rows * COLUMNS; i += THREADS) {
        int row = i / COLUMNS, column = i % COLUMNS;
        float mean = 0.0f, sum = 0.0f, largest = found.most[0][row];
#pragma unroll
        for (int warp = 0; warp < WARPS; warp++) {
            mean += found.mean[warp][row][column] * weight[warp][row];
            sum += found.sum[warp][row] * weight[warp][row];
            largest = fmaxf(largest, found.most[warp][row]);
        }
        int d = dim_of(column);
        if (job.splits == 1) {
            float result = mean_of(mean, sum, largest, beside, head_of(job, row), ONE);
            if (d < size.dim) y[row_at(size, job, row) + d] = from_float(result);
            continue;
        }
        own[i] = mean;
        if (column == 0) {
            own[TILE * COLUMNS + row] = largest;
            own[TILE * COLUMNS + TILE + row] = sum;
        }
    }
    if (job.splits == 1) return;

    __shared__ bool last;
    __threadfence();
    __syncthreads();
    // Counts around: the last block leaves it at 0.
    if (threadIdx.x == 0) last = atomicInc(parts + job.group, job.splits - 1) == job.splits - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    put_splits_together(own - job.split * PART, size, job, beside, y, dim_of);
}
