/* Values of the field activation_checkpointing: what is computed again, as one number
 * each, so that a digit of a point can name it. */
#ifndef SEARCH_SPACE_FORMS_H
#define SEARCH_SPACE_FORMS_H

#include "model/regions.h"
#include "search/space/space.h"

/* As /training/activation_checkpointing has it (layout/parallelism.h). */
struct space_form {
    enum checkpointing how;
    int64_t group;    /* GROUP: layers that keep one input; INT64_MAX: all of a stage */
    int64_t every;    /* FULL: one layer in so many; else 1 */
    int64_t block;    /* FULL: the first so many of a chunk; 0: all */
    uint32_t modules; /* SELECTIVE: bits of enum op_region */
};

struct space_form space_form_of(int64_t value);
int64_t space_form_value(const struct space_form *form);

/* The form that a scenario has. */
struct space_form space_form_given(const struct training *t);

/* "8" (layers of a group), "every:4", "block:2", "core_attn+moe_act"; -1: none of
 * these, and no word of the field's. */
int space_form_read(const char *word, int64_t *value);
char *space_form_text(int64_t value, char *buf, size_t size);

/* As a scenario writes it; a new tree. */
json_t *space_form_json(int64_t value);

/* The share of layers that are computed again whole, of chunks of so many. */
double space_form_share(const struct space_form *form, double chunk_layers);

/* The sum over the modules of what each has alone: experts' activation and shared
 * experts are within "moe", the norm "gdn_norm_out" within "gdn". */
double space_form_sum(const double of[OP_REGIONS], uint32_t modules);

#endif
