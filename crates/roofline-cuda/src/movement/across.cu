// y[batch, j, i] = x[batch, i, j], one element a thread: writes of neighbours lie beside each other, reads do not.
//
// Grid: elements / 256.
#include "element.cuh"

extern "C" __global__ void transpose_plain(const Word *__restrict__ x, Word *__restrict__ y, i64 rows, i64 cols,
                                           i64 batches, i64 x_batch, i64 x_row, i64 y_batch, i64 y_row) {
    i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= batches * rows * cols) return;
    i64 i = at % rows, j = at / rows % cols, batch = at / rows / cols;
    y[batch * y_batch + j * y_row + i] = x[batch * x_batch + i * x_row + j];
}
