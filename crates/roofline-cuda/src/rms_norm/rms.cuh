// What a weight of rms-norm counts: with GEMMA, as that model stores them, one more.
#pragma once
#include "element.cuh"

__device__ __forceinline__ float weight_of(float w) {
    return GEMMA ? 1.0f + w : w;
}
