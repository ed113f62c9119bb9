/* Two kernels for the operation `softmax`: each row of x becomes exp(x) / sum of exp(x).
 *
 * `plain` is right. `naive` is its wrong twin: it does not take the largest element off before exp, and so overflows
 * where inputs are large. `roofline check` shows where; delete it when you have seen it.
 */
#include "roofline.h"
#include <math.h>

/* Inputs and outputs in the operation's order, row-major without gaps. */
static int plain(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)job;
    const float *x = inputs[0].data;
    float *y = outputs[0].data;
    int64_t rows = inputs[0].shape[0], cols = inputs[0].shape[1];
    for (int64_t row = 0; row < rows; row++, x += cols, y += cols) {
        float largest = x[0], sum = 0;
        for (int64_t i = 1; i < cols; i++) largest = x[i] > largest ? x[i] : largest;
        for (int64_t i = 0; i < cols; i++) sum += y[i] = expf(x[i] - largest);
        for (int64_t i = 0; i < cols; i++) y[i] /= sum;
    }
    return ROOFLINE_OK;
}

static int naive(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)job;
    const float *x = inputs[0].data;
    float *y = outputs[0].data;
    int64_t rows = inputs[0].shape[0], cols = inputs[0].shape[1];
    for (int64_t row = 0; row < rows; row++, x += cols, y += cols) {
        float sum = 0;
        for (int64_t i = 0; i < cols; i++) sum += y[i] = expf(x[i]);
        for (int64_t i = 0; i < cols; i++) y[i] /= sum;
    }
    return ROOFLINE_OK;
}

static const roofline_offer offers[] = {
    {.name = "plain", .operation = "softmax", .dtypes = "f32", .launch = plain},
    {.name = "naive", .operation = "softmax", .dtypes = "f32", .launch = naive},
};

/* Interface, version (a checksum of the file where it is NULL), offers, how many. */
static const roofline_library library = {ROOFLINE_INTERFACE, NULL, offers, 2};

const roofline_library *roofline_offers(void) { return &library; }
