/* Libraries with the C interface of BLAS: OpenBLAS and MKL. What MKL alone has, batches and weights that are packed
 * beforehand, is used where it is found. */
#include "peers.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112, PACKED = 151, MATRIX_B = 162 };

/* The functions of one element type; names in the library begin with `cblas_s` or `cblas_d`. */
#define FUNCTIONS_OF(name, real) \
    typedef struct { \
        void (*gemm)(int order, int of_a, int of_b, int m, int n, int k, real alpha, const real *a, int lda, \
                     const real *b, int ldb, real beta, real *c, int ldc); \
        void (*gemv)(int order, int of_a, int m, int n, real alpha, const real *a, int lda, const real *x, int x_step, \
                     real beta, real *y, int y_step); \
        real (*dot)(int n, const real *x, int x_step, const real *y, int y_step); \
        void (*axpy)(int n, real alpha, const real *x, int x_step, real *y, int y_step); \
        void (*batch)(int order, int of_a, int of_b, int m, int n, int k, real alpha, const real *a, int lda, \
                      int a_step, const real *b, int ldb, int b_step, real beta, real *c, int ldc, int c_step, \
                      int count); \
        size_t (*pack_size)(int which, int m, int n, int k); \
        void (*pack)(int order, int which, int turned, int m, int n, int k, real alpha, const real *from, int ld, \
                     real *to); \
        void (*compute)(int order, int of_a, int of_b, int m, int n, int k, const real *a, int lda, const real *b, \
                        int ldb, real beta, real *c, int ldc); \
    } name
FUNCTIONS_OF(singles, float);
FUNCTIONS_OF(doubles, double);

typedef struct {
    singles s;
    doubles d;
    void (*set_threads)(int);
} blas;

/* A product: C = A · B, with A or B turned round, so many times, and B packed where it stays the same. */
typedef struct {
    const blas *library;
    int of_a, of_b, m, n, k, lda, ldb, count;
    void *packed;
} product;

#define MULTIPLY(real, of, p, a, b, c) \
    do { \
        const real *a_ = a, *b_ = b; \
        real *c_ = c; \
        size_t a_step = (size_t)(p)->m * (p)->k, b_step = (size_t)(p)->n * (p)->k, c_step = (size_t)(p)->m * (p)->n; \
        if ((p)->packed) \
            (of).compute(ROW_MAJOR, (p)->of_a, PACKED, (p)->m, (p)->n, (p)->k, a_, (p)->lda, (p)->packed, (p)->ldb, 0, \
                         c_, (p)->n); \
        else if ((p)->count > 1 && (of).batch && a_step <= INT_MAX && b_step <= INT_MAX && c_step <= INT_MAX) \
            (of).batch(ROW_MAJOR, (p)->of_a, (p)->of_b, (p)->m, (p)->n, (p)->k, 1, a_, (p)->lda, (int)a_step, b_, \
                       (p)->ldb, (int)b_step, 0, c_, (p)->n, (int)c_step, (p)->count); \
        else \
            for (int i = 0; i < (p)->count; i++, a_ += a_step, b_ += b_step, c_ += c_step) { \
                if ((p)->m == 1) { /* y = B · x: B lies as [n,k], or as [k,n] and is turned */ \
                    int is_rows = (p)->of_b == TRANSPOSED; \
                    (of).gemv(ROW_MAJOR, is_rows ? AS_IT_IS : TRANSPOSED, is_rows ? (p)->n : (p)->k, \
                              is_rows ? (p)->k : (p)->n, 1, b_, (p)->ldb, a_, 1, 0, c_, 1); \
                } else { \
                    (of).gemm(ROW_MAJOR, (p)->of_a, (p)->of_b, (p)->m, (p)->n, (p)->k, 1, a_, (p)->lda, b_, (p)->ldb, \
                              0, c_, (p)->n); \
                } \
            } \
    } while (0)

