/* Primitives of oneDNN 2 that the gate found different from their operations; docs/peers.md says how.
 *
 * cc -O2 -shared -fPIC -fopenmp -I crates/roofline-runner/include -o found-in-onednn.so docs/peers/found_in_onednn.c -ldnnl
 * roofline check relu/f32/rows=7,cols=129 exp/f32/rows=7,cols=129 log/f32/rows=7,cols=129 sigmoid/f32/rows=7,cols=129
 * silu/f32/rows=7,cols=129 max.columns/f32/rows=7,cols=129 --lib ./found-in-onednn.so --seed 3
 *
 * On a processor with AMX tiles also: matmul/bf16/m=53,n=35,k=63/threads=2
 */
#include "roofline.h"
#include <dnnl.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) \
    do { \
        if ((call) != dnnl_success) return ROOFLINE_FAILED; \
    } while (0)

typedef struct {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arguments[3];
    int count;
} plan;

static dnnl_engine_t engine;
static dnnl_stream_t stream;

/* A matrix, rows of another one after the other; turned round where the product wants its columns. */
static dnnl_status_t describe(dnnl_memory_desc_t *desc, const DLTensor *tensor, int is_turned) {
    int64_t rows = tensor->ndim == 2 ? tensor->shape[0] : 1, cols = tensor->shape[tensor->ndim - 1];
    dnnl_dims_t sizes = {rows, cols}, turned = {cols, rows};
    dnnl_data_type_t type = tensor->dtype.code == 4 ? dnnl_bf16 : dnnl_f32;
    return dnnl_memory_desc_init_by_tag(desc, 2, is_turned ? turned : sizes, type, is_turned ? dnnl_ba : dnnl_ab);
}

static int argument(plan *made, int which, const dnnl_memory_desc_t *desc, void *data) {
    dnnl_exec_arg_t *one = &made->arguments[made->count++];
    one->arg = which;
    TRY(dnnl_memory_create(&one->memory, desc, engine, data));
    return ROOFLINE_OK;
}

static int make(roofline_job *job, const_dnnl_op_desc_t operation, plan **made) {
    dnnl_primitive_desc_t desc;
    *made = job->workspace = calloc(1, sizeof **made);
    if (!*made) return ROOFLINE_OUT_OF_MEMORY;
    TRY(dnnl_primitive_desc_create(&desc, operation, NULL, engine, NULL));
    TRY(dnnl_primitive_create(&(*made)->primitive, desc));
    TRY(dnnl_primitive_desc_destroy(desc));
    return ROOFLINE_OK;
}

static int begin(const roofline_job *job) {
    omp_set_num_threads(job->threads);
    if (engine) return ROOFLINE_OK;
    TRY(dnnl_engine_create(&engine, dnnl_cpu, 0));
    TRY(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    return ROOFLINE_OK;
}

/* One input, as `eltwise` or as `reduction`. */
static int prepare_one(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    static const struct {
        const char *operation;
        dnnl_alg_kind_t algorithm;
    } known[] = {{"relu", dnnl_eltwise_relu}, {"exp", dnnl_eltwise_exp}, {"log", dnnl_eltwise_log},
                 {"sigmoid", dnnl_eltwise_logistic}, {"silu", dnnl_eltwise_swish}};
    dnnl_memory_desc_t x, y;
    plan *made;
    if (begin(job)) return ROOFLINE_FAILED;
    TRY(describe(&x, &inputs[0], 0));
    TRY(describe(&y, &outputs[0], 0));
    if (strcmp(job->operation, "max.columns") == 0) {
        dnnl_reduction_desc_t reduction;
        TRY(dnnl_reduction_desc_init(&reduction, dnnl_reduction_max, &x, &y, 0, 0));
        if (make(job, &reduction, &made)) return ROOFLINE_FAILED;
    } else {
        int at = 0;
        while (strcmp(job->operation, known[at].operation) != 0) at++;
        dnnl_eltwise_desc_t each;
        float alpha = known[at].algorithm == dnnl_eltwise_swish;
        TRY(dnnl_eltwise_forward_desc_init(&each, dnnl_forward_inference, known[at].algorithm, &x, alpha, 0));
        if (make(job, &each, &made)) return ROOFLINE_FAILED;
    }
    return argument(made, DNNL_ARG_SRC, &x, inputs[0].data) || argument(made, DNNL_ARG_DST, &y, outputs[0].data);
}

static int prepare_product(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    dnnl_memory_desc_t a, b, c;
    plan *made;
    if (begin(job)) return ROOFLINE_FAILED;
    TRY(describe(&a, &inputs[0], 0));
    TRY(describe(&b, &inputs[1], 1));
    TRY(describe(&c, &outputs[0], 0));
    dnnl_matmul_desc_t product;
    TRY(dnnl_matmul_desc_init(&product, &a, &b, NULL, &c));
    if (make(job, &product, &made)) return ROOFLINE_FAILED;
    return argument(made, DNNL_ARG_SRC, &a, inputs[0].data) || argument(made, DNNL_ARG_WEIGHTS, &b, inputs[1].data) ||
           argument(made, DNNL_ARG_DST, &c, outputs[0].data);
}

static int launch(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)inputs, (void)outputs;
    plan *made = job->workspace;
    TRY(dnnl_primitive_execute(made->primitive, stream, made->count, made->arguments));
    TRY(dnnl_stream_wait(stream));
    return ROOFLINE_OK;
}

static void release(roofline_job *job) {
    plan *made = job->workspace;
    if (!made) return;
    for (int i = 0; i < made->count; i++) dnnl_memory_destroy(made->arguments[i].memory);
    if (made->primitive) dnnl_primitive_destroy(made->primitive);
    free(made);
}

#define ONE(name, operation, about) \
    {name, operation, "f32", launch, about, 1, prepare_one, release, NULL, NULL}

const roofline_library *roofline_offers(void) {
    static const roofline_offer offers[] = {
        ONE("relu", "relu", "eltwise by relu: 0 for NaN"),
        ONE("exp", "exp", "eltwise by exp: 0 for small normal numbers"),
        ONE("log", "log", "eltwise by log: four digits near 1"),
        ONE("sigmoid", "sigmoid", "eltwise by logistic: 0 for small normal numbers"),
        ONE("silu", "silu", "eltwise by swish: 0 for small normal numbers"),
        ONE("max", "max.columns", "reduction by max: NaNs are passed over"),
        {"matmul", "matmul", "bf16", launch, "matmul by AMX on two threads: other numbers where k is odd", 1, prepare_product,
         release, NULL, NULL},
    };
    static const roofline_library library = {ROOFLINE_INTERFACE, "oneDNN 2", offers, sizeof offers / sizeof *offers};
    return &library;
}
