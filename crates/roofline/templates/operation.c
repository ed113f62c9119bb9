/* An operation of your own, `NAME`: the formula in double, and a kernel that is held to it.
 *
 * cc -O3 -Wall -shared -fPIC -o FILE.so FILE.c
 */
#include "roofline.h"

/* y = A x, row by row. */
#define PRODUCT(FUNCTION, TYPE)                                                                    \
    static int FUNCTION(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {      \
        (void)job;                                                                                 \
        const TYPE *a = inputs[0].data, *x = inputs[1].data;                                       \
        TYPE *y = outputs[0].data;                                                                 \
        int64_t rows = inputs[0].shape[0], cols = inputs[0].shape[1];                              \
        for (int64_t row = 0; row < rows; row++) {                                                 \
            TYPE sum = 0;                                                                          \
            for (int64_t i = 0; i < cols; i++) sum += a[row * cols + i] * x[i];                    \
            y[row] = sum;                                                                          \
        }                                                                                          \
        return ROOFLINE_OK;                                                                        \
    }
PRODUCT(reference, double)
PRODUCT(plain, float)

/* Tensors with their sizes; how far an honest kernel may be off; axes along which an input reaches its own place alone. */
static const roofline_operation operations[] = {
    {.name = "NAME", .signature = "a[rows, cols], x[cols] -> y[rows]", .bound = "dot(cols)", .independent = "rows",
     .reference = reference},
};

const roofline_operation *roofline_operations(size_t *count) {
    *count = 1;
    return operations;
}

static const roofline_offer offers[] = {
    {.name = "plain", .operation = "NAME", .dtypes = "f32", .launch = plain},
};

static const roofline_library library = {ROOFLINE_INTERFACE, NULL, offers, 1};

const roofline_library *roofline_offers(void) { return &library; }
