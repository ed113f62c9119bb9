// Copies into shared memory that go on while their thread does other things. A thread waits for its own, stage by stage, and
// sees them without a barrier: what is in flight takes shared memory and no register.
#pragma once
#include "element.cuh"

// Sixteen bytes, both ends at multiples of sixteen; zeros where there is nothing to fetch.
__device__ __forceinline__ void fetch(Pack *to, const void *from, bool is_there = true) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from),
                 "r"(is_there ? 16 : 0)
                 : "memory");
}

// The end of a stage, which may be empty: stages are counted, not copies.
__device__ __forceinline__ void end_stage() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all stages but the last LATER are there.
template <int LATER>
__device__ __forceinline__ void wait_for_stages() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
}
