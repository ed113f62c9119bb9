// One number for each line of a tensor [outer, length, inner] that lies across memory; see `wide.cuh`.
//
// Grid: outer * inner / (ACROSS * WIDE), block (ACROSS, DOWN). Sixteen bytes a thread where every line of memory begins at
// a multiple of sixteen, else one element.
#include "wide.cuh"

extern "C" __global__ void __launch_bounds__(ACROSS *DOWN)
    reduce_columns(const Word *__restrict__ a, const Word *__restrict__ b, Word *__restrict__ out, u32 *scratch, i64 outer,
                   i64 length, i64 inner) {
    Tile tile = this_tile(length, inner);
    Found found[WIDE], line;
    find_columns(a, tile, length, inner, found);
    __shared__ Found all[LEFT][ACROSS * WIDE];
    i64 column = tile.lines + threadIdx.y * ACROSS + threadIdx.x;
    if (meet(found, all, line) && column < inner) out[tile.slab * inner + column] = result_of(line, length);
}
