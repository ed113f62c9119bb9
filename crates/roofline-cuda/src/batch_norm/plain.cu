// batch-norm as the mathematics says it: one element a thread, and what its channel is scaled by computed each time.
//
// Grid: n / THREADS.
#include "element.cuh"

extern "C" __global__ void batch_norm_plain(const Word *__restrict__ x, const Word *__restrict__ mean,
                                            const Word *__restrict__ var, const Word *__restrict__ w,
                                            const Word *__restrict__ b, Word *__restrict__ y, i64 n, i64 channels,
                                            i64 pixels, float epsilon) {
    i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    i64 channel = i / pixels % channels;
    float scale = to_float(w[channel]) / sqrtf(to_float(var[channel]) + epsilon);
    y[i] = from_float((to_float(x[i]) - to_float(mean[channel])) * scale + to_float(b[channel]));
}
