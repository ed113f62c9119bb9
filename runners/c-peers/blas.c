/* Libraries with the C interface of BLAS: OpenBLAS and MKL. */
#include "peers.h"
#include <dlfcn.h>
#include <limits.h>
#include <string.h>

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

typedef void sgemm_function(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void dgemm_function(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha,
                            const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);

typedef struct {
    sgemm_function *sgemm;
    dgemm_function *dgemm;
    void (*set_threads)(int);
} blas;

/* C = A · Bᵀ for `matmul`, A · B for `matmul.nn`, and both with Aᵀ. With a factor of 0 the old C is not read. */
static int multiply(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    const blas *library = job->workspace;
    const char *form = strchr(job->operation, '.');
    int a_turned = form && form[1] == 't', b_turned = !form || form[2] == 't';
    int m = (int)outputs[0].shape[0], n = (int)outputs[0].shape[1], k = (int)inputs[0].shape[a_turned ? 0 : 1];
    int of_a = a_turned ? TRANSPOSED : AS_IT_IS, of_b = b_turned ? TRANSPOSED : AS_IT_IS;
    int lda = a_turned ? m : k, ldb = b_turned ? k : n;
    if (inputs[0].dtype.bits == 32)
        library->sgemm(ROW_MAJOR, of_a, of_b, m, n, k, 1, inputs[0].data, lda, inputs[1].data, ldb, 0,
                       outputs[0].data, n);
    else
        library->dgemm(ROW_MAJOR, of_a, of_b, m, n, k, 1, inputs[0].data, lda, inputs[1].data, ldb, 0,
                       outputs[0].data, n);
    return ROOFLINE_OK;
}

static int prepare(blas *library, roofline_job *job) {
    for (size_t i = 0; i < job->axis_count; i++) {
        if (job->axes[i].size > INT_MAX) {
            job->message = "its sizes are 32-bit integers";
            return ROOFLINE_UNSUPPORTED;
        }
    }
    library->set_threads(job->threads);
    job->workspace = library;
    return ROOFLINE_OK;
}

/* Opens a library, and gives its handle if it has all that is needed. */
static void *open_blas(blas *library, const char *const *names, const char *set_threads) {
    void *handle = NULL;
    for (; *names && !handle; names++) handle = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return NULL;
    *(void **)&library->sgemm = dlsym(handle, "cblas_sgemm");
    *(void **)&library->dgemm = dlsym(handle, "cblas_dgemm");
    *(void **)&library->set_threads = dlsym(handle, set_threads);
    return library->sgemm && library->dgemm && library->set_threads ? handle : NULL;
}

static void offer(peers *table, const char *name, const char *about, roofline_kernel *prepare_it) {
    static const char *const forms[] = {"matmul", "matmul.nn", "matmul.tn", "matmul.tt"};
    for (int i = 0; i < 4; i++)
        peers_offer(table, (roofline_offer){.name = name, .operation = forms[i], .dtypes = "f32,f64", .about = about,
                                            .parallel = 1, .prepare = prepare_it, .launch = multiply});
}

static blas openblas;

static int openblas_prepare(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)inputs, (void)outputs;
    return prepare(&openblas, job);
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
    offer(table, "openblas", "cblas_sgemm and cblas_dgemm of OpenBLAS", openblas_prepare);
}

static blas mkl;

static int mkl_prepare(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    (void)inputs, (void)outputs;
    return prepare(&mkl, job);
}

void add_mkl(peers *table) {
    static const char *const names[] = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so", NULL};
    void *handle = open_blas(&mkl, names, "MKL_Set_Num_Threads");
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
    offer(table, "mkl", "cblas_sgemm and cblas_dgemm of MKL", mkl_prepare);
}
