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
// What a block leaves: two numbers a query, then its columns.
#define PART (TILE * (COLUMNS + 2))

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
        own[2 * TILE + i] = mean;
        if (column == 0) {
            own[row] = largest;
            own[TILE + row] = sum;
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
    __shared__ float most[MOST_SPLITS][TILE], sums[MOST_SPLITS][TILE], of_split[MOST_SPLITS][TILE];
    const volatile float *all = own - job.split * PART;
    for (int i = threadIdx.x; i < job.splits * TILE; i += THREADS) {
        // Rows that are none have left nothing.
        bool is_row = i % TILE < job.rows;
        most[i / TILE][i % TILE] = is_row ? all[i / TILE * PART + i % TILE] : 0.0f;
        sums[i / TILE][i % TILE] = is_row ? all[i / TILE * PART + TILE + i % TILE] : 0.0f;
    }
    __syncthreads();
    weigh(most, of_split, job.splits);
    for (int i = threadIdx.x; i < job.rows * COLUMNS; i += THREADS) {
        int row = i / COLUMNS, d = dim_of(i % COLUMNS);
        float mean = 0.0f, sum = 0.0f, largest = most[0][row];
#pragma unroll 8
        for (int split = 0; split < job.splits; split++) {
            mean += all[split * PART + 2 * TILE + i] * of_split[split][row];
            sum += sums[split][row] * of_split[split][row];
            largest = fmaxf(largest, most[split][row]);
        }
        float result = mean_of(mean, sum, largest, beside, head_of(job, row), ONE);
        if (d < size.dim) y[row_at(size, job, row) + d] = from_float(result);
    }
}
