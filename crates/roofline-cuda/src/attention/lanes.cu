// Attention of few queries in f32: LANES lanes of a warp share a head, and every key and value is read once for TILE heads of
// queries.
//
// Grid: see `split.cuh`. Each LANES of a warp take KEYS keys at a time; a lane holds PACKS packs of a head. Where heads lie at
// multiples of sixteen bytes, keys and values of DEPTH turns are on their way to shared memory, each lane's to places of its
// own; else those of one turn are, to registers. Products of all heads and keys are added up over the lanes at once, so that
// each lane ends with another of them, and takes an exponential of that alone.
#define COLUMNS (4 * LANES * PACKS)
#include "async.cuh"
#include "split.cuh"

#define KEYS 4
#define GROUPS (32 / LANES)
#define TURN (KEYS * GROUPS)
// Packs of a turn that a lane has: keys, then values.
#define OF_TURN (2 * KEYS * PACKS)
#define DOTS (TILE * KEYS)
// Products that a lane ends with, lanes that end with the same, and lanes that have those of one head.
#define OWN (DOTS > LANES ? DOTS / LANES : 1)
#define COPIES (DOTS > LANES ? 1 : LANES / DOTS)
#define OF_ROW (LANES / TILE)

// Sums over LANES lanes: each lane ends with those from its own place on, by its number among them.
template <int COUNT, int STEP>
__device__ __forceinline__ void add_up(float (&value)[DOTS], int lane) {
    if constexpr (STEP > 0 && COUNT > 1) {
        bool upper = lane & STEP;
#pragma unroll
        for (int i = 0; i < COUNT / 2; i++) {
            float kept = upper ? value[i + COUNT / 2] : value[i], given = upper ? value[i] : value[i + COUNT / 2];
            value[i] = kept + __shfl_xor_sync(0xffffffffu, given, STEP);
        }
        add_up<COUNT / 2, STEP / 2>(value, lane);
    } else if constexpr (STEP > 0) {
        value[0] += __shfl_xor_sync(0xffffffffu, value[0], STEP);
        add_up<1, STEP / 2>(value, lane);
    }
}

extern __shared__ Pack room[];

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    attention_lanes(const Word *__restrict__ q, const Word *__restrict__ k, const Word *__restrict__ v, const int *list,
                    const int *offsets, const int *last, const Word *__restrict__ numbers, Word *__restrict__ y, u32 *parts,
                    i64 batches, i64 seq, i64 kv,
                    i64 heads, i64 kv_heads, i64 dim, i64 count, i64 elements, i64 splits, i64 window, float scale,
                    float cap) {
    // What each key counts for each head, and what counts of what was found before.
    alignas(16) __shared__ float shares[WARPS][GROUPS][KEYS][TILE], factors[WARPS][TILE];
    const float minus_infinity = __uint_as_float(0xff800000u);
    Sizes size = {batches, seq, kv, heads, kv_heads, WHOLE ? COLUMNS : dim, elements};
    Pages pages = {list, offsets, last, (int)count};
    Beside beside = {numbers, window, scale, cap};
    Job job = this_job(size, pages, beside, (int)splits, TURN);
    int warp = threadIdx.x / 32, group = threadIdx.x % 32 / LANES, lane = threadIdx.x % LANES;
    Sizes of_query = size;
    of_query.elements = batches * seq * heads * dim;

    float query[TILE][PACKS][PER_PACK], mean[TILE][PACKS][PER_PACK] = {};
#pragma unroll
    for (int row = 0; row < TILE; row++) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
            unpack(load_head(q, row_at(size, job, row), (LANES * p + lane) * PER_PACK, of_query, true), query[row][p]);
        }
    }
    // This lane's head, and the first of its keys in a turn.
    int own_row = lane / OF_ROW, own_key = lane * OWN / COPIES % KEYS;
    i64 query_row = query_of(job, own_row);
    int seen = min(job.end, seen_by(size, job.length, query_row)), from = seen_from(size, beside, job.length, query_row);
    const Word *mask = mask_of(size, beside, query_row);
    float largest = minus_infinity, sum = 0.0f;
    auto place = [&](int j) { return j < job.end ? key_at(size, place_of(size, pages, job.batch, j), job.kv_head) : 0; };
#if ALIGNED
    Pack *own = room + threadIdx.x;
    auto fetch_turn = [&](int first, int stage) {
        Pack *to = own + stage * (OF_TURN * THREADS);
        if (first < job.end) {
#pragma unroll
            for (int s = 0; s < KEYS; s++) {
                int j = first + group * KEYS + s;
                i64 at = place(j);
#pragma unroll
                for (int p = 0; p < PACKS; p++) {
                    int d = (LANES * p + lane) * PER_PACK;
                    bool is_there = j < job.end && d < size.dim;
                    fetch(to + (PACKS * s + p) * THREADS, is_there ? k + at + d : k, is_there);
                    fetch(to + (PACKS * (KEYS + s) + p) * THREADS, is_there ? v + at + d : v, is_there);
                }
            }
        }
        end_stage();
    };
