/* Files of constants by device and software (topologies/products and its neighbours):
 * rows, and a provenance with the errors of each. */
#ifndef CALIBRATE_SET_FILE_H
#define CALIBRATE_SET_FILE_H

#include "base/strbuf.h"
#include "calibrate/calibration.h"
#include "calibrate/samples.h"

#include <jansson.h>

struct set_file {
    struct strbuf provenance;
    json_t *rows;
};

/* "smsim calibrate from FILE (DEVICE), median/mean errors" and `of`. */
void set_file_begin(struct set_file *f, const struct samples *s, const char *device,
                    const char *of);

/* A row (its reference is stolen). */
void set_file_add(struct set_file *f, json_t *row);

/* Errors of both halves, after "; " and the row's name. */
void set_file_errors(struct set_file *f, const char *name,
                     const struct calibration_errors *e);

/* The file, with its rows under that key (a new reference). */
json_t *set_file_end(struct set_file *f, const char *key);

/* A number; a quantity of four digits in a unit of so many of SI. */
void set_file_put_real(json_t *row, const char *key, double v);
void set_file_put(json_t *row, const char *key, double v, double unit,
                  const char *name);

#endif
