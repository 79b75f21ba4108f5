/* Device memory with random content that the host can compute again, element by
 * element: element i of a buffer of seed s is a function of (s, i), rounded to the
 * buffer's format. So references need no copies of inputs. */
#ifndef SMSIM_MEASURE_BUFFER_H
#define SMSIM_MEASURE_BUFFER_H

#include "measure.h"

struct buffer {
    void *at;
    int64_t n; /* elements */
    enum measure_dtype dtype;
    uint32_t seed;
};

int buffer_make(struct measure *m, struct buffer *b, enum measure_dtype dtype,
                int64_t n, uint32_t seed);
void buffer_free(struct buffer *b);

/* Element i as it is on the device, from -1 to 1. */
double buffer_expected(const struct buffer *b, int64_t i);

/* Fills memory of the device, after what is on m->stream and before what comes. */
int buffer_write(struct measure *m, void *to, const void *from, size_t bytes);

/* Reads element i of what a kernel wrote. */
int buffer_read(struct measure *m, const struct buffer *b, int64_t i, double *value);

/* Copies of the inputs that do not fit the cache together: how many sets of `bytes` a
 * loop should go round, 1..most. */
int64_t buffer_sets(const struct measure *m, double bytes, int64_t most);

#endif
