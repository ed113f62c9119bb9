// A row in registers: how the threads of a row share it, and how they add up what they found.
//
// A row is cut at multiples of sixteen bytes into packs. `THREADS` threads of each of `CLUSTER`
// blocks hold `PACKS` packs each, neighbours beside neighbours; a block has `ROWS` rows. With
// `ALIGNED` every row begins and ends at such a multiple. Otherwise the first and the last pack are
// taken element by element: the packs between stay whole, wherever the row begins.
//
// With DEPTH a block walks: it has every so many-th row, and while it works on one the next DEPTH are on their way to shared
// memory, each thread's packs to places of its own. What all rows share is kept there as well, as the block's rows want it: the
// launcher sees to it that they all begin as far beyond a multiple of sixteen bytes.
#pragma once
#include "async.cuh"
#include "element.cuh"

#ifndef DEPTH
#define DEPTH 0
#endif

#define WARPS ((THREADS + 31) / 32)
// Blocks that find registers beside each other on a multiprocessor, at least.
#ifndef BLOCKS
#define BLOCKS 1
#endif
#define LANES (THREADS < 32 ? THREADS : 32)

struct Row {
    bool live;
    // Which of the row's threads this is.
    int thread;
    // Elements of a row: the launcher sees to it that an int can count them.
    int cols;
    // Elements from the last multiple of sixteen bytes to the row's first element.
    int phase;
    // Elements of the tensor before this row, and from its beginning to the end.
    i64 before, after;
};

__device__ __forceinline__ int block_of_cluster() {
    return CLUSTER == 1 ? 0 : blockIdx.x % CLUSTER;
}

// Row `index` of all, if there is one.
__device__ __forceinline__ Row row_at(const Word *x, i64 index, i64 rows, i64 cols) {
    Row row;
    row.live = index < rows;
    row.before = (row.live ? index : 0) * cols;
    row.after = rows * cols - row.before;
    row.thread = block_of_cluster() * (THREADS * PACKS) + threadIdx.x;
    row.cols = (int)cols;
    row.phase = ALIGNED ? 0 : phase_of(x + row.before);
    return row;
}

// Group `index` of all, as a row of its own: groups are `shared` elements of a row long but for the last, `of_row` to a row.
// The launcher sees to it that 32 bits can count groups.
__device__ __forceinline__ Row group_at(const Word *x, i64 index, i64 rows, i64 cols, i64 shared, i64 of_row) {
    i64 first = (u32)index % (u32)of_row * shared;
    Row row = row_at(x, (u32)index / (u32)of_row, rows, cols);
    row.before += row.live ? first : 0;
    row.after -= row.live ? first : 0;
    row.cols = (int)(cols - first < shared ? cols - first : shared);
    row.phase = ALIGNED ? 0 : phase_of(x + row.before);
    return row;
}

__device__ __forceinline__ Row this_row(const Word *x, i64 rows, i64 cols) {
    return row_at(x, (i64)(blockIdx.x / CLUSTER) * ROWS + threadIdx.y, rows, cols);
}

// Where pack `p` of this thread begins, in elements of the row; below 0 before its first one.
__device__ __forceinline__ int begin_of(const Row &row, int p) {
    return (row.thread + p * THREADS) * PER_PACK - row.phase;
}

// Where pack `p` lies in a tensor: this thread's first pack, and from there a step that the compiler
// knows, so that one address serves all.
template <typename Pointer>
__device__ __forceinline__ Pointer place_of(Pointer row_begin, const Row &row, int p) {
    return row_begin + begin_of(row, 0) + p * (THREADS * PER_PACK);
}

__device__ __forceinline__ bool is_whole(const Row &row, int begin) {
    return begin + PER_PACK <= row.cols && (ALIGNED || begin >= 0);
}

// Whether a pack is read as one. At its ends a row shares packs with its neighbours; only at those of
// the tensor a pack has elements that are nobody's, which must not be touched.
__device__ __forceinline__ bool is_fetched(const Row &row, int begin) {
    if (ALIGNED) return begin < row.cols;
    return begin < row.cols && begin + row.before >= 0 && begin + PER_PACK <= row.after;
}

__device__ __forceinline__ bool is_inside(const Row &row, int at) {
    return (u32)at < (u32)row.cols;
}

// Elements outside the row are `neutral`, in packs that were read as one; of others those inside are read.
__device__ __forceinline__ void trim_row(const Row &row, const Word *from, Word neutral, Pack (&held)[PACKS]) {
#if !ALIGNED
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        int begin = begin_of(row, p);
        if (!row.live || begin >= row.cols || is_whole(row, begin)) continue;
        bool fetched = is_fetched(row, begin);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            bool inside = is_inside(row, begin + i);
            if (fetched && !inside) put_word(held[p], i, neutral);
            if (!fetched && inside) put_word(held[p], i, from[begin + i]);
        }
    }
