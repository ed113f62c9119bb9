// Cross-entropy as the mathematics says it: one thread a row, two walks over its logits.
//
// Grid: rows / 128; with MEAN one block, whose threads add up what they found in a tree. Neighbours in a warp are a row
// apart, so that each sixteen bytes fetched serve one thread alone.
#include "exp.cuh"

__device__ __forceinline__ float loss_of(const Word *x, int target, i64 cols) {
    float largest = __uint_as_float(0xff800000u), sum = 0.0f;
    for (i64 i = 0; i < cols; i++) largest = fmaxf(largest, to_float(x[i]));
    for (i64 i = 0; i < cols; i++) sum += exp_of(to_float(x[i]) - largest);
    // A target that names no column has no logit.
    bool named = target >= 0 && target < cols;
    float logit = named ? to_float(x[target]) : __uint_as_float(0x7fc00000u);
    return (largest - logit) + logf(sum);
}

extern "C" __global__ void cross_entropy_plain(const Word *__restrict__ x, const int *__restrict__ target,
                                               Word *__restrict__ y, u32 *scratch, i64 rows, i64 cols) {
    float sum = 0.0f, count = 0.0f;
    for (i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += (i64)gridDim.x * blockDim.x) {
        bool counts = target[row] != NO_TARGET;
        float loss = counts ? loss_of(x + row * cols, target[row], cols) : 0.0f;
        sum += loss;
        count += counts ? 1.0f : 0.0f;
        if (!MEAN) y[row] = from_float(loss);
    }
    if (!MEAN) return;
    __shared__ float sums[THREADS], counts[THREADS];
    sums[threadIdx.x] = sum;
    counts[threadIdx.x] = count;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            counts[threadIdx.x] += counts[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) y[0] = from_float(sums[0] / counts[0]);
}