/* With a factor of 0 the old C is not read. */
static int multiply(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    const product *made = job->workspace;
    if (inputs[0].dtype.bits == 32)
        MULTIPLY(float, made->library->s, made, inputs[0].data, inputs[1].data, outputs[0].data);
    else
        MULTIPLY(double, made->library->d, made, inputs[0].data, inputs[1].data, outputs[0].data);
    return ROOFLINE_OK;
}

/* Packs a B that stays the same, if the library can. */
static int pack(product *made, const DLTensor *b) {
    const blas *library = made->library;
    int is_single = b->dtype.bits == 32, m = made->m, n = made->n, k = made->k;
    if (is_single ? !library->s.pack : !library->d.pack) return 1;
    size_t bytes = is_single ? library->s.pack_size(MATRIX_B, m, n, k) : library->d.pack_size(MATRIX_B, m, n, k);
    if (posix_memalign(&made->packed, 64, bytes)) return 0;
    if (is_single)
        library->s.pack(ROW_MAJOR, MATRIX_B, made->of_b, m, n, k, 1, b->data, made->ldb, made->packed);
    else
        library->d.pack(ROW_MAJOR, MATRIX_B, made->of_b, m, n, k, 1, b->data, made->ldb, made->packed);
    return 1;
}

static void release(roofline_job *job) {
    product *made = job->workspace;
    free(made->packed);
    free(made);
}

static int prepare_product(const blas *library, const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    const char *form = strchr(job->operation, '.');
    int is_fixed = form && strcmp(form, ".fixed") == 0;
    /* `matmul` and `bmm` are A · Bᵀ; `.nn`, `.tn` and `.tt` say of each factor whether it is turned. */
    int is_plain = !form || is_fixed;
    int a_turned = !is_plain && form[1] == 't', b_turned = is_plain || form[2] == 't';
    for (size_t i = 0; i < job->axis_count; i++) {
        if (job->axes[i].size > INT_MAX) {
            job->message = "its sizes are 32-bit integers";
            return ROOFLINE_UNSUPPORTED;
        }
    }
    product *made = malloc(sizeof *made);
    if (!made) return ROOFLINE_OUT_OF_MEMORY;
    const DLTensor *c = &outputs[0];
    const int64_t *a_sides = inputs[0].shape + inputs[0].ndim - 2, *c_sides = c->shape + c->ndim - 2;
    int m = (int)c_sides[0], n = (int)c_sides[1], k = (int)a_sides[a_turned ? 0 : 1];
    *made = (product){.library = library, .of_a = a_turned ? TRANSPOSED : AS_IT_IS,
                      .of_b = b_turned ? TRANSPOSED : AS_IT_IS, .m = m, .n = n, .k = k,
                      .lda = a_turned ? m : k, .ldb = b_turned ? k : n, .count = c->ndim == 3 ? (int)c->shape[0] : 1};
    job->workspace = made;
    library->set_threads(job->threads);
    if (is_fixed && !pack(made, &inputs[1])) {
        free(made);
        return ROOFLINE_OUT_OF_MEMORY;
    }
    return ROOFLINE_OK;
}

static int64_t elements(const DLTensor *tensor) {
    int64_t count = 1;
    for (int i = 0; i < tensor->ndim; i++) count *= tensor->shape[i];
    return count;
}

static int prepare_vector(const blas *library, const DLTensor *inputs, roofline_job *job) {
    if (elements(&inputs[0]) > INT_MAX) {
        job->message = "its sizes are 32-bit integers";
        return ROOFLINE_UNSUPPORTED;
    }
    library->set_threads(job->threads);
    job->workspace = (void *)library;
    return ROOFLINE_OK;
}

static int dot(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    const blas *library = job->workspace;
    const void *x = inputs[0].data, *y = inputs[1].data;
    int n = (int)elements(&inputs[0]);
    if (inputs[0].dtype.bits == 32)
        *(float *)outputs[0].data = library->s.dot(n, x, 1, y, 1);
    else
        *(double *)outputs[0].data = library->d.dot(n, x, 1, y, 1);
    return ROOFLINE_OK;
}

