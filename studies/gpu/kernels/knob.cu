// One softmax under several names, for how often a comparison is wrong. `studies/gpu/run.sh` writes their header: names
// that begin with `more` do 1 % of the rows twice, those that begin with `late` shall take 90 ns longer, 1 % of
// 9 us; all others are the same code.
// A block a row, three walks; sums in f32 by halves of the block.
typedef long long i64;

__device__ float of_block(float value, bool is_sum) {
    __shared__ float part[256];
    __syncthreads();
    part[threadIdx.x] = value;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            float other = part[threadIdx.x + half];
            part[threadIdx.x] = is_sum ? part[threadIdx.x] + other : fmaxf(part[threadIdx.x], other);
        }
    }
    __syncthreads();
    return part[0];
}

__device__ void one_row(const float *x, float *y, i64 cols) {
    float most = __int_as_float(0xff800000);
    bool is_nan = false;
    for (i64 i = threadIdx.x; i < cols; i += blockDim.x) {
        most = fmaxf(most, x[i]);
        is_nan |= x[i] != x[i];
    }
    most = of_block(most, false);
    // A maximum passes over NaN; the sum does not.
    float sum = is_nan ? __int_as_float(0x7fffffff) : 0.0f;
    for (i64 i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(x[i] - most);
    sum = of_block(sum, true);
    for (i64 i = threadIdx.x; i < cols; i += blockDim.x) y[i] = expf(x[i] - most) / sum;
}

// Rows beyond the last are the first ones again.
__device__ i64 row_of(i64 rows) { return blockIdx.x < rows ? blockIdx.x : blockIdx.x - rows; }

extern "C" __global__ void same(const float *x, float *y, i64 rows, i64 cols) {
    i64 row = row_of(rows);
    one_row(x + row * cols, y + row * cols, cols);
}

// 42 steps that wait for each other, of 4 cycles at about 1.9 GHz. Where all blocks run at once, a launch takes that
// much longer.
extern "C" __global__ void late(const float *x, float *y, i64 rows, i64 cols) {
    i64 row = row_of(rows);
    one_row(x + row * cols, y + row * cols, cols);
    float chain = threadIdx.x;
    for (int step = 0; step < 42; step++) chain = fmaf(chain, 1.0000001f, 1e-9f);
    // Never true, and no compiler knows: the chain has to be walked.
    if (chain < 0.0f) y[row * cols] = chain;
}
