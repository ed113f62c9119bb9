// What an owner of tensors does with their bytes: single elements, whole patterns, hashes, searches.
//
// All count in signed 64 bits and walk in strides of the grid, so that any grid does all the work.
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned char u8;

__device__ __forceinline__ i64 first_of() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ i64 stride_of() { return (i64)gridDim.x * blockDim.x; }

// The elements of `size` bytes at `places` become `words`, low bytes first.
extern "C" __global__ void tend_scatter(u8 *base, const u64 *places, const u64 *words, i64 size, i64 count) {
    for (i64 i = first_of(); i < count; i += stride_of()) {
        for (i64 b = 0; b < size; b++) base[places[i] + b] = (u8)(words[i] >> (8 * b));
    }
}

extern "C" __global__ void tend_gather(const u8 *base, const u64 *places, u64 *words, i64 size, i64 count) {
    for (i64 i = first_of(); i < count; i += stride_of()) {
        u64 word = 0;
        for (i64 b = 0; b < size; b++) word |= (u64)base[places[i] + b] << (8 * b);
        words[i] = word;
    }
}

// `code` in every element of `size` bytes, a power of two at whose multiple `start` lies.
extern "C" __global__ void tend_repeat(u8 *start, u64 code, i64 size, i64 count) {
    for (i64 i = first_of(); i < count; i += stride_of()) {
        if (size == 1) start[i] = (u8)code;
        else if (size == 2) ((unsigned short *)start)[i] = (unsigned short)code;
        else if (size == 4) ((unsigned int *)start)[i] = (unsigned int)code;
        else ((u64 *)start)[i] = code;
    }
}

__device__ __forceinline__ u64 word_at(const u8 *start, i64 number, i64 bytes) {
    i64 first = 8 * number;
    if (first + 8 <= bytes && ((u64)start & 7) == 0) return ((const u64 *)start)[number];
    u64 word = 0;
    for (i64 b = 0; b < 8 && first + b < bytes; b++) word |= (u64)start[first + b] << (8 * b);
    return word;
}

__device__ __forceinline__ u64 mixed(u64 number, u64 word) {
    u64 x = word ^ number * 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

// Adds to `sum` a number for every word of eight bytes and its place; the last is filled up with zeros.
extern "C" __global__ void tend_hash(const u8 *start, u64 *sum, i64 bytes) {
    u64 own = 0;
    for (i64 i = first_of(); 8 * i < bytes; i += stride_of()) own += mixed((u64)i, word_at(start, i, bytes));
    atomicAdd(sum, own);
}

// The least number of an element of `size` bytes that is `code` becomes `first`, if it is less than what is there.
extern "C" __global__ void tend_find(const u8 *start, u64 *first, u64 code, i64 size, i64 count) {
    for (i64 i = first_of(); i < count; i += stride_of()) {
        u64 word = 0;
        for (i64 b = 0; b < size; b++) word |= (u64)start[i * size + b] << (8 * b);
        if (word == code) atomicMin(first, (u64)i);
    }
}

extern "C" __global__ void tend_nothing() {}

#ifdef __CUDACC__
// Nanoseconds of a clock that all of the device has.
__device__ __forceinline__ u64 time_now() {
    u64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}
#endif

// Does nothing for so long. A turn takes more than a nanosecond: it ends even where the clock stands still.
extern "C" __global__ void tend_sleep(i64 nanoseconds) {
    u64 start = time_now();
    for (i64 turn = 0; turn < nanoseconds && (i64)(time_now() - start) < nanoseconds; turn++) {
    }
}
