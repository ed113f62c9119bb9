// `rounds` steps of 128 rows by 256 columns a block on the matrix units, each as deep as 32 bytes of a row are long. Operands
// lie in shared memory and are noise: fed with zeros, the units would take less power and run faster than any that work.
//
// Grid: any, best a block a multiprocessor; 256 threads. KIND is bf16, f16 or s8; NOISE has the bits of an operand that
// vary, LEAST those that are always set. The result is written only if it is what it hardly ever is.
#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)
#define SLICES 4
// Bytes of a step's operands: 64 rows for each half, and 256 columns, of 32 bytes each.
#define HALF_BYTES 2048
#define COLUMNS_BYTES 8192

typedef unsigned int u32;
typedef unsigned long long u64;
// Steps are 32 bytes deep.
#if IS_WHOLE
typedef int Sum;
#define SUM s32
#define SUMS(value) "+r"(value)
#define DEPTH 32
#define FLAGS
#else
typedef float Sum;
#define SUM f32
#define SUMS(value) "+f"(value)
#define DEPTH 16
// Nothing is negated, nothing transposed.
#define FLAGS ", 1, 1, 0, 0"
#endif

__device__ __forceinline__ u32 noise(u32 x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return ((x ^ (x >> 16)) & NOISE) | LEAST;
}

#if __CUDA_ARCH__ == 900
// Rows of eight times sixteen bytes lie behind each other, without a swizzle: the next in depth 128 bytes on, the next
// eight rows 256.
__device__ __forceinline__ u64 operand(const void *base) {
    u64 address = (u64)__cvta_generic_to_shared(base);
    return ((address & 0x3ffff) >> 4) | ((u64)(128 >> 4) << 16) | ((u64)(256 >> 4) << 32);
}

#define FOUR(i) SUMS(sum[i]), SUMS(sum[i + 1]), SUMS(sum[i + 2]), SUMS(sum[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
#define ALL SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80), SIXTEEN(96), SIXTEEN(112)

__device__ __forceinline__ void step(Sum (&sum)[128], u64 rows, u64 columns) {
    asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k" TEXT(DEPTH) "." TEXT(SUM) "." TEXT(KIND) "." TEXT(KIND) " {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
                 "}, %128, %129, adds" FLAGS ";\n}\n"
                 : ALL
                 : "l"(rows), "l"(columns), "r"(1));
}

__device__ __forceinline__ Sum multiply(const u32 *rows, const u32 *columns, long long rounds) {
    Sum sum[128] = {};
    asm volatile("fence.proxy.async.shared::cta;\nwgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll 1
    for (long long round = 0; round < rounds; round++) {
        int slice = round % SLICES;
        step(sum, operand(rows + slice * (HALF_BYTES / 4)), operand(columns + slice * (COLUMNS_BYTES / 4)));
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    Sum all = 0;
#pragma unroll
    for (int i = 0; i < 128; i++) all += sum[i];
    return all;
}
#else
// Steps of 16 by 8 in each of the eight warps, in chains that do not wait for each other.
#define CHAINS 8

__device__ __forceinline__ Sum multiply(const u32 *rows, const u32 *columns, long long rounds) {
    Sum sum[CHAINS][4] = {};
    u32 a[4], b[2];
    for (int i = 0; i < 4; i++) a[i] = rows[threadIdx.x % 128 + 128 * i];
    for (int i = 0; i < 2; i++) b[i] = columns[threadIdx.x % 128 + 128 * i];
#pragma unroll 1
    for (long long round = 0; round < rounds; round++) {
#pragma unroll
        for (int number = 0; number < 32; number++) {
            Sum(&own)[4] = sum[number % CHAINS];
            asm volatile("mma.sync.aligned.m16n8k" TEXT(DEPTH) ".row.col." TEXT(SUM) "." TEXT(KIND) "." TEXT(KIND) "." TEXT(SUM)
                         " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : SUMS(own[0]), SUMS(own[1]), SUMS(own[2]), SUMS(own[3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        }
    }
    Sum all = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; i++) all += sum[i][0] + sum[i][1] + sum[i][2] + sum[i][3];
    return all;
}
#endif

extern "C" __global__ void __launch_bounds__(256) probe_matrix(float *sink, long long rounds) {
    __shared__ alignas(128) u32 rows[2][SLICES * HALF_BYTES / 4], columns[SLICES * COLUMNS_BYTES / 4];
    // What is never read is not filled.
    int slices = rounds < SLICES ? (int)rounds : SLICES;
    for (int i = threadIdx.x; i < slices * HALF_BYTES / 4; i += 256) {
        rows[0][i] = noise(i);
        rows[1][i] = noise(i + (1 << 20));
    }
    for (int i = threadIdx.x; i < slices * COLUMNS_BYTES / 4; i += 256) columns[i] = noise(i + (2 << 20));
    __syncthreads();
    Sum all = multiply(rows[threadIdx.x / 128], columns, rounds);
    if (all == (Sum)-12345) *sink = (float)all;
}
