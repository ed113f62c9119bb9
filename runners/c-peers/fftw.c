/* FFTW 3, and MKL through the interface of FFTW that it has: transforms that are planned before the clock starts. */
#include "peers.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of fftw3.h, which need not be there. */
enum { FORWARD = -1, BACKWARD = 1, MEASURE = 0, PRESERVE_INPUT = 1 << 4 };

typedef void *complex_plan(int rank, const int *n, int count, void *in, const int *in_rows, int in_step, int in_distance,
                           void *out, const int *out_rows, int out_step, int out_distance, int sign, unsigned flags);
typedef void *real_plan(int rank, const int *n, int count, void *in, const int *in_rows, int in_step, int in_distance,
                        void *out, const int *out_rows, int out_step, int out_distance, unsigned flags);
typedef void execution(void *plan, void *in, void *out);

/* The library of one precision: names in it begin with `fftwf_` or `fftw_`. */
typedef struct {
    complex_plan *plan_dft;
    real_plan *plan_r2c, *plan_c2r;
    execution *execute_dft, *execute_r2c, *execute_c2r;
    void (*destroy)(void *plan);
    void (*plan_with_threads)(int threads);
    const char *version;
} fftw;

/* A library in both. */
typedef struct {
    fftw single_precision, double_precision;
} pair;

static pair of_fftw, of_mkl;

/* A plan for the job's tensors, and what an inverse is still to be multiplied by. */
typedef struct {
    const fftw *library;
    execution *execute;
    void *plan;
    double factor;
} transform;

static int64_t axis(const roofline_job *job, const char *name) {
    for (size_t i = 0; i < job->axis_count; i++)
        if (strcmp(job->axes[i].name, name) == 0) return job->axes[i].size;
    return 1;
}

static int64_t elements(const DLTensor *tensor) {
    int64_t count = 1;
    for (int i = 0; i < tensor->ndim; i++) count *= tensor->shape[i];
    return count;
}

/* Memory to plan on, which is written over: as long as a tensor and as far from a multiple of 64. */
static void *beside(const DLTensor *tensor, void **start) {
    size_t bytes = (size_t)elements(tensor) * tensor->dtype.bits / 8, offset = (uintptr_t)tensor->data % 64;
    if (posix_memalign(start, 64, bytes + 128)) return NULL;
    memset(*start, 0, bytes + 128);
    return (char *)*start + offset;
}

static void *make_plan(transform *made, const roofline_job *job, const char *form, void *in, void *out) {
    const fftw *library = made->library;
    int is_plane = strncmp(job->operation, "fft2", 4) == 0;
    int n[2] = {(int)axis(job, is_plane ? "rows" : "n"), (int)axis(job, "cols")};
    int rank = is_plane ? 2 : 1, count = (int)axis(job, "batch"), length = is_plane ? n[0] * n[1] : n[0];
    int half = n[0] / 2 + 1;
    if (strcmp(form, "real") == 0) {
        made->execute = library->execute_r2c;
        return library->plan_r2c(rank, n, count, in, NULL, 1, length, out, NULL, 1, half, MEASURE | PRESERVE_INPUT);
    }
    made->factor = strstr(form, "inverse") ? 1.0 / length : 1;
    if (strcmp(form, "real-inverse") == 0) {
        made->execute = library->execute_c2r;
        return library->plan_c2r(rank, n, count, in, NULL, 1, half, out, NULL, 1, length, MEASURE | PRESERVE_INPUT);
    }
    made->execute = library->execute_dft;
    return library->plan_dft(rank, n, count, in, NULL, 1, length, out, NULL, 1, length,
                             *form ? BACKWARD : FORWARD, MEASURE | PRESERVE_INPUT);
}

static int prepare(const pair *of, const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    if (elements(&inputs[0]) > INT_MAX || elements(&outputs[0]) > INT_MAX) {
        job->message = "its sizes are 32-bit integers";
        return ROOFLINE_UNSUPPORTED;
    }
    void *starts[2] = {NULL, NULL};
    void *in = beside(&inputs[0], &starts[0]), *out = beside(&outputs[0], &starts[1]);
    transform *made = calloc(1, sizeof *made);
    if (in && out && made) {
        const char *form = strchr(job->operation, '.');
        *made = (transform){.library = inputs[0].dtype.bits == 32 ? &of->single_precision : &of->double_precision, .factor = 1};
        made->library->plan_with_threads(job->threads);
        made->plan = make_plan(made, job, form ? form + 1 : "", in, out);
    }
    free(starts[0]);
    free(starts[1]);
    if (!made || !made->plan) {
        free(made);
        job->message = "no memory for a plan, or none of this kind";
        return ROOFLINE_OUT_OF_MEMORY;
    }
    job->workspace = made;
    return ROOFLINE_OK;
}