#pragma unroll
    for (int stage = 0; stage < DEPTH - 1; stage++) fetch_turn(job.begin + TURN * (warp + stage * WARPS), stage);
    int stage = 0;
#endif
    for (int first = job.begin + TURN * warp; first < job.end; first += TURN * WARPS) {
        Pack key[KEYS][PACKS], value[KEYS][PACKS];
#if ALIGNED
        // Into the places of the turn before this one.
        fetch_turn(first + (DEPTH - 1) * (TURN * WARPS), stage == 0 ? DEPTH - 1 : stage - 1);
        wait_for_stages<DEPTH - 1>();
        const Pack *fetched = own + stage * (OF_TURN * THREADS);
#pragma unroll
        for (int s = 0; s < KEYS; s++) {
#pragma unroll
            for (int p = 0; p < PACKS; p++) {
                key[s][p] = fetched[(PACKS * s + p) * THREADS];
                value[s][p] = fetched[(PACKS * (KEYS + s) + p) * THREADS];
            }
        }
        stage = stage == DEPTH - 1 ? 0 : stage + 1;
#else
#pragma unroll
        for (int s = 0; s < KEYS; s++) {
            int j = first + group * KEYS + s;
            i64 at = place(j);
#pragma unroll
            for (int p = 0; p < PACKS; p++) {
                key[s][p] = load_head(k, at, (LANES * p + lane) * PER_PACK, size, j < job.end);
                value[s][p] = load_head(v, at, (LANES * p + lane) * PER_PACK, size, j < job.end);
            }
        }
#endif
        float dot[DOTS] = {}, most = largest;
#pragma unroll
        for (int s = 0; s < KEYS; s++) {
#pragma unroll
            for (int p = 0; p < PACKS; p++) {
                float x[PER_PACK];
                unpack(key[s][p], x);
#pragma unroll
                for (int row = 0; row < TILE; row++) {
#pragma unroll
                    for (int i = 0; i < PER_PACK; i++) {
                        dot[row * KEYS + s] = __fmaf_rn(query[row][p][i], x[i], dot[row * KEYS + s]);
                    }
                }
            }
        }
        add_up<DOTS, LANES / 2>(dot, lane);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            int j = first + group * KEYS + own_key + i;
            dot[i] = j < seen && j >= from ? score_of(dot[i], beside, mask, j) : minus_infinity;
            most = fmaxf(most, dot[i]);
        }
#pragma unroll
        for (int step = OF_ROW / 2; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
        if (GROUPS == 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 16));
        float base = base_of(most);
        bool changes = __any_sync(0xffffffffu, most != largest);
        // What was shared in the turn before is read.
        __syncwarp();
        if (changes) {
            float less = exp_of(largest - base);
            sum *= less;
            factors[warp][own_row] = less;
            largest = most;
        }
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            float share = exp_of(dot[i] - base);
            if (lane % COPIES == 0) sum += share;
            shares[warp][group][own_key + i][own_row] = share;
        }
        __syncwarp();
        if (changes) {
#pragma unroll
            for (int row = 0; row < TILE; row++) {
                float less = factors[warp][row];
#pragma unroll
                for (int p = 0; p < PACKS; p++) {
#pragma unroll
                    for (int i = 0; i < PER_PACK; i++) mean[row][p][i] *= less;
                }
            }
        }
#pragma unroll
        for (int s = 0; s < KEYS; s++) {
#pragma unroll
            for (int p = 0; p < PACKS; p++) {
                float x[PER_PACK];
                unpack(value[s][p], x);
#pragma unroll
                for (int row = 0; row < TILE; row++) {
                    float share = shares[warp][group][s][row];
#pragma unroll
                    for (int i = 0; i < PER_PACK; i++) mean[row][p][i] = __fmaf_rn(share, x[i], mean[row][p][i]);
                }
            }
        }
    }
#pragma unroll
    for (int step = OF_ROW / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (GROUPS == 2) sum += __shfl_xor_sync(0xffffffffu, sum, 16);
    // What was fetched has been read by all: its room is that of what warps found.
    __syncthreads();
    Found &found = *reinterpret_cast<Found *>(room);
    if (group == 0 && lane % OF_ROW == 0) {
        found.most[warp][own_row] = largest;
        found.sum[warp][own_row] = sum;
    }
#pragma unroll
    for (int row = 0; row < TILE; row++) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) {
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) {
                float all = mean[row][p][i];
                if (GROUPS == 2) all += __shfl_xor_sync(0xffffffffu, all, 16);
                if (group == 0) found.mean[warp][row][4 * (LANES * p + lane) + i] = all;
            }
        }
    }
    put_together(found, found.weight, size, job, beside, parts, y, [](int column) { return column; });
}
