/* Layers of oneDNN: element by element, sums of rows and columns, layer-norm, convolutions. */
#include "onednn.h"

#ifdef HAS_ONEDNN
#include <string.h>

/* The step of one primitive over tensors as they lie: inputs by their arguments, then the output. */
static dnnl_status_t one_step(onednn_plan *plan, const_dnnl_op_desc_t operation, const DLTensor *in,
                              const dnnl_memory_desc_t *descs, const int *arguments, int count, const DLTensor *out,
                              const dnnl_memory_desc_t *out_desc) {
    dnnl_primitive_desc_t desc;
    TRY(of.dnnl_primitive_desc_create_(&desc, operation, NULL, onednn_engine, NULL));
    onednn_step *step;
    dnnl_status_t status = onednn_add(plan, &step, desc);
    of.dnnl_primitive_desc_destroy_(desc);
    TRY(status);
    dnnl_memory_t memory;
    for (int i = 0; i < count; i++) {
        TRY(onednn_memory(plan, &memory, &descs[i], in[i].data));
        onednn_argument(step, arguments[i], memory);
    }
    TRY(onednn_memory(plan, &memory, out_desc, out->data));
    onednn_argument(step, DNNL_ARG_DST, memory);
    return dnnl_success;
}

/* What has one input, or two, its kind in oneDNN, and what it requires: 2.6.3 makes numbers of NaN (docs/peers.md). */
typedef struct {
    const char *operation;
    dnnl_alg_kind_t kind;
    const char *condition;
} named;

static const named binaries[] = {
    {"add", dnnl_binary_add, NULL}, {"sub", dnnl_binary_sub, NULL}, {"mul", dnnl_binary_mul, NULL},
    {"div", dnnl_binary_div, NULL}};
static const named elementwise[] = {
    {"relu", dnnl_eltwise_relu, "finite"}, {"sqrt", dnnl_eltwise_sqrt, NULL}, {"tanh", dnnl_eltwise_tanh, NULL},
    {"gelu", dnnl_eltwise_gelu_erf, NULL}, {"gelu-tanh", dnnl_eltwise_gelu_tanh, NULL}};
/* A dimension of one element is none that oneDNN would reduce. */
static const named reductions[] = {
    {"sum", dnnl_reduction_sum, "cols >= 2"},            {"sum.columns", dnnl_reduction_sum, "rows >= 2"},
    {"sum.all", dnnl_reduction_sum, "cols >= 2"},        {"mean", dnnl_reduction_mean, "cols >= 2"},
    {"mean.columns", dnnl_reduction_mean, "rows >= 2"},  {"mean.all", dnnl_reduction_mean, "cols >= 2"},
    {"max", dnnl_reduction_max, "cols >= 2, finite"},    {"max.columns", dnnl_reduction_max, "rows >= 2, finite"},
    {"max.all", dnnl_reduction_max, "cols >= 2, finite"}};
#define COUNT(table) (sizeof(table) / sizeof *(table))

static const named *find(const named *table, size_t count, const char *operation) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].operation, operation) == 0) return &table[i];
    return NULL;
}

static dnnl_status_t make_binary(onednn_plan *plan, const DLTensor *in, const DLTensor *out, roofline_job *job) {
    static const int arguments[] = {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1};
    dnnl_memory_desc_t x[2], z;
    TRY(onednn_describe(&x[0], &in[0], 0));
    TRY(onednn_describe(&x[1], &in[1], 0));
    TRY(onednn_describe(&z, &out[0], 0));
    dnnl_binary_desc_t desc;
    TRY(of.dnnl_binary_desc_init_(&desc, find(binaries, COUNT(binaries), job->operation)->kind, &x[0], &x[1], &z));
    return one_step(plan, &desc, in, x, arguments, 2, out, &z);
}

static dnnl_status_t make_elementwise(onednn_plan *plan, const DLTensor *in, const DLTensor *out, roofline_job *job) {
    static const int arguments[] = {DNNL_ARG_SRC};
    const named *found = find(elementwise, COUNT(elementwise), job->operation);
    dnnl_memory_desc_t x;
    TRY(onednn_describe(&x, &in[0], 0));
    dnnl_eltwise_desc_t desc;
    TRY(of.dnnl_eltwise_forward_desc_init_(&desc, dnnl_forward_inference, found->kind, &x, 0, 0));
    return one_step(plan, &desc, in, &x, arguments, 1, out, &x);
}

