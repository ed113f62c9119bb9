/* Products of oneDNN, one or a batch; weights that stay the same are brought into its own layout beforehand. */
#include "onednn.h"

#ifdef HAS_ONEDNN
#include <string.h>

static dnnl_status_t make(onednn_plan *plan, const DLTensor *in, const DLTensor *out, roofline_job *job) {
    const char *form = strchr(job->operation, '.');
    int is_fixed = form && strcmp(form, ".fixed") == 0, is_plain = !form || is_fixed;
    dnnl_memory_desc_t a, b, b_liked, c;
    TRY(onednn_describe(&a, &in[0], !is_plain && form[1] == 't'));
    TRY(onednn_describe(&b, &in[1], is_plain || form[2] == 't'));
    TRY(onednn_describe(&c, &out[0], 0));
    if (is_fixed)
        TRY(onednn_any(&b_liked, &b));
    else
        b_liked = b;
    dnnl_matmul_desc_t product;
    TRY(of.dnnl_matmul_desc_init_(&product, &a, &b_liked, NULL, &c));
    dnnl_primitive_desc_t desc;
    TRY(of.dnnl_primitive_desc_create_(&desc, &product, NULL, onednn_engine, NULL));
    b_liked = *of.dnnl_primitive_desc_query_md_(desc, dnnl_query_weights_md, 0);
    dnnl_memory_t x, y, z;
    dnnl_status_t status = onednn_memory(plan, &y, &b, in[1].data);
    if (status == dnnl_success && !of.dnnl_memory_desc_equal_(&b, &b_liked)) {
        dnnl_memory_t given = y;
        status = onednn_memory(plan, &y, &b_liked, DNNL_MEMORY_ALLOCATE);
        if (status == dnnl_success) status = onednn_reorder(plan, given, y);
        if (status == dnnl_success) status = onednn_execute(plan);
        /* It is done, once for all launches. */
        if (plan->count > 0) of.dnnl_primitive_destroy_(plan->steps[--plan->count].primitive);
    }
    onednn_step *step = NULL;
    if (status == dnnl_success) status = onednn_add(plan, &step, desc);
    of.dnnl_primitive_desc_destroy_(desc);
    TRY(status);
    TRY(onednn_memory(plan, &x, &a, in[0].data));
    TRY(onednn_memory(plan, &z, &c, out[0].data));
    onednn_argument(step, DNNL_ARG_SRC, x);
    onednn_argument(step, DNNL_ARG_WEIGHTS, y);
    onednn_argument(step, DNNL_ARG_DST, z);
    return dnnl_success;
}

static int prepare(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    return onednn_prepare(job, inputs, outputs, make);
}

void add_onednn_products(peers *table) {
    static const char *const forms[] = {"matmul", "matmul.nn", "matmul.tn", "matmul.tt", "matmul.fixed", "bmm", "bmm.nn"};
    /* Narrow types are as fast as the processor has instructions for them, and absent where it has none. */
    int has_bf16 = __builtin_cpu_supports("avx512bw"), has_i8 = __builtin_cpu_supports("avx512vnni");
    roofline_offer offer = onednn_offer();
    offer.prepare = prepare;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        offer.operation = forms[i];
        offer.dtypes = has_i8 ? "f32,i8" : "f32";
        offer.condition = NULL;
        peers_offer(table, offer);
        /* 2.6.3, by AMX on two threads: rows are wrong, or the process ends, where k is 63 (docs/peers.md). */
        offer.dtypes = "bf16";
        offer.condition = "k % 2 == 0";
        if (has_bf16) peers_offer(table, offer);
    }
}
#endif
