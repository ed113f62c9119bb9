//! [[kernel]]
//! name = "a"
//! operation = "softmax"
//! dtypes = ["f32"]
//! entry = "same"
//! arguments = ["x", "y", "rows", "cols"]
//! grid = ["rows"]
//! block = ["256"]
//!
//! [[kernel]]
//! name = "b"
//! operation = "softmax"
//! dtypes = ["f32"]
//! entry = "same"
//! arguments = ["x", "y", "rows", "cols"]
//! grid = ["rows"]
//! block = ["256"]
//!
//! [[kernel]]
//! name = "c"
//! operation = "softmax"
//! dtypes = ["f32"]
//! entry = "same"
//! arguments = ["x", "y", "rows", "cols"]
//! grid = ["rows"]
//! block = ["256"]
//!
//! [[kernel]]
//! name = "d"
//! operation = "softmax"
//! dtypes = ["f32"]
//! entry = "same"
//! arguments = ["x", "y", "rows", "cols"]
//! grid = ["rows"]
//! block = ["256"]
//!
//! [[kernel]]
//! name = "more-1"
//! operation = "softmax"
//! dtypes = ["f32"]
//! entry = "more"
//! arguments = ["x", "y", "rows", "cols"]
//! grid = ["rows + rows / 100"]
//! block = ["256"]
//!
// One softmax under several names, for how often a comparison is wrong: `a` to `d` are the same code, `more-1` does
// 1 % of its rows twice.
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

extern "C" __global__ void same(const float *x, float *y, i64 rows, i64 cols) {
    one_row(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}

// Rows beyond the last are the first ones again.
extern "C" __global__ void more(const float *x, float *y, i64 rows, i64 cols) {
    i64 row = blockIdx.x % rows;
    one_row(x + row * cols, y + row * cols, cols);
}
