/* What a peer's file gives to the table. */
#ifndef PEERS_H
#define PEERS_H

#include "roofline.h"

/* The rows of the table, which a peer appends to. */
typedef struct {
    roofline_offer offers[128];
    size_t count;
    /* "OpenBLAS 0.3.21, oneDNN 2.6.3", and what is absent. */
    char version[500];
} peers;

void peers_version(peers *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void peers_offer(peers *table, roofline_offer offer);

/* One line a peer: opens its library and appends its rows, or says that it is absent. */
void add_openblas(peers *table);
void add_onednn(peers *table);
void add_mkl(peers *table);
void add_fftw(peers *table);

/* MKL's other parts, which its own file asks for: transforms through the interface of FFTW, and sparse products. */
static const char *const MKL_FILES[] __attribute__((unused)) = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so", NULL};
void add_mkl_fft(peers *table);
void add_mkl_sparse(peers *table, void *handle);

#endif
