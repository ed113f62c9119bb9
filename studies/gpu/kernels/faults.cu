// Kernels that fail: each costs its row, and no other.
//! [[kernel]]
//! name = "wild"
//! about = "writes where nothing is"
//! operation = "add"
//! dtypes = ["f32"]
//! entry = "wild"
//! arguments = ["x", "y", "z", "rows", "cols"]
//! grid = ["1"]
//! block = ["32"]
//!
//! [[kernel]]
//! name = "endless"
//! about = "never ends"
//! operation = "add"
//! dtypes = ["f32"]
//! entry = "endless"
//! arguments = ["x", "y", "z", "rows", "cols"]
//! grid = ["1"]
//! block = ["32"]
//!
//! [[kernel]]
//! name = "greedy"
//! about = "wants more shared memory than there is"
//! operation = "add"
//! dtypes = ["f32"]
//! entry = "honest"
//! arguments = ["x", "y", "z", "rows", "cols"]
//! grid = ["rows"]
//! block = ["256"]
//! shared = "16777216"
//!
//! [[kernel]]
//! name = "past-the-end"
//! about = "writes one element too many"
//! operation = "add"
//! dtypes = ["f32"]
//! entry = "past_the_end"
//! arguments = ["x", "y", "z", "rows", "cols"]
//! grid = ["rows"]
//! block = ["256"]
//!
//! [[kernel]]
//! name = "honest"
//! about = "adds, a row a block"
//! operation = "add"
//! dtypes = ["f32"]
//! entry = "honest"
//! arguments = ["x", "y", "z", "rows", "cols"]
//! grid = ["rows"]
//! block = ["256"]
typedef long long i64;

extern "C" __global__ void honest(const float *x, const float *y, float *z, i64 rows, i64 cols) {
    for (i64 i = threadIdx.x; i < cols; i += blockDim.x) {
        z[blockIdx.x * cols + i] = x[blockIdx.x * cols + i] + y[blockIdx.x * cols + i];
    }
}

extern "C" __global__ void past_the_end(const float *x, const float *y, float *z, i64 rows, i64 cols) {
    for (i64 i = threadIdx.x; i < cols; i += blockDim.x) {
        z[blockIdx.x * cols + i] = x[blockIdx.x * cols + i] + y[blockIdx.x * cols + i];
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) z[rows * cols] = 1.0f;
}

extern "C" __global__ void wild(const float *x, const float *y, float *z, i64 rows, i64 cols) {
    z[(i64)1 << 46] = x[0] + y[0];
}

extern "C" __global__ void endless(const float *x, const float *y, volatile float *z, i64 rows, i64 cols) {
    while (true) z[0] = x[0] + y[0];
}
