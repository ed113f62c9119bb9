// batch-norm: a stream of packs, each mostly of one channel, whose factor and summand a thread computes once.
//
// Grid: packs / (THREADS * PACKS).
#include "stream.cuh"

// y = x * factor + summand.
struct Channel {
    float factor, summand;
};

extern "C" __global__ void __launch_bounds__(THREADS)
    batch_norm_stream(const Word *__restrict__ x, const Word *__restrict__ mean, const Word *__restrict__ var,
                      const Word *__restrict__ w, const Word *__restrict__ b, Word *__restrict__ y, i64 n, i64 channels,
                      i64 pixels, float epsilon) {
    auto channel_of = [=](i64 line) {
        i64 channel;
        divide(line, channels, channel);
        float factor = to_float(w[channel]) / sqrtf(to_float(var[channel]) + epsilon);
        return Channel{factor, to_float(b[channel]) - to_float(mean[channel]) * factor};
    };
    const Word *const from[1] = {x};
    stream(from, y, n, [=](i64 begin, const float(&value)[1][PER_PACK], float(&result)[PER_PACK]) {
        i64 pixel, line = divide(begin < 0 ? 0 : begin, pixels, pixel);
        Channel channel = channel_of(line);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) {
            result[i] = __fmaf_rn(value[0][i], channel.factor, channel.summand);
            if (begin + i < 0 || ++pixel < pixels) continue;
            pixel = 0;
            channel = channel_of(++line);
        }
    });
}
