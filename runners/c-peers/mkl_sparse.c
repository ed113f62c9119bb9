/* Sparse products of MKL. A handle is made in every launch: it only refers to the arrays, whose values and places
 * change between launches, and what MKL would find out about them beforehand would be out of date. */
#include "peers.h"
#include <dlfcn.h>
#include <string.h>

/* Of mkl_spblas.h, which need not be there. */
enum { SUCCESS = 0, NO_MEMORY = 2, AS_IT_IS = 10, GENERAL = 20, FROM_ZERO = 0, ROW_MAJOR = 101 };

typedef struct {
    int type, mode, diagonal;
} description;

typedef void *matrix;

#define FUNCTIONS_OF(name, real) \
    typedef struct { \
        int (*csr)(matrix *made, int base, int rows, int cols, int *starts, int *ends, int *columns, real *values); \
        int (*coo)(matrix *made, int base, int rows, int cols, int nnz, int *rows_of, int *columns, real *values); \
        int (*mv)(int of_a, real alpha, matrix a, description kind, const real *x, real beta, real *y); \
        int (*mm)(int of_a, real alpha, matrix a, description kind, int layout, const real *x, int n, int ldx, real beta, \
                  real *y, int ldy); \
    } name
FUNCTIONS_OF(singles, float);
FUNCTIONS_OF(doubles, double);

static struct {
    singles s;
    doubles d;
    int (*destroy)(matrix made);
    void (*set_threads)(int);
} of;

static const description KIND = {.type = GENERAL};

/* Inputs are values, columns, and offsets of rows or the row of each value; then what A is multiplied by. */
#define MULTIPLY(real, functions, in, out) \
    do { \
        int rows = (int)(out)->shape[0], cols = (int)(in)[3].shape[0], nnz = (int)(in)[0].shape[0]; \
        int *places = (in)[2].data, *columns = (in)[1].data, is_coo = strstr(job->operation, ".coo") != NULL; \
        status = is_coo ? (functions).coo(&a, FROM_ZERO, rows, cols, nnz, places, columns, (in)[0].data) \
                        : (functions).csr(&a, FROM_ZERO, rows, cols, places, places + 1, columns, (in)[0].data); \
        if (status == SUCCESS && (out)->ndim == 1) \
            status = (functions).mv(AS_IT_IS, 1, a, KIND, (in)[3].data, 0, (out)->data); \
        else if (status == SUCCESS) \
            status = (functions).mm(AS_IT_IS, 1, a, KIND, ROW_MAJOR, (in)[3].data, (int)(out)->shape[1], \
                                    (int)(in)[3].shape[1], 0, (out)->data, (int)(out)->shape[1]); \
    } while (0)

static int launch(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    matrix a = NULL;
    int status;
    if (inputs[0].dtype.bits == 32)
        MULTIPLY(float, of.s, inputs, outputs);
    else
        MULTIPLY(double, of.d, inputs, outputs);
    if (a) of.destroy(a);
    job->message = "MKL did not multiply by this matrix";
    if (status == NO_MEMORY) return ROOFLINE_OUT_OF_MEMORY;
    return status == SUCCESS ? ROOFLINE_OK : ROOFLINE_FAILED;
}

static int prepare(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)inputs, (void)outputs;
    of.set_threads(job->threads);
    return ROOFLINE_OK;
}

void add_mkl_sparse(peers *table, void *handle) {
#define LOOK_UP(member, name) \
    *(void **)&of.s.member = dlsym(handle, "mkl_sparse_s_" name); \
    *(void **)&of.d.member = dlsym(handle, "mkl_sparse_d_" name); \
    if (!of.s.member || !of.d.member) return;
    LOOK_UP(csr, "create_csr")
    LOOK_UP(coo, "create_coo")
    LOOK_UP(mv, "mv")
    LOOK_UP(mm, "mm")
    *(void **)&of.destroy = dlsym(handle, "mkl_sparse_destroy");
    *(void **)&of.set_threads = dlsym(handle, "MKL_Set_Num_Threads");
    if (!of.destroy || !of.set_threads) return;
    static const char *const forms[] = {"spmv", "spmv.coo", "spmm"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        peers_offer(table, (roofline_offer){.name = "mkl", .operation = forms[i], .dtypes = "f32,f64",
                                            .about = "mkl_sparse_mv and mkl_sparse_mm over the arrays as they are",
                                            .parallel = 1, .prepare = prepare, .launch = launch});
}
