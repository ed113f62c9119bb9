// y[batch, j, i] = x[batch, i, j] by tiles of 64 × 64 in shared memory; rows and batches may lie apart.
//
// Grid: tiles of all batches, 256 threads. WHOLE: every row of both sides begins at a multiple of sixteen bytes and is whole
// packs. A row of the tile is one element longer, so that neither rows nor columns meet in one bank.
#include "element.cuh"

#define TILE 64
#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose_tiles(const Word *__restrict__ x, Word *__restrict__ y, i64 rows, i64 cols, i64 x_batch, i64 x_row,
                    i64 y_batch, i64 y_row) {
    __shared__ Word tile[TILE][TILE + 1];
    i64 across = (cols + TILE - 1) / TILE, down = (rows + TILE - 1) / TILE, index = blockIdx.x;
    i64 left = index % across * TILE, top = index / across % down * TILE, batch = index / across / down;
    x += batch * x_batch + top * x_row + left;
    y += batch * y_batch + left * y_row + top;
    i64 height = rows - top < TILE ? rows - top : TILE, width = cols - left < TILE ? cols - left : TILE;
#if WHOLE
#define OF_ROW (TILE / PER_PACK)
#pragma unroll
    for (int at = threadIdx.x; at < TILE * OF_ROW; at += THREADS) {
        int row = at / OF_ROW, column = at % OF_ROW * PER_PACK;
        if (row >= height || column >= width) continue;
        Pack held = load_pack(x + row * x_row + column);
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) tile[row][column + i] = get_word(held, i);
    }
    __syncthreads();
#pragma unroll
    for (int at = threadIdx.x; at < TILE * OF_ROW; at += THREADS) {
        int row = at / OF_ROW, column = at % OF_ROW * PER_PACK;
        if (row >= width || column >= height) continue;
        Pack held = {};
#pragma unroll
        for (int i = 0; i < PER_PACK; i++) put_word(held, i, tile[column + i][row]);
        store_whole(y + row * y_row + column, held);
    }
#else
    for (int at = threadIdx.x; at < TILE * TILE; at += THREADS) {
        int row = at / TILE, column = at % TILE;
        if (row < height && column < width) tile[row][column] = x[row * x_row + column];
    }
    __syncthreads();
    for (int at = threadIdx.x; at < TILE * TILE; at += THREADS) {
        int row = at / TILE, column = at % TILE;
        if (row < width && column < height) y[row * y_row + column] = tile[column][row];
    }
#endif
}
