/* roofline.h: kernels in a shared library, proved and measured by Roofline.
 *
 *     cc -O3 -shared -fPIC -o mine.so mine.c
 *     roofline run softmax --lib ./mine.so
 *
 * A library exports one function, `roofline_offers`, which returns a table of what it has. Each row
 * names a kernel, which gets its tensors and is launched again and again, on inputs that change in
 * between. Nothing of Roofline is linked.
 */
#ifndef ROOFLINE_H
#define ROOFLINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header. Libraries that were built with an older one are still taken: what came later is not there. */
#define ROOFLINE_INTERFACE 4

/* A tensor in memory, in the layout of DLPack's DLTensor, versions 0 and 1. Include <dlpack/dlpack.h>
 * first where you have it, and its own types are used; they are the same in memory. */
#ifndef DLPACK_DLPACK_H_
typedef struct {
    int32_t device_type; /* 1: the CPU */
    int32_t device_id;
} DLDevice;

typedef struct {
    uint8_t code; /* 0 integer, 1 unsigned, 2 float, 4 bf16, 10 fp8-e4m3, 12 fp8-e5m2 */
    uint8_t bits; /* of one element */
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data; /* first element; aligned to the element's size, and to more where `condition` says so */
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; row-major without gaps */
    uint64_t byte_offset; /* 0 */
} DLTensor;
#endif

/* What a kernel returns. Any other number is a failure as well. */
enum {
    ROOFLINE_OK = 0,
    ROOFLINE_UNSUPPORTED = 1,   /* not for this case: a gap, not a failure */
    ROOFLINE_OUT_OF_MEMORY = 2,
    ROOFLINE_FAILED = 3
};

/* A size of the case by its name: `rows`, `cols`, `m`, `n`, `k`. */
typedef struct {
    const char *name;
    int64_t size;
} roofline_axis;

/* A number of the formula that is no size, by its name: `eps`. */
typedef struct {
    const char *name;
    double value;
} roofline_param;

/* One case, from `prepare` to `release`. What stands above the line is Roofline's, below it yours. */
typedef struct {
    const char *case_id;     /* "softmax/f32/rows=64,cols=1000", for messages */
    const char *operation;   /* "softmax", "matmul.nn" */
    const char *dtype;       /* "f32" */
    const char *accumulator; /* in which sums are kept: "f32" for f16 and bf16 */
    const roofline_axis *axes;
    size_t axis_count;
    /* ---------------------------------------------------------------------------------------- */
    int32_t threads;          /* the most that may work at a time; `prepare` may lower it */
    uint64_t workspace_bytes; /* memory that you hold beside the tensors, for the record */
    void *workspace;          /* whatever `prepare` made */
    const char *message;      /* why a function did not return 0 */
    /* ---- Roofline's again, since interface 3 ----------------------------------------------- */
    const char *precision;    /* "f32", or what is not said by a type alone: "f16+f16" */
    const roofline_param *params; /* every parameter of the operation */
    size_t param_count;
} roofline_job;

/* Computes the outputs from the inputs, once. In forms that work in place ("rope.in-place") the output is a copy of
 * the input before every launch. Inputs are in memory that can only be read; reading or
 * writing beyond a tensor's end is a fault. From `prepare` to `release` the tensors, their memory and the
 * job stay at the same addresses, so that a plan may hold them; only the inputs' values change. */
typedef int roofline_kernel(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job);

/* One kernel for one operation. */
typedef struct {
    const char *name;         /* "fast" in mine.so is the implementation mine/fast */
    const char *operation;    /* as `roofline list ops` names it, such as "matmul.nn" */
    const char *dtypes;       /* "f32", or several: "f32,bf16"; other precisions too: "f16+f16" */
    roofline_kernel *launch;
    const char *about;        /* one sentence, or NULL */
    int32_t parallel;         /* 1: uses more than one thread when it may */
    roofline_kernel *prepare; /* before the first launch, not timed; must not look at values, but of
                               * constant inputs; or NULL */
    void (*release)(roofline_job *job); /* after the last launch; or NULL */
    const char *condition;    /* what it requires of a case, or NULL: "cols % 16 == 0, m >= 16, align 64, finite,
                               * flushes denormals". Other cases are not brought to it. */
    const char *params;       /* parameters that it takes: "eps"; of others it has the default alone; or NULL */
} roofline_offer;

/* An operation of your own, since interface 4. The first four must be there, the others may be NULL. */
typedef struct {
    const char *name;           /* "gemv": the `operation` of its offers, and the first word of its cases */
    const char *signature;      /* "a[rows, cols], x[cols] -> y[rows]": inputs, outputs, and sizes as axes or small
                                 * expressions of them, `n - taps + 1`; behind the brackets may stand a type (`f32`),
                                 * `constant`, `within LOW HIGH` or `limit MOST` */
    const char *bound;          /* how far a kernel may be off beside the rounding of its output: "exact",
                                 * "elementwise", "elementwise(8)" roundings, "sum(n)", "dot(k)", "per-element": the
                                 * reference writes errors into as many outputs more, or "calibrated" */
    roofline_kernel *reference; /* the formula, all tensors of it double; in a process where nothing is timed */
    const char *about;          /* the formula in one line */
    const char *dtypes;         /* "f32" where NULL */
    const char *independent;    /* axes along which an input reaches outputs at its own place alone: "rows" */
    const char *legal;          /* sizes that there are: "n >= taps" */
    const char *params;         /* numbers of the formula: "eps = 1e-5 within 0 1, alpha = 2" */
    const char *flops;          /* operations of a case: "2 * rows * cols"; by the bound where NULL */
    roofline_kernel *evaluate;  /* for "calibrated": the formula with all tensors as job->accumulator says */
    int32_t may_be_nan;         /* 1: finite inputs may give NaN */
} roofline_operation;

typedef struct {
    uint32_t interface;   /* ROOFLINE_INTERFACE, which says how long a row of `offers` is */
    const char *version;  /* of what is measured; NULL: a checksum of the file stands for it */
    const roofline_offer *offers;
    size_t offer_count;
} roofline_library;

/* The one function that every library exports. What it returns stays valid. */
__attribute__((visibility("default"))) const roofline_library *roofline_offers(void);

/* One more that a library with operations of its own exports, since interface 4: they, and how many. */
__attribute__((visibility("default"))) const roofline_operation *roofline_operations(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
