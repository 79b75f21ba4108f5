/* What the parts of steps, of memory and of jobs mean in figures: their colours. */
#ifndef REPORT_FIGURE_MEANING_H
#define REPORT_FIGURE_MEANING_H

#include "campaign/job.h"
#include "draw/meaning.h"

#include "memory/ledger.h"
#include "simulate/simulate.h"
#include <stdint.h>

extern const enum meaning figure_part_meanings[CATEGORY_N];
extern const enum meaning figure_ledger_meanings[LEDGER_KINDS];
extern const enum meaning figure_phase_meanings[JOB_PHASES];

/* The meaning of a result by its path in JSON ("/breakdown_s/compute",
 * "/memory/optimizer_bytes", "/job/phases/4/time_s"); else MEANING_NONE. */
enum meaning figure_meaning_of(const char *path);

/* The colour of an instance in every figure, as an index of the palette below
 * FIGURE_INSTANCE_COLOURS; -1: by its order. */
enum { FIGURE_INSTANCE_COLOURS = 32 };
int32_t figure_instance_colour(const char *name);

#endif
