/* oneDNN 2: primitives over the given memory, made once and executed. */
#include "peers.h"

#if __has_include(<dnnl.h>)
#include <dnnl.h>
#endif

#if defined(DNNL_VERSION_MAJOR) && DNNL_VERSION_MAJOR == 2
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The functions that are used; each is looked up in the library under its own name. */
#define FUNCTIONS(X) \
    X(dnnl_version) X(dnnl_engine_create) X(dnnl_stream_create) X(dnnl_stream_wait) \
    X(dnnl_memory_desc_init_by_strides) X(dnnl_memory_create) X(dnnl_memory_destroy) \
    X(dnnl_matmul_desc_init) X(dnnl_binary_desc_init) \
    X(dnnl_primitive_desc_create) X(dnnl_primitive_desc_destroy) \
    X(dnnl_primitive_create) X(dnnl_primitive_execute) X(dnnl_primitive_destroy)

#define DECLARE(name) __typeof__(name) *name##_;
static struct { FUNCTIONS(DECLARE) } of;

static dnnl_engine_t engine;
static dnnl_stream_t stream;

/* A primitive with its tensors: two inputs and the output. */
typedef struct {
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[3];
    dnnl_exec_arg_t arguments[3];
    int count;
} plan;

static dnnl_data_type_t type_of(DLDataType type) {
    if (type.code == 4) return dnnl_bf16;
    if (type.code == 2) return type.bits == 32 ? dnnl_f32 : dnnl_f16;
    return type.bits == 8 ? dnnl_s8 : dnnl_s32;
}

/* A matrix as it lies in memory, or seen the other way round. */
static dnnl_status_t describe(dnnl_memory_desc_t *desc, const DLTensor *tensor, int is_transposed) {
    dnnl_dims_t dims = {tensor->shape[is_transposed], tensor->shape[!is_transposed]};
    dnnl_dims_t strides = {tensor->strides[is_transposed], tensor->strides[!is_transposed]};
    return of.dnnl_memory_desc_init_by_strides_(desc, 2, dims, type_of(tensor->dtype), strides);
}

static dnnl_status_t bind(plan *made, int argument, const dnnl_memory_desc_t *desc, void *data) {
    dnnl_memory_t *memory = &made->memory[made->count];
    dnnl_status_t status = of.dnnl_memory_create_(memory, desc, engine, data);
    if (status == dnnl_success) made->arguments[made->count++] = (dnnl_exec_arg_t){argument, *memory};
    return status;
}

static dnnl_status_t create(plan *made, const_dnnl_op_desc_t operation) {
    dnnl_primitive_desc_t desc;
    dnnl_status_t status = of.dnnl_primitive_desc_create_(&desc, operation, NULL, engine, NULL);
    if (status != dnnl_success) return status;
    status = of.dnnl_primitive_create_(&made->primitive, desc);
    of.dnnl_primitive_desc_destroy_(desc);
    return status;
}

static dnnl_status_t make(plan *made, const DLTensor *in, const DLTensor *out, const char *operation) {
    dnnl_memory_desc_t x, y, z;
    dnnl_status_t status = describe(&x, &in[0], 0);
    if (!status) status = describe(&y, &in[1], strcmp(operation, "matmul") == 0);
    if (!status) status = describe(&z, &out[0], 0);
    if (status) return status;
    if (strcmp(operation, "add") == 0) {
        dnnl_binary_desc_t desc;
        status = of.dnnl_binary_desc_init_(&desc, dnnl_binary_add, &x, &y, &z);
        if (!status) status = create(made, &desc);
        if (!status) status = bind(made, DNNL_ARG_SRC_0, &x, in[0].data);
        if (!status) status = bind(made, DNNL_ARG_SRC_1, &y, in[1].data);
    } else {
        dnnl_matmul_desc_t desc;
        status = of.dnnl_matmul_desc_init_(&desc, &x, &y, NULL, &z);
        if (!status) status = create(made, &desc);
        if (!status) status = bind(made, DNNL_ARG_SRC, &x, in[0].data);
        if (!status) status = bind(made, DNNL_ARG_WEIGHTS, &y, in[1].data);
    }
    return status ? status : bind(made, DNNL_ARG_DST, &z, out[0].data);
}

static void release(roofline_job *job) {
    plan *made = job->workspace;
    for (int i = 0; i < made->count; i++) of.dnnl_memory_destroy_(made->memory[i]);
    if (made->primitive) of.dnnl_primitive_destroy_(made->primitive);
    free(made);
}

static int prepare(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    job->workspace = calloc(1, sizeof(plan));
    if (!job->workspace) return ROOFLINE_OUT_OF_MEMORY;
    dnnl_status_t status = make(job->workspace, inputs, outputs, job->operation);
    if (status == dnnl_success) return ROOFLINE_OK;
    release(job);
    job->message = status == dnnl_unimplemented ? "oneDNN has no primitive for this case" : "oneDNN made no primitive";
    if (status == dnnl_out_of_memory) return ROOFLINE_OUT_OF_MEMORY;
    return status == dnnl_unimplemented ? ROOFLINE_UNSUPPORTED : ROOFLINE_FAILED;
}

static int launch(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)inputs, (void)outputs;
    plan *made = job->workspace;
    dnnl_status_t status = of.dnnl_primitive_execute_(made->primitive, stream, made->count, made->arguments);
    if (status == dnnl_success) status = of.dnnl_stream_wait_(stream);
    job->message = "oneDNN did not execute its primitive";
    return status == dnnl_success ? ROOFLINE_OK : ROOFLINE_FAILED;
}

static int open_onednn(void) {
    void *handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return 0;
#define LOOK_UP(name) \
    *(void **)&of.name##_ = dlsym(handle, #name); \
    if (!of.name##_) return 0;
    FUNCTIONS(LOOK_UP)
    return of.dnnl_engine_create_(&engine, dnnl_cpu, 0) == dnnl_success
        && of.dnnl_stream_create_(&stream, engine, dnnl_stream_default_flags) == dnnl_success;
}

void add_onednn(peers *table) {
    if (!open_onednn()) {
        peers_version(table, "no oneDNN 2");
        return;
    }
    const dnnl_version_t *version = of.dnnl_version_();
    peers_version(table, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    /* Narrow types are as fast as the processor has instructions for them, and absent where it has none. */
    int has_bf16 = __builtin_cpu_supports("avx512bw"), has_i8 = __builtin_cpu_supports("avx512vnni");
    roofline_offer offer = {.name = "onednn", .about = "a primitive of oneDNN over the given memory", .parallel = 1,
                            .prepare = prepare, .launch = launch, .release = release};
    offer.operation = "add";
    offer.dtypes = has_bf16 ? "f32,bf16" : "f32";
    peers_offer(table, offer);
    static const char *const products[] = {"matmul", "matmul.nn"};
    for (int i = 0; i < 2; i++) {
        offer.operation = products[i];
        offer.dtypes = has_i8 ? "f32,i8" : "f32";
        offer.condition = NULL;
        peers_offer(table, offer);
        /* 2.6.3, by AMX on two threads: rows are wrong, or the process ends, where k is 63 (docs/peers.md). */
        offer.dtypes = "bf16";
        offer.condition = "k % 2 == 0";
        if (has_bf16) peers_offer(table, offer);
    }
}

#else

void add_onednn(peers *table) { peers_version(table, "no oneDNN 2: built without its header"); }

#endif
