/* The table of all peers that are there. */
#include "peers.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void peers_version(peers *table, const char *format, ...) {
    size_t used = strlen(table->version);
    if (used > 0) used += snprintf(table->version + used, sizeof table->version - used, ", ");
    if (used >= sizeof table->version) return;
    va_list words;
    va_start(words, format);
    vsnprintf(table->version + used, sizeof table->version - used, format, words);
    va_end(words);
}

void peers_offer(peers *table, roofline_offer offer) {
    if (table->count < sizeof table->offers / sizeof *table->offers) table->offers[table->count++] = offer;
}

const roofline_library *roofline_offers(void) {
    static peers table;
    static roofline_library library;
    if (library.interface == 0) {
        add_openblas(&table);
        add_onednn(&table);
        add_mkl(&table);
        add_fftw(&table);
        library = (roofline_library){ROOFLINE_INTERFACE, table.version, table.offers, table.count};
    }
    return &library;
}