static int launch(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    const transform *made = job->workspace;
    made->execute(made->plan, inputs[0].data, outputs[0].data);
    if (made->factor == 1) return ROOFLINE_OK;
    int64_t count = elements(&outputs[0]);
    if (outputs[0].dtype.bits == 32)
        for (int64_t i = 0; i < count; i++) ((float *)outputs[0].data)[i] *= (float)made->factor;
    else
        for (int64_t i = 0; i < count; i++) ((double *)outputs[0].data)[i] *= made->factor;
    return ROOFLINE_OK;
}

static void release(roofline_job *job) {
    transform *made = job->workspace;
    made->library->destroy(made->plan);
    free(made);
}

/* Finds `name` with the prefix of a precision. */
static void *find(void *handle, const char *prefix, const char *name) {
    char whole[64];
    size_t length = strlen(prefix);
    memcpy(whole, prefix, length);
    strncpy(whole + length, name, sizeof whole - length - 1);
    whole[sizeof whole - 1] = 0;
    return dlsym(handle, whole);
}

/* Finds what is needed of one precision: plans are in one file, threads may be in another. */
static int find_all(fftw *library, void *handle, void *of_threads, const char *prefix) {
    if (!handle || !of_threads) return 0;
    int (*init_threads)(void) = NULL;
    *(void **)&library->plan_dft = find(handle, prefix, "plan_many_dft");
    *(void **)&library->plan_r2c = find(handle, prefix, "plan_many_dft_r2c");
    *(void **)&library->plan_c2r = find(handle, prefix, "plan_many_dft_c2r");
    *(void **)&library->execute_dft = find(handle, prefix, "execute_dft");
    *(void **)&library->execute_r2c = find(handle, prefix, "execute_dft_r2c");
    *(void **)&library->execute_c2r = find(handle, prefix, "execute_dft_c2r");
    *(void **)&library->destroy = find(handle, prefix, "destroy_plan");
    *(void **)&library->plan_with_threads = find(of_threads, prefix, "plan_with_nthreads");
    *(void **)&init_threads = find(of_threads, prefix, "init_threads");
    library->version = find(handle, prefix, "version");
    return library->plan_dft && library->plan_r2c && library->plan_c2r && library->execute_dft
        && library->execute_r2c && library->execute_c2r && library->destroy && library->plan_with_threads
        && library->version && init_threads && init_threads();
}

static void offer(peers *table, const char *name, const char *about, roofline_kernel *prepare_it) {
    static const char *const forms[] = {"fft", "fft.inverse", "fft.real", "fft.real-inverse", "fft2", "fft2.inverse"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        peers_offer(table, (roofline_offer){.name = name, .operation = forms[i], .dtypes = "f32,f64", .about = about,
                                            .parallel = 1, .prepare = prepare_it, .launch = launch,
                                            .release = release});
}

static int fftw_prepare(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    return prepare(&of_fftw, inputs, outputs, job);
}

void add_fftw(peers *table) {
    /* The files of threads need those of plans. */
    int flags = RTLD_NOW | RTLD_GLOBAL;
    void *singles = dlopen("libfftw3f.so.3", flags), *doubles = dlopen("libfftw3.so.3", flags);
    if (!find_all(&of_fftw.single_precision, singles, dlopen("libfftw3f_threads.so.3", RTLD_NOW), "fftwf_")
        || !find_all(&of_fftw.double_precision, doubles, dlopen("libfftw3_threads.so.3", RTLD_NOW), "fftw_")) {
        peers_version(table, "no FFTW");
        return;
    }
    peers_version(table, "%s", of_fftw.double_precision.version);
    offer(table, "fftw", "a plan of FFTW, measured while preparing; inverses are multiplied by 1/n after it", fftw_prepare);
}

static int mkl_prepare(const DLTensor *inputs, const DLTensor *outputs, roofline_job *job) {
    return prepare(&of_mkl, inputs, outputs, job);
}

void add_mkl_fft(peers *table) {
    void *handle = NULL;
    for (const char *const *file = MKL_FILES; *file && !handle; file++) handle = dlopen(*file, RTLD_NOW | RTLD_LOCAL);
    if (find_all(&of_mkl.single_precision, handle, handle, "fftwf_")
        && find_all(&of_mkl.double_precision, handle, handle, "fftw_"))
        offer(table, "mkl", "a plan of MKL, through its interface of FFTW; inverses are multiplied by 1/n after it", mkl_prepare);
}
