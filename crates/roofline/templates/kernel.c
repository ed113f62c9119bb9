/* A kernel for the operation `add`, z = x + y; `roofline list operations` shows the others.
 *
 * cc -O3 -Wall -shared -fPIC -o FILE.so FILE.c
 */
#include "roofline.h"

/* Inputs and outputs in the operation's order, row-major without gaps. */
static int FUNCTION(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)job;
    const float *x = inputs[0].data, *y = inputs[1].data;
    float *z = outputs[0].data;
    int64_t elements = outputs[0].shape[0] * outputs[0].shape[1];
    for (int64_t i = 0; i < elements; i++) z[i] = x[i] + y[i];
    return ROOFLINE_OK;
}

static const roofline_offer offers[] = {
    {.name = "NAME", .operation = "add", .dtypes = "f32", .launch = FUNCTION},
};

static const roofline_library library = {ROOFLINE_INTERFACE, NULL, offers, 1};

const roofline_library *roofline_offers(void) { return &library; }
