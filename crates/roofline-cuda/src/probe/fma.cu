// `rounds` times eight multiply-adds a thread in f32, from registers: eight chains, so that none waits for itself.
//
// Grid: any. `seed` is unknown to the compiler, and the result is written only if it is what it never is.
extern "C" __global__ void __launch_bounds__(THREADS) probe_fma(float *sink, float seed, long long rounds) {
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = seed * (float)(i + 1) + (float)threadIdx.x;
#pragma unroll 8
    for (long long round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < 8; i++) x[i] = fmaf(x[i], seed, 0.25f);
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += x[i];
    if (sum == -1.0f) *sink = sum;
}