/* Of [rows,cols], what is reduced has length 1 in the output. */
static dnnl_status_t make_reduction(onednn_plan *plan, const DLTensor *in, const DLTensor *out, roofline_job *job) {
    static const int arguments[] = {DNNL_ARG_SRC};
    const char *form = strchr(job->operation, '.');
    int of_columns = form && strcmp(form, ".columns") == 0, of_all = form && strcmp(form, ".all") == 0;
    dnnl_memory_desc_t x, y;
    TRY(onednn_describe(&x, &in[0], 0));
    dnnl_dims_t dims = {of_columns || of_all ? 1 : x.dims[0], of_columns ? x.dims[1] : 1};
    TRY(of.dnnl_memory_desc_init_by_tag_(&y, 2, dims, onednn_type(out->dtype), dnnl_ab));
    dnnl_reduction_desc_t desc;
    dnnl_alg_kind_t kind = find(reductions, COUNT(reductions), job->operation)->kind;
    TRY(of.dnnl_reduction_desc_init_(&desc, kind, &x, &y, 0, 0));
    return one_step(plan, &desc, in, &x, arguments, 1, out, &y);
}

static dnnl_status_t make_layer_norm(onednn_plan *plan, const DLTensor *in, const DLTensor *out, roofline_job *job) {
    static const int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    int is_plain = strstr(job->operation, ".plain") != NULL, count = is_plain ? 1 : 3;
    dnnl_memory_desc_t x[3];
    for (int i = 0; i < count; i++) TRY(onednn_describe(&x[i], &in[i], 0));
    dnnl_layer_normalization_desc_t desc;
    unsigned flags = is_plain ? dnnl_normalization_flags_none : dnnl_use_scale | dnnl_use_shift;
    TRY(of.dnnl_layer_normalization_forward_desc_init_(&desc, dnnl_forward_inference, &x[0], NULL,
                                                       (float)job->params[0].value, flags));
    return one_step(plan, &desc, in, x, arguments, count, out, &x[0]);
}

static int64_t axis(const roofline_job *job, const char *name) {
    for (size_t i = 0; i < job->axis_count; i++)
        if (strcmp(job->axes[i].name, name) == 0) return job->axes[i].size;
    return 1;
}

/* Weights [out,channels,kernel,kernel] seen as [groups,out/groups,channels,kernel,kernel], which is how they lie. */
static dnnl_status_t in_groups(dnnl_memory_desc_t *desc, const DLTensor *weights, int64_t groups) {
    const int64_t *shape = weights->shape;
    dnnl_dims_t dims = {groups, shape[0] / groups, shape[1], shape[2], shape[3]};
    return of.dnnl_memory_desc_init_by_tag_(desc, 5, dims, onednn_type(weights->dtype), dnnl_abcde);
}

/* An input in the layout that a primitive likes, and the step that brings it there. */
static dnnl_status_t liked(onednn_plan *plan, dnnl_memory_t *memory, const dnnl_memory_desc_t *plain,
                           const dnnl_memory_desc_t *like, void *data) {
    TRY(onednn_memory(plan, memory, plain, data));
    if (of.dnnl_memory_desc_equal_(plain, like)) return dnnl_success;
    dnnl_memory_t given = *memory;
    TRY(onednn_memory(plan, memory, like, DNNL_MEMORY_ALLOCATE));
    return onednn_reorder(plan, given, *memory);
}

/* Images come and go as NCHW; what oneDNN likes better is part of the launch, as it is for whoever has such images. */
static dnnl_status_t convolve(onednn_plan *plan, dnnl_primitive_desc_t desc, const dnnl_memory_desc_t *plain,
                              const DLTensor *in, const DLTensor *out, int has_bias) {
    const dnnl_memory_desc_t *like_x = of.dnnl_primitive_desc_query_md_(desc, dnnl_query_src_md, 0);
    const dnnl_memory_desc_t *like_w = of.dnnl_primitive_desc_query_md_(desc, dnnl_query_weights_md, 0);
    const dnnl_memory_desc_t *like_y = of.dnnl_primitive_desc_query_md_(desc, dnnl_query_dst_md, 0);
    dnnl_memory_t x, w, b, y, given;
    onednn_step *step;
    TRY(liked(plan, &x, &plain[0], like_x, in[0].data));
    TRY(liked(plan, &w, &plain[1], like_w, in[1].data));
    TRY(onednn_add(plan, &step, desc));
    onednn_argument(step, DNNL_ARG_SRC, x);
    onednn_argument(step, DNNL_ARG_WEIGHTS, w);
    if (has_bias) {
        TRY(onednn_memory(plan, &b, &plain[2], in[2].data));
        onednn_argument(step, DNNL_ARG_BIAS, b);
    }
    int is_as_liked = of.dnnl_memory_desc_equal_(&plain[3], like_y);
    TRY(onednn_memory(plan, &given, &plain[3], out[0].data));
    y = given;
    if (!is_as_liked) TRY(onednn_memory(plan, &y, like_y, DNNL_MEMORY_ALLOCATE));
    onednn_argument(step, DNNL_ARG_DST, y);
    return is_as_liked ? dnnl_success : onednn_reorder(plan, y, given);
}

