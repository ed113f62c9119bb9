// A row in registers: how the threads of a row share it, and how they add up what they found.
//
// A row is cut at multiples of sixteen bytes into packs. `THREADS` threads of each of `CLUSTER`
// blocks hold `PACKS` packs each, neighbours beside neighbours; a block has `ROWS` rows. With
// `ALIGNED` every row begins and ends at such a multiple. Otherwise the first and the last pack are
// taken element by element: the packs between stay whole, wherever the row begins.
#pragma once
#include "element.cuh"

#define WARPS ((THREADS + 31) / 32)
#define LANES (THREADS < 32 ? THREADS : 32)

struct Row {
    i64 index;
    bool live;
    // Which of the row's threads this is.
    int thread;
    i64 cols;
    // Elements from the last multiple of sixteen bytes to the row's first element.
    int phase;
};

__device__ __forceinline__ int block_of_cluster() {
    return CLUSTER == 1 ? 0 : blockIdx.x % CLUSTER;
}

__device__ __forceinline__ Row this_row(const Word *x, i64 rows, i64 cols) {
    Row row;
    row.index = (i64)(blockIdx.x / CLUSTER) * ROWS + threadIdx.y;
    row.live = row.index < rows;
    row.thread = block_of_cluster() * (THREADS * PACKS) + threadIdx.x;
    row.cols = cols;
    row.phase = ALIGNED || !row.live ? 0 : phase_of(x + row.index * cols);
    return row;
}

// Where pack `p` of this thread begins, in elements of the row; below 0 before its first one.
__device__ __forceinline__ i64 begin_of(const Row &row, int p) {
    return (i64)(row.thread + p * THREADS) * PER_PACK - row.phase;
}

__device__ __forceinline__ bool is_whole(const Row &row, i64 begin) {
    return begin + PER_PACK <= row.cols && (ALIGNED || begin >= 0);
}

// Elements outside the row are `neutral`, so that no later step need look.
__device__ __forceinline__ void load_row(const Row &row, const Word *x, Word neutral, Pack (&held)[PACKS]) {
    const Word *from = x + row.index * row.cols;
#pragma unroll
    for (int p = 0; p < PACKS; p++) {
        i64 begin = begin_of(row, p);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) put_word(held[p], i, neutral);
        if (!row.live) continue;
        if (is_whole(row, begin)) {
            held[p] = load_stream(from + begin);
        } else if (!ALIGNED && begin < row.cols) {
#pragma unroll
            for (int i = 0; i < PER_PACK; i++) {
                if (begin + i >= 0 && begin + i < row.cols) put_word(held[p], i, from[begin + i]);
            }
        }
    }
}

// Pack `p` of a row that all rows share, such as weights; whole packs only where it lies as x does.
__device__ __forceinline__ Pack load_weights(const Row &row, const Word *w, int p) {
    i64 begin = begin_of(row, p);
    Pack held = {};
    if (is_whole(row, begin) && (ALIGNED || phase_of(w) == row.phase)) {
        held = load_shared_row(w + begin);
    } else if (begin < row.cols) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            if (begin + i >= 0 && begin + i < row.cols) put_word(held, i, w[begin + i]);
        }
    }
    return held;
}

__device__ __forceinline__ void store_pack(const Row &row, Word *y, int p, const Pack &value) {
    if (!row.live) return;
    Word *to = y + row.index * row.cols;
    i64 begin = begin_of(row, p);
    if (is_whole(row, begin) && (ALIGNED || phase_of(to) == row.phase)) {
        store_stream(to + begin, value);
    } else if (!ALIGNED && begin < row.cols) {
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            if (begin + i >= 0 && begin + i < row.cols) to[begin + i] = get_word(value, i);
        }
    }
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

// Unites what all threads of a row found, in one fixed order, so that every launch gives the same
// bits. `State` has `WIDTH` floats, `void merge(const State &)` and a default that changes nothing.
// All threads of the block must call it, once a kernel.
template <typename State>
__device__ __forceinline__ State unite(State state) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) {
        State other;
#pragma unroll
        for (int i = 0; i < State::WIDTH; i++) other.value[i] = __shfl_xor_sync(0xffffffffu, state.value[i], step);
        // The same order on both sides: the sum must not depend on who asks.
        if ((threadIdx.x & step) == 0) {
            state.merge(other);
        } else {
            other.merge(state);
            state = other;
        }
    }
    if (WARPS == 1 && CLUSTER == 1) return state;

    __shared__ float found[State::WIDTH][ROWS][WARPS];
    if (threadIdx.x % 32 == 0) {
#pragma unroll
        for (int i = 0; i < State::WIDTH; i++) found[i][threadIdx.y][threadIdx.x / 32] = state.value[i];
    }
    State all;
#if CLUSTER > 1
    cluster_barrier();
#pragma unroll 1
    for (int block = 0; block < CLUSTER; block++) {
        // Each lane fetches what one warp of that block found; WARPS is at most 32.
        State theirs;
        if (threadIdx.x % 32 < WARPS) {
#pragma unroll
            for (int i = 0; i < State::WIDTH; i++)
                theirs.value[i] = load_of_block(&found[i][threadIdx.y][threadIdx.x % 32], block);
        }
        all.merge(theirs);
    }
    // Nobody may leave while a neighbour still reads its memory.
    cluster_barrier();
#else
    __syncthreads();
    if (threadIdx.x % 32 < WARPS) {
#pragma unroll
        for (int i = 0; i < State::WIDTH; i++) all.value[i] = found[i][threadIdx.y][threadIdx.x % 32];
    }
#endif
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        State other;
#pragma unroll
        for (int i = 0; i < State::WIDTH; i++) other.value[i] = __shfl_xor_sync(0xffffffffu, all.value[i], step);
        if ((threadIdx.x & step) == 0) {
            all.merge(other);
        } else {
            other.merge(all);
            all = other;
        }
    }
    return all;
}

struct Sum {
    static const int WIDTH = 1;
    float value[1];
    __device__ Sum() { value[0] = 0.0f; }
    __device__ void merge(const Sum &other) { value[0] += other.value[0]; }
};
