/* GGML's CPU library as implementations: a graph of one operation or a few, over the memory of the case itself. */
#include "roofline.h"
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 8 };

/* What is computed at every launch. */
typedef struct {
    struct ggml_context *context;
    struct ggml_cgraph *graph;
    struct ggml_threadpool *pool;
    struct ggml_cplan plan;
    /* Memory of what stands between the inputs and the output. */
    void *held[NODES];
} computation;

static enum ggml_type type_of(const DLTensor *tensor, const char *operation) {
    if (strncmp(operation, "q8-matmul", 9) == 0 && tensor->dtype.code == 0) return GGML_TYPE_Q8_0;
    if (strncmp(operation, "q4-matmul", 9) == 0 && tensor->dtype.code == 0) return GGML_TYPE_Q4_0;
    if (tensor->dtype.code == 4) return GGML_TYPE_BF16;
    return tensor->dtype.bits == 16 ? GGML_TYPE_F16 : GGML_TYPE_F32;
}

/* A tensor of rows over the memory of the case; of blocks of codes, as many numbers as these stand for. */
static struct ggml_tensor *over(struct ggml_context *context, const DLTensor *tensor, const char *operation) {
    enum ggml_type type = type_of(tensor, operation);
    int64_t row = tensor->shape[tensor->ndim - 1], rows = 1;
    for (int i = 0; i + 1 < tensor->ndim; i++) rows *= tensor->shape[i];
    if (ggml_is_quantized(type)) row = row / (int64_t)ggml_type_size(type) * ggml_blck_size(type);
    struct ggml_tensor *made = ggml_new_tensor_2d(context, type, row, rows);
    made->data = tensor->data;
    return made;
}

static double param(const roofline_job *job, const char *name) {
    for (size_t i = 0; i < job->param_count; i++)
        if (strcmp(job->params[i].name, name) == 0) return job->params[i].value;
    return 0;
}

/* The result of the operation, in f32 or in the type of its inputs. */
static struct ggml_tensor *result(struct ggml_context *c, struct ggml_tensor **in, const roofline_job *job) {
    const char *operation = job->operation;
    if (strcmp(operation, "add") == 0) return ggml_add(c, in[0], in[1]);
    if (strcmp(operation, "mul") == 0) return ggml_mul(c, in[0], in[1]);
    if (strcmp(operation, "silu") == 0) return ggml_silu(c, in[0]);
    if (strcmp(operation, "softmax") == 0) return ggml_soft_max(c, in[0]);
    if (strcmp(operation, "rms-norm") == 0) return ggml_mul(c, ggml_rms_norm(c, in[0], param(job, "eps")), in[1]);
    if (strcmp(operation, "layer-norm") == 0)
        return ggml_add(c, ggml_mul(c, ggml_norm(c, in[0], param(job, "eps")), in[1]), in[2]);
    return ggml_mul_mat(c, in[1], in[0]); /* The weights are its first. */
}

static void release(roofline_job *job) {
    computation *made = job->workspace;
    if (!made) return;
    if (made->pool) ggml_threadpool_free(made->pool);
    for (int i = 0; i < NODES; i++) free(made->held[i]);
    free(made->plan.work_data);
    ggml_free(made->context);
    free(made);
    job->workspace = NULL;
}

static int out_of_memory(roofline_job *job) {
    release(job);
    job->message = "no memory for a graph";
    return ROOFLINE_OUT_OF_MEMORY;
}

static int prepare(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job, int count) {
    ggml_cpu_init();
    computation *made = job->workspace = calloc(1, sizeof *made);
    if (!made) return out_of_memory(job);
    size_t room = 2 * NODES * ggml_tensor_overhead() + ggml_graph_overhead_custom(NODES, false);
    made->context = ggml_init((struct ggml_init_params){room, NULL, true});
    if (!made->context) return out_of_memory(job);
    struct ggml_tensor *in[3] = {NULL};
    for (int i = 0; i < count; i++) in[i] = over(made->context, &inputs[i], job->operation);
    struct ggml_tensor *last = result(made->context, in, job);
    struct ggml_tensor *out = over(made->context, outputs, "");
    if (last->type == out->type)
        last->data = outputs->data;
    else
        last = ggml_cpy(made->context, last, out);
    made->graph = ggml_new_graph_custom(made->context, NODES, false);
    ggml_build_forward_expand(made->graph, last);
    for (int i = 0; i < ggml_graph_n_nodes(made->graph); i++) {
        struct ggml_tensor *node = ggml_graph_node(made->graph, i);
        if (node->data || node->view_src) continue;
        node->data = made->held[i] = aligned_alloc(64, (ggml_nbytes(node) + 63) / 64 * 64);
        if (!node->data) return out_of_memory(job);
        job->workspace_bytes += ggml_nbytes(node);
    }
    struct ggml_threadpool_params threads = ggml_threadpool_params_default(job->threads);
    threads.poll = 0; /* Idle ones sleep instead of spinning into the next runner's time. */
    made->pool = ggml_threadpool_new(&threads);
    made->plan = ggml_graph_plan(made->graph, job->threads, made->pool);
    made->plan.work_data = made->plan.work_size ? malloc(made->plan.work_size) : NULL;
    if (!made->pool || (made->plan.work_size && !made->plan.work_data)) return out_of_memory(job);
    job->workspace_bytes += made->plan.work_size;
    return ROOFLINE_OK;
}

static int prepare_one(const DLTensor *in, const DLTensor *out, roofline_job *job) { return prepare(in, out, job, 1); }
static int prepare_two(const DLTensor *in, const DLTensor *out, roofline_job *job) { return prepare(in, out, job, 2); }
static int prepare_three(const DLTensor *in, const DLTensor *out, roofline_job *job) { return prepare(in, out, job, 3); }

static int launch(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)inputs, (void)outputs;
    computation *made = job->workspace;
    return ggml_graph_compute(made->graph, &made->plan) == GGML_STATUS_SUCCESS ? ROOFLINE_OK : ROOFLINE_FAILED;
}

#define OFFER(operation, types, of, says, needs, takes) \
    {"cpu", operation, types, launch, says, 1, prepare_##of, release, needs, takes}

const roofline_library *roofline_offers(void) {
    static const roofline_offer offers[] = {
        OFFER("matmul", "f32,f16,bf16", two, "ggml_mul_mat; ggml_cpy to a narrow output", NULL, NULL),
        OFFER("matmul.fixed", "f32,f16,bf16", two, "ggml_mul_mat; ggml_cpy to a narrow output", NULL, NULL),
        OFFER("q8-matmul.raw", "f32+q8", two, "ggml_mul_mat of Q8_0", "k % 32 == 0", NULL),
        OFFER("q4-matmul.raw", "f32+q8", two, "ggml_mul_mat of Q4_0", "k % 32 == 0", NULL),
        OFFER("add", "f32", two, "ggml_add", NULL, NULL),
        OFFER("mul", "f32", two, "ggml_mul", NULL, NULL),
        OFFER("silu", "f32", one, "ggml_silu", NULL, NULL),
        OFFER("softmax", "f32", one, "ggml_soft_max", NULL, NULL),
        OFFER("rms-norm", "f32", two, "ggml_rms_norm and ggml_mul", NULL, "eps"),
        OFFER("layer-norm", "f32", three, "ggml_norm, ggml_mul and ggml_add", NULL, "eps"),
    };
    static char version[100];
    snprintf(version, sizeof version, "%s", ggml_version());
    static roofline_library library = {ROOFLINE_INTERFACE, version, offers, sizeof offers / sizeof *offers};
    return &library;
}
