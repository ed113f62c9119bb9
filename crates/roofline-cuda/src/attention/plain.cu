// Attention as the mathematics says it: a block a head of a query. Largest score and sum of exponentials in one walk over
// the keys, the mean of the values in another, THREADS keys at a time.
//
// Grid: batch times queries times heads. With VARLEN a batch is one row of tokens, of `count` sequences that `offsets` cuts.
#include "attention.cuh"

__device__ __forceinline__ float product_of(const Word *q, const Word *k, i64 dim) {
    float sum = 0.0f;
    for (i64 d = 0; d < dim; d++) sum = __fmaf_rn(to_float(q[d]), to_float(k[d]), sum);
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    attention_plain(const Word *__restrict__ q, const Word *__restrict__ k, const Word *__restrict__ v, const int *list,
                    const int *offsets, const int *last, const Word *__restrict__ numbers, Word *__restrict__ y, i64 batches, i64 seq, i64 kv, i64 heads,
                    i64 kv_heads, i64 dim, i64 count, i64 elements, i64 window, float scale, float cap) {
    __shared__ float most[THREADS], sums[THREADS], share[THREADS];
    Sizes size = {batches, seq, kv, heads, kv_heads, dim, elements};
    Pages pages = {list, offsets, last, (int)count};
    Beside beside = {numbers, window, scale, cap};
    i64 head = blockIdx.x % heads, i = blockIdx.x / heads % seq, batch = blockIdx.x / heads / seq;
    i64 query = query_at(size, batch, i, head), kv_head = head / (heads / kv_heads);
    int length = length_of(size, pages, batch), seen = seen_by(size, length, i), from = seen_from(size, beside, length, i);
#if VARLEN
    // Sequences lie one behind another: a token sees those of its own.
    int own = 0;
    while (own + 1 < count && offsets[own + 1] <= i) own++;
    from = max(offsets[own], 0);
    seen = CAUSAL ? (int)i + 1 : min(offsets[own + 1], length);
#endif

    const Word *mask = mask_of(size, beside, i);
    float largest = __uint_as_float(0xff800000u), sum = 0.0f;
    for (int j = from + (int)threadIdx.x; j < seen; j += THREADS) {
        i64 key = key_at(size, place_of(size, pages, batch, j), kv_head);
        float score = score_of(product_of(q + query, k + key, dim), beside, mask, j);
        float before = largest;
        largest = fmaxf(largest, score);
        sum = sum * exp_of(before - base_of(largest)) + exp_of(score - base_of(largest));
    }
    most[threadIdx.x] = largest;
    sums[threadIdx.x] = sum;
    __syncthreads();
    largest = most[0];
    for (int other = 1; other < THREADS; other++) largest = fmaxf(largest, most[other]);
    float base = base_of(largest);
    sum = 0.0f;
    for (int other = 0; other < THREADS; other++) sum += sums[other] * exp_of(most[other] - base);

    for (i64 first = 0; first < dim; first += THREADS) {
        i64 d = first + threadIdx.x;
        float mean = 0.0f;
        for (int begin = from; begin < seen; begin += THREADS) {
            int own = begin + (int)threadIdx.x;
            __syncthreads();
            if (own < seen) {
                i64 key = key_at(size, place_of(size, pages, batch, own), kv_head);
                share[threadIdx.x] = exp_of(score_of(product_of(q + query, k + key, dim), beside, mask, own) - base);
            }
            __syncthreads();
            for (int j = begin; j < seen && j < begin + THREADS; j++) {
                i64 value = key_at(size, place_of(size, pages, batch, j), kv_head);
                if (d < dim) mean = __fmaf_rn(share[j - begin], to_float(v[value + d]), mean);
            }
        }
        if (d < dim) y[query + d] = from_float(mean_of(mean, sum, largest, beside, head, 1.0f));
    }
}
