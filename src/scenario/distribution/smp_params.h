/* Parameters of SMP's dictionary as rows: name, type, range, the release it came with,
 * and why it leaves time and memory alone where it does. Private to this folder. */
#ifndef SCENARIO_DISTRIBUTION_SMP_PARAMS_H
#define SCENARIO_DISTRIBUTION_SMP_PARAMS_H

#include "scenario/distribution/distribution.h"

enum { SMP_PARAMS_MAX = 64 };

/* Whose scripts a parameter is for (smd_model_parallel_general.rst: common, TensorFlow-
 * and PyTorch-specific parameters). */
enum smp_for { SMP_FOR_BOTH, SMP_FOR_PYTORCH, SMP_FOR_TENSORFLOW };

struct smp_param {
    struct cfg_field field; /* `has` is set; defaults are in the struct it fills */
    enum smp_for only;
    const char *since;     /* release of SMP; NULL: from the first */
    const char *no_effect; /* why it changes nothing; NULL: it does */
};

/* Reads the dictionary's parameters into *words, as cfg_read does; 0 and 1 pass for
 * booleans, as they do in Python. Those newer than the release are errors, those
 * without effect are noted. The table ends with a row without a key. *words begins with
 * a struct cfg that is overwritten. */
int smp_params_read(struct parse_context *r, struct cfg c, const struct smp_param *rows,
                    void *words);

#endif
