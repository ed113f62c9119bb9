/* oneDNN 2: what its files share. A plan is a few primitives that are executed one after another over the given memory. */
#ifndef ONEDNN_H
#define ONEDNN_H

#include "peers.h"

#if __has_include(<dnnl.h>)
#include <dnnl.h>
#endif

#if defined(DNNL_VERSION_MAJOR) && DNNL_VERSION_MAJOR == 2
#define HAS_ONEDNN

/* The functions that are used; each is looked up in the library under its own name. */
#define ONEDNN_FUNCTIONS(X) \
    X(dnnl_version) X(dnnl_engine_create) X(dnnl_stream_create) X(dnnl_stream_wait) \
    X(dnnl_memory_desc_init_by_strides) X(dnnl_memory_desc_init_by_tag) X(dnnl_memory_desc_equal) \
    X(dnnl_memory_create) X(dnnl_memory_destroy) X(dnnl_memory_get_memory_desc) \
    X(dnnl_matmul_desc_init) X(dnnl_binary_desc_init) X(dnnl_eltwise_forward_desc_init) X(dnnl_reduction_desc_init) \
    X(dnnl_layer_normalization_forward_desc_init) X(dnnl_dilated_convolution_forward_desc_init) \
    X(dnnl_primitive_desc_create) X(dnnl_primitive_desc_destroy) X(dnnl_primitive_desc_query_md) \
    X(dnnl_reorder_primitive_desc_create) \
    X(dnnl_primitive_create) X(dnnl_primitive_execute) X(dnnl_primitive_destroy)

#define DECLARE(name) __typeof__(name) *name##_;
typedef struct {
    ONEDNN_FUNCTIONS(DECLARE)
} onednn_functions;
extern onednn_functions of;
extern dnnl_engine_t onednn_engine;

typedef struct {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arguments[5];
    int count;
} onednn_step;

typedef struct {
    onednn_step steps[4];
    int count;
    dnnl_memory_t memory[10];
    int memory_count;
} onednn_plan;

/* Goes on only with success. */
#define TRY(call) \
    do { \
        dnnl_status_t status_ = (call); \
        if (status_ != dnnl_success) return status_; \
    } while (0)

dnnl_data_type_t onednn_type(DLDataType type);
/* A tensor as it lies in memory, its last two dimensions exchanged where it is turned. */
dnnl_status_t onednn_describe(dnnl_memory_desc_t *desc, const DLTensor *tensor, int is_turned);
/* The same in whatever layout a primitive likes best. */
dnnl_status_t onednn_any(dnnl_memory_desc_t *desc, const dnnl_memory_desc_t *plain);
/* Memory of a plan: the given one, or its own with DNNL_MEMORY_ALLOCATE. */
dnnl_status_t onednn_memory(onednn_plan *plan, dnnl_memory_t *memory, const dnnl_memory_desc_t *desc, void *data);
/* One more primitive, which has no arguments yet. */
dnnl_status_t onednn_add(onednn_plan *plan, onednn_step **step, dnnl_primitive_desc_t desc);
void onednn_argument(onednn_step *step, int argument, dnnl_memory_t memory);
/* One more step, which brings memory into another layout, if it is another. */
dnnl_status_t onednn_reorder(onednn_plan *plan, dnnl_memory_t from, dnnl_memory_t to);
dnnl_status_t onednn_execute(onednn_plan *plan);
/* Makes the plan of a job by `make`, and says what became of it. */
int onednn_prepare(roofline_job *job, const DLTensor *in, const DLTensor *out,
                   dnnl_status_t (*make)(onednn_plan *plan, const DLTensor *in, const DLTensor *out, roofline_job *job));
/* What every row has: name, launch, release. */
roofline_offer onednn_offer(void);
/* "f32,bf16", or f32 alone on a processor that would emulate it. */
const char *onednn_floats(void);

void add_onednn_products(peers *table);
void add_onednn_layers(peers *table);

#endif
#endif
