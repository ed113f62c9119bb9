// What becomes of a normed element: AFFINE, whether there are weights and a bias; GELU, 1 the form by the error function, 2
// that by tanh.
#pragma once
#include "math.cuh"

__device__ __forceinline__ float finish(float normed, float weight, float bias) {
    float z = AFFINE ? normed * weight + bias : normed;
    return GELU == 1 ? gelu(z) : GELU == 2 ? gelu_tanh(z) : z;
}
