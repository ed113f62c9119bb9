// Philox4x32-10: four words of lots for every counter, the same on every device and in any order.
#pragma once
#include "element.cuh"

// Word `i` of the block decides on element 4 * block + i.
__device__ __forceinline__ void lots_of(i64 block, u32 key, u32 offset, u32 (&lot)[4]) {
    u32 a = (u32)block, b = (u32)((unsigned long long)block >> 32), c = offset, d = 0, second = 0;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u32 high0 = __umulhi(a, 0xd2511f53u), low0 = a * 0xd2511f53u;
        u32 high1 = __umulhi(c, 0xcd9e8d57u), low1 = c * 0xcd9e8d57u;
        a = high1 ^ b ^ key;
        b = low1;
        c = high0 ^ d ^ second;
        d = low0;
        key += 0x9e3779b9u;
        second += 0xbb67ae85u;
    }
    lot[0] = a;
    lot[1] = b;
    lot[2] = c;
    lot[3] = d;
}