static dnnl_status_t make_convolution(onednn_plan *plan, const DLTensor *in, const DLTensor *out, roofline_job *job) {
    int has_bias = strstr(job->operation, ".bias") != NULL;
    int64_t groups = axis(job, "groups"), stride = axis(job, "stride"), pad = axis(job, "pad"), gap = axis(job, "dilation") - 1;
    int64_t kernel = axis(job, "kernel"), side = (kernel - 1) * (gap + 1) + 1;
    dnnl_memory_desc_t plain[4], any[4];
    TRY(onednn_describe(&plain[0], &in[0], 0));
    TRY(groups > 1 ? in_groups(&plain[1], &in[1], groups) : onednn_describe(&plain[1], &in[1], 0));
    if (has_bias) TRY(onednn_describe(&plain[2], &in[2], 0));
    TRY(onednn_describe(&plain[3], &out[0], 0));
    for (int i = 0; i < 4; i++)
        if (i != 2) TRY(onednn_any(&any[i], &plain[i]));
    dnnl_dims_t strides = {stride, stride}, gaps = {gap, gap}, before = {pad, pad}, after;
    /* Rows and columns that no window reaches are cut off: oneDNN wants sizes that come out even. */
    for (int i = 0; i < 2; i++) after[i] = (out[0].shape[2 + i] - 1) * stride + side - in[0].shape[2 + i] - pad;
    dnnl_convolution_desc_t operation;
    TRY(of.dnnl_dilated_convolution_forward_desc_init_(&operation, dnnl_forward_inference, dnnl_convolution_auto, &any[0],
                                                       &any[1], has_bias ? &plain[2] : NULL, &any[3], strides, gaps, before,
                                                       after));
    dnnl_primitive_desc_t desc;
    TRY(of.dnnl_primitive_desc_create_(&desc, &operation, NULL, onednn_engine, NULL));
    dnnl_status_t status = convolve(plan, desc, plain, in, out, has_bias);
    of.dnnl_primitive_desc_destroy_(desc);
    return status;
}

#define PREPARE(name) \
    static int prepare_##name(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) { \
        return onednn_prepare(job, inputs, outputs, make_##name); \
    }
PREPARE(binary)
PREPARE(elementwise)
PREPARE(reduction)
PREPARE(layer_norm)
PREPARE(convolution)

static void offer(peers *table, const char *operation, const char *dtypes, roofline_kernel *prepare, const char *params) {
    roofline_offer row = onednn_offer();
    row.operation = operation, row.dtypes = dtypes, row.prepare = prepare, row.params = params;
    peers_offer(table, row);
}

static void offer_all(peers *table, const named *rows, size_t count, roofline_kernel *prepare) {
    roofline_offer row = onednn_offer();
    row.dtypes = onednn_floats(), row.prepare = prepare;
    for (size_t i = 0; i < count; i++) {
        row.operation = rows[i].operation, row.condition = rows[i].condition;
        peers_offer(table, row);
    }
}

void add_onednn_layers(peers *table) {
    offer_all(table, binaries, COUNT(binaries), prepare_binary);
    offer_all(table, elementwise, COUNT(elementwise), prepare_elementwise);
    offer_all(table, reductions, COUNT(reductions), prepare_reduction);
    /* Weights of a norm are f32, whatever is normed. */
    offer(table, "layer-norm", "f32", prepare_layer_norm, "eps");
    offer(table, "layer-norm.plain", onednn_floats(), prepare_layer_norm, "eps");
    offer(table, "conv2d", onednn_floats(), prepare_convolution, NULL);
    offer(table, "conv2d.bias", onednn_floats(), prepare_convolution, NULL);
}
#endif
