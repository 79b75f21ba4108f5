/* The output file: what the GPUs are, and the rows of all sections. */
#ifndef SMSIM_MEASURE_OUTPUT_H
#define SMSIM_MEASURE_OUTPUT_H

#include "measure.h"

/* JSON objects with commas between them. */
struct output_text {
    char *s;
    size_t n, cap;
};

struct output {
    const struct measure_options *options;
    struct output_text devices, rows;
    int n_devices;
    int64_t last_item; /* of the rows that came: see measure_next */
    char driver[64], date[32];
};

/* Adds an object of n characters. Out of memory ends the program. */
void output_add(struct output_text *t, const char *line, size_t n);

/* Written next to it and renamed: the file is valid at every moment. -1, with the
 * reason on standard error, where it cannot be. */
int output_save(const struct output *o, bool complete);

void output_free(struct output *o);

#endif
