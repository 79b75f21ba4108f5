/* The sections of a run, and their shares of its time. */
#ifndef SMSIM_MEASURE_SECTIONS_H
#define SMSIM_MEASURE_SECTIONS_H

#include "output.h"

/* Runs what is asked for within the budget, and saves the output after each section. -1
 * when that cannot be written. */
int sections_run(struct output *o);

/* The name of section i, in their order; NULL after the last. */
const char *sections_name(int i);

/* Whether all of `names`, separated by commas, are sections. */
bool sections_known(const char *names);

#endif