#endif
}

// Elements outside the row are `neutral`, so that no later step need look. All loads are under way
// before the first is looked at.
__device__ __forceinline__ void load_row(const Row &row, const Word *x, Word neutral, Pack (&held)[PACKS]) {
    const Word *from = x + row.before;
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) put_word(held[p], i, neutral);
        if (row.live && is_fetched(row, begin_of(row, p))) held[p] = load_pack(place_of(from, row, p));
    }
    trim_row(row, from, neutral, held);
}

// `each` for a row of any length, PACKS packs of each of its threads at a time: with a row that begins where they do, and with
// the packs.
template <typename Each>
__device__ __forceinline__ void walk_row(const Row &row, const Word *x, Word neutral, Each each) {
    int last = row.live ? row.cols + row.phase : 0;
    // Each turn moves the window that `begin_of` sees by all packs of the row's threads.
    for (int begin = 0; begin < last; begin += THREADS * PACKS * PER_PACK) {
        Row part = row;
        part.thread = row.thread + begin / PER_PACK;
        Pack held[PACKS];
        load_row(part, x, neutral, held);
        each(part, held);
    }
}

// Pack `p` of a row that all rows share, such as weights.
__device__ __forceinline__ Pack load_weights(const Row &row, const Word *w, int p) {
    int begin = begin_of(row, p);
    if (ALIGNED) return is_whole(row, begin) ? load_pack(place_of(w, row, p)) : Pack{};
    // A pack inside the row at both ends: what is fetched beside it is the row's, too.
    if (begin >= PER_PACK && begin + 2 * PER_PACK <= row.cols) return load_across(place_of(w, row, p));
    Pack held = {};
    if (begin < row.cols) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            if (is_inside(row, begin + i)) put_word(held, i, w[begin + i]);
        }
    }
    return held;
}

__device__ __forceinline__ void store_pack(const Row &row, Word *y, int p, const Pack &value) {
    if (!row.live) return;
    Word *to = y + row.before;
    int begin = begin_of(row, p);
    if (is_whole(row, begin) && (ALIGNED || phase_of(to) == row.phase)) {
        store_whole(place_of(to, row, p), value);
    } else if (!ALIGNED && begin < row.cols) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            if (is_inside(row, begin + i)) to[begin + i] = get_word(value, i);
        }
    }
}

// Keeps packs packed: the compiler would rather hold their elements, in twice the registers, than
// unpack them a second time, and fewer threads would find room.
__device__ __forceinline__ void keep_packed(Pack (&held)[PACKS]) {
#if PER_PACK > 4
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
#pragma unroll
        for (int i = 0; i < 4; i++) asm volatile("" : "+r"(held[p].word[i]));
    }
#endif
}

#if CLUSTER > 1
__device__ __forceinline__ void cluster_barrier() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ float load_of_block(const float *mine, int block) {
    float value;
    u32 address = (u32)__cvta_generic_to_shared(mine);
    asm volatile("{.reg .u32 theirs; mapa.shared::cluster.u32 theirs, %1, %2; ld.shared::cluster.f32 %0, [theirs];}"
                 : "=f"(value)
                 : "r"(address), "r"(block)
                 : "memory");
    return value;
}
#endif

struct Add {
    __device__ static float of(float a, float b) { return a + b; }
};
struct Largest {
    __device__ static float of(float a, float b) { return fmaxf(a, b); }
};

// Of a power of two neighbouring lanes. Both operations give the same bits whoever asks, so every
// lane, every thread of a row and every launch has the same result.
template <typename Op, int COUNT>
__device__ __forceinline__ float over_lanes(float value) {
#pragma unroll
    for (int step = COUNT / 2; step > 0; step /= 2) value = Op::of(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
}

constexpr int power_of_two(int count) {
    int power = 1;
    while (power < count) power *= 2;
    return power;
}
#define SEATS power_of_two(WARPS)
// Whether more than one warp has a part of a row.
#define APART (WARPS > 1 || CLUSTER > 1)

// Tells every warp of the row what every warp found: lane i holds that of warp i of each block, and
// `neutral` where there is none. Each use in a kernel needs an `ID` of its own. All threads call it.
template <int ID, int WIDTH>
__device__ __forceinline__ void exchange(const float (&mine)[WIDTH], const float (&neutral)[WIDTH],
                                         float (&all)[CLUSTER][WIDTH]) {
    __shared__ float found[WIDTH][ROWS][WARPS];
    if (threadIdx.x % 32 == 0) {
#pragma unroll
        for (int i = 0; i < WIDTH; i++) found[i][threadIdx.y][threadIdx.x / 32] = mine[i];
    }
#if CLUSTER > 1
    cluster_barrier();
#else
    __syncthreads();
#endif
    int seat = threadIdx.x % SEATS;
#pragma unroll
    for (int block = 0; block < CLUSTER; block++) {
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            all[block][i] = neutral[i];
            if (seat >= WARPS) continue;
#if CLUSTER > 1
            all[block][i] = load_of_block(&found[i][threadIdx.y][seat], block);
#else
            all[block][i] = found[i][threadIdx.y][seat];
#endif
        }
    }
}