/* In place: the output is y before the launch. */
static int axpy(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    const blas *library = job->workspace;
    int n = (int)elements(&inputs[0]);
    double factor = job->params[0].value;
    if (inputs[0].dtype.bits == 32)
        library->s.axpy(n, (float)factor, inputs[0].data, 1, outputs[0].data, 1);
    else
        library->d.axpy(n, factor, inputs[0].data, 1, outputs[0].data, 1);
    return ROOFLINE_OK;
}

/* Opens a library, and gives its handle if it has all that is needed. */
static void *open_blas(blas *library, const char *const *names, const char *set_threads) {
    void *handle = NULL;
    for (; *names && !handle; names++) handle = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return NULL;
#define LOOK_UP(member, name) \
    *(void **)&library->s.member = dlsym(handle, "cblas_s" name); \
    *(void **)&library->d.member = dlsym(handle, "cblas_d" name);
    LOOK_UP(gemm, "gemm")
    LOOK_UP(gemv, "gemv")
    LOOK_UP(dot, "dot")
    LOOK_UP(axpy, "axpy")
    LOOK_UP(batch, "gemm_batch_strided")
    LOOK_UP(pack_size, "gemm_pack_get_size")
    LOOK_UP(pack, "gemm_pack")
    LOOK_UP(compute, "gemm_compute")
    *(void **)&library->set_threads = dlsym(handle, set_threads);
    int has_all = library->s.gemm && library->d.gemm && library->s.gemv && library->d.gemv && library->s.dot
        && library->d.dot && library->s.axpy && library->d.axpy && library->set_threads;
    return has_all ? handle : NULL;
}

static void offer(peers *table, const char *name, roofline_kernel *of_product, roofline_kernel *of_vector) {
    static const char *const forms[] = {"matmul", "matmul.nn", "matmul.tn", "matmul.tt", "matmul.fixed", "bmm", "bmm.nn"};
    roofline_offer row = {.name = name, .dtypes = "f32,f64", .parallel = 1};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        row.operation = forms[i];
        row.about = "gemm, gemv for one row; batches and packed weights by calls of their own where it has them";
        row.prepare = of_product, row.launch = multiply, row.release = release;
        peers_offer(table, row);
    }
    row.release = NULL, row.prepare = of_vector;
    row.operation = "dot", row.about = "cblas_sdot and cblas_ddot", row.launch = dot;
    peers_offer(table, row);
    row.operation = "axpy.in-place", row.about = "cblas_saxpy and cblas_daxpy", row.launch = axpy, row.params = "a";
    peers_offer(table, row);
}

static blas openblas;

static int openblas_product(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    return prepare_product(&openblas, inputs, outputs, job);
}

static int openblas_vector(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)outputs;
    return prepare_vector(&openblas, inputs, job);
}

void add_openblas(peers *table) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", NULL};
    void *handle = open_blas(&openblas, names, "openblas_set_num_threads");
    char *(*configuration)(void) = NULL;
    if (handle) *(void **)&configuration = dlsym(handle, "openblas_get_config");
    if (!configuration) {
        peers_version(table, "no OpenBLAS");
        return;
    }
    peers_version(table, "%s", configuration());
    offer(table, "openblas", openblas_product, openblas_vector);
}

static blas mkl;

static int mkl_product(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    return prepare_product(&mkl, inputs, outputs, job);
}

static int mkl_vector(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)outputs;
    return prepare_vector(&mkl, inputs, job);
}

void add_mkl(peers *table) {
    void *handle = open_blas(&mkl, MKL_FILES, "MKL_Set_Num_Threads");
    void (*version)(char *, int) = NULL;
    if (handle) *(void **)&version = dlsym(handle, "mkl_get_version_string");
    if (!version) {
        peers_version(table, "no MKL");
        return;
    }
    char text[200] = "";
    version(text, sizeof text - 1);
    for (size_t end = strlen(text); end > 0 && text[end - 1] == ' '; end--) text[end - 1] = 0;
    peers_version(table, "%s", text);
    offer(table, "mkl", mkl_product, mkl_vector);
    add_mkl_fft(table);
    add_mkl_sparse(table, handle);
}
