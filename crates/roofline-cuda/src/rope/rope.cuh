// Angles of rotary position embedding, and how a pair is turned.
#pragma once
#include "element.cuh"

// base^(-2i/dim): the frequency of pair i.
__device__ __forceinline__ double frequency(double base, int i, int dim) {
    return pow(base, -2.0 * i / dim);
}

// Cosine and sine of an angle in f64, rounded once: in f32 the angle alone would be off by 1e-4 at position 2048.
__device__ __forceinline__ void turn_of(double angle, float &cosine, float &sine) {
    double s, c;
    sincos(angle, &s, &c);
    cosine = (float)c;
    sine = (float)s;
}

__device__ __forceinline__ void turn(float &a, float &b, float cosine, float sine) {
    float turned = a * cosine - b * sine;
    b = a * sine + b * cosine;
    a = turned;
}