// The sum over a row. Each use in a kernel needs an `ID` of its own.
template <int ID>
__device__ __forceinline__ float row_sum(float value) {
    value = over_lanes<Add, LANES>(value);
    if (!APART) return value;
    float mine[1] = {value}, neutral[1] = {0.0f}, all[CLUSTER][1];
    exchange<ID>(mine, neutral, all);
    value = 0.0f;
#pragma unroll
    for (int block = 0; block < CLUSTER; block++) value += all[block][0];
    return over_lanes<Add, SEATS>(value);
}

// The end of a kernel: no block may leave its cluster while a neighbour still reads its memory.
__device__ __forceinline__ void leave() {
#if CLUSTER > 1
    cluster_barrier();
#endif
}

// Squared deviations from a mean, of those elements of pack `p` that lie inside the row.
__device__ __forceinline__ float deviations(const Row &row, int p, const Pack &held, float mean) {
    float value[PER_PACK], squares = 0.0f;
    unpack(held, value);
    int begin = begin_of(row, p);
    if (is_whole(row, begin)) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) squares += (value[i] - mean) * (value[i] - mean);
    } else if (!ALIGNED) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            float apart = is_inside(row, begin + i) ? value[i] - mean : 0.0f;
            squares += apart * apart;
        }
    }
    return squares;
}

#if DEPTH > 0
extern __shared__ Pack room[];

// This thread's packs of a stage; behind the last one they are those of what all rows share.
__device__ __forceinline__ Pack *stage_at(int stage) {
    return room + stage * (PACKS * THREADS) + threadIdx.x;
}

__device__ __forceinline__ void fetch_row(const Row &row, const Word *x, int stage) {
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        if (row.live && is_fetched(row, begin_of(row, p))) fetch(stage_at(stage) + p * THREADS, place_of(x + row.before, row, p));
    }
    end_stage();
}

__device__ __forceinline__ void take_row(const Row &row, const Word *x, Word neutral, int stage, Pack (&held)[PACKS]) {
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) put_word(held[p], i, neutral);
        if (row.live && is_fetched(row, begin_of(row, p))) held[p] = stage_at(stage)[p * THREADS];
    }
    trim_row(row, x + row.before, neutral, held);
}
#endif

// Rows that all rows share, such as weights.
template <int COUNT>
struct Shared {
    const Word *row[COUNT];
};

// Pack `p` of one of them, by its number.
template <int COUNT>
__device__ __forceinline__ Pack load_shared(const Row &row, const Shared<COUNT> &shared, int which, int p) {
#if DEPTH > 0
    return stage_at(DEPTH + which)[p * THREADS];
#else
    return load_weights(row, shared.row[which], p);
#endif
}

// `each` for this block's row, or with DEPTH for all of its rows, with their packs; `neutral` as of `load_row`. KEPT of the
// shared rows are asked for.
template <int KEPT, int COUNT, typename Each>
__device__ __forceinline__ void each_row(const Word *x, Word neutral, i64 rows, i64 cols, const Shared<COUNT> &shared,
                                         Each each) {
    Pack held[PACKS];
#if DEPTH > 0
    i64 index = blockIdx.x;
#pragma unroll
    for (int stage = 0; stage < DEPTH; stage++) fetch_row(row_at(x, index + stage * (i64)gridDim.x, rows, cols), x, stage);
    Row first = row_at(x, index, rows, cols);
#pragma unroll
    for (int which = 0; which < KEPT; which++) {
#pragma unroll
        for (int p = 0; p < PACKS; p++) stage_at(DEPTH + which)[p * THREADS] = load_weights(first, shared.row[which], p);
    }
    for (int stage = 0; index < rows; index += gridDim.x, stage = stage == DEPTH - 1 ? 0 : stage + 1) {
        Row row = row_at(x, index, rows, cols);
        wait_for_stages<DEPTH - 1>();
        take_row(row, x, neutral, stage, held);
        fetch_row(row_at(x, index + DEPTH * (i64)gridDim.x, rows, cols), x, stage);
        each(row, held);
        // What warps exchanged is read before the next row's is written.
        if (APART) __syncthreads();
    }
#else
    Row row = this_row(x, rows, cols);
    load_row(row, x, neutral, held);
    each(row, held);
    leave();
#endif
}
