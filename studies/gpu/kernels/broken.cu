//! [[kernel]]
//! name = "broken"
//! operation = "softmax"
//! dtypes = ["f32"]
//! entry = "broken"
//! arguments = ["x", "y", "rows", "cols"]
//! grid = ["rows"]
//! block = ["256"]
extern "C" __global__ void broken(const float *x, float *y, long long rows, long long cols) {
    y[threadIdx.x] = undeclared(x[threadIdx.x]);
}
