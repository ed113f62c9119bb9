/* oneDNN 2: the library, and plans of its primitives. */
#include "onednn.h"

#ifdef HAS_ONEDNN
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

onednn_functions of;
dnnl_engine_t onednn_engine;
static dnnl_stream_t stream;

dnnl_data_type_t onednn_type(DLDataType type) {
    if (type.code == 4) return dnnl_bf16;
    if (type.code == 2) return type.bits == 32 ? dnnl_f32 : dnnl_f16;
    return type.bits == 8 ? dnnl_s8 : dnnl_s32;
}

dnnl_status_t onednn_describe(dnnl_memory_desc_t *desc, const DLTensor *tensor, int is_turned) {
    dnnl_dims_t dims, strides;
    int count = tensor->ndim;
    for (int i = 0; i < count; i++) {
        int from = is_turned && i >= count - 2 ? 2 * count - 3 - i : i;
        dims[i] = tensor->shape[from];
        strides[i] = tensor->strides[from];
    }
    return of.dnnl_memory_desc_init_by_strides_(desc, count, dims, onednn_type(tensor->dtype), strides);
}

dnnl_status_t onednn_any(dnnl_memory_desc_t *desc, const dnnl_memory_desc_t *plain) {
    return of.dnnl_memory_desc_init_by_tag_(desc, plain->ndims, plain->dims, plain->data_type, dnnl_format_tag_any);
}

dnnl_status_t onednn_memory(onednn_plan *plan, dnnl_memory_t *memory, const dnnl_memory_desc_t *desc, void *data) {
    TRY(of.dnnl_memory_create_(memory, desc, onednn_engine, data));
    plan->memory[plan->memory_count++] = *memory;
    return dnnl_success;
}

dnnl_status_t onednn_add(onednn_plan *plan, onednn_step **step, dnnl_primitive_desc_t desc) {
    *step = &plan->steps[plan->count];
    TRY(of.dnnl_primitive_create_(&(*step)->primitive, desc));
    (*step)->count = 0;
    plan->count++;
    return dnnl_success;
}

void onednn_argument(onednn_step *step, int argument, dnnl_memory_t memory) {
    step->arguments[step->count++] = (dnnl_exec_arg_t){argument, memory};
}

dnnl_status_t onednn_reorder(onednn_plan *plan, dnnl_memory_t from, dnnl_memory_t to) {
    const dnnl_memory_desc_t *old, *new;
    TRY(of.dnnl_memory_get_memory_desc_(from, &old));
    TRY(of.dnnl_memory_get_memory_desc_(to, &new));
    dnnl_primitive_desc_t desc;
    onednn_step *step;
    TRY(of.dnnl_reorder_primitive_desc_create_(&desc, old, onednn_engine, new, onednn_engine, NULL));
    dnnl_status_t status = onednn_add(plan, &step, desc);
    of.dnnl_primitive_desc_destroy_(desc);
    TRY(status);
    onednn_argument(step, DNNL_ARG_FROM, from);
    onednn_argument(step, DNNL_ARG_TO, to);
    return dnnl_success;
}

dnnl_status_t onednn_execute(onednn_plan *plan) {
    for (int i = 0; i < plan->count; i++) {
        const onednn_step *step = &plan->steps[i];
        TRY(of.dnnl_primitive_execute_(step->primitive, stream, step->count, step->arguments));
    }
    return of.dnnl_stream_wait_(stream);
}

static void release(roofline_job *job) {
    onednn_plan *plan = job->workspace;
    for (int i = 0; i < plan->memory_count; i++) of.dnnl_memory_destroy_(plan->memory[i]);
    for (int i = 0; i < plan->count; i++) of.dnnl_primitive_destroy_(plan->steps[i].primitive);
    free(plan);
}

int onednn_prepare(roofline_job *job, const DLTensor *in, const DLTensor *out,
                   dnnl_status_t (*make)(onednn_plan *plan, const DLTensor *in, const DLTensor *out, roofline_job *job)) {
    job->workspace = calloc(1, sizeof(onednn_plan));
    if (!job->workspace) return ROOFLINE_OUT_OF_MEMORY;
    dnnl_status_t status = make(job->workspace, in, out, job);
    if (status == dnnl_success) return ROOFLINE_OK;
    release(job);
    job->message = status == dnnl_unimplemented ? "oneDNN has no primitive for this case" : "oneDNN made no primitive";
    if (status == dnnl_out_of_memory) return ROOFLINE_OUT_OF_MEMORY;
    return status == dnnl_unimplemented ? ROOFLINE_UNSUPPORTED : ROOFLINE_FAILED;
}

static int launch(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)inputs, (void)outputs;
    dnnl_status_t status = onednn_execute(job->workspace);
    job->message = "oneDNN did not execute its primitive";
    return status == dnnl_success ? ROOFLINE_OK : ROOFLINE_FAILED;
}

roofline_offer onednn_offer(void) {
    return (roofline_offer){.name = "onednn", .about = "a primitive of oneDNN over the given memory", .parallel = 1,
                            .launch = launch, .release = release};
}

const char *onednn_floats(void) { return __builtin_cpu_supports("avx512bw") ? "f32,bf16" : "f32"; }

static int open_onednn(void) {
    void *handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return 0;
#define LOOK_UP(name) \
    *(void **)&of.name##_ = dlsym(handle, #name); \
    if (!of.name##_) return 0;
    ONEDNN_FUNCTIONS(LOOK_UP)
    return of.dnnl_engine_create_(&onednn_engine, dnnl_cpu, 0) == dnnl_success
        && of.dnnl_stream_create_(&stream, onednn_engine, dnnl_stream_default_flags) == dnnl_success;
}

void add_onednn(peers *table) {
    if (!open_onednn()) {
        peers_version(table, "no oneDNN 2");
        return;
    }
    const dnnl_version_t *version = of.dnnl_version_();
    peers_version(table, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    add_onednn_products(table);
    add_onednn_layers(table);
}

#else

void add_onednn(peers *table) { peers_version(table, "no oneDNN 2: built without its header"); }

#endif
