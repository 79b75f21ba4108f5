#include "report/figure_meaning.h"

#include "base/names.h"

#include <stdlib.h>
#include <string.h>

const enum meaning figure_part_meanings[CATEGORY_N] = {
    [CATEGORY_COMPUTE] = MEANING_COMPUTE,
    [CATEGORY_RECOMPUTE] = MEANING_RECOMPUTE,
    [CATEGORY_TENSOR_COMM] = MEANING_TENSOR_COMM,
    [CATEGORY_PIPELINE_COMM] = MEANING_PIPELINE_COMM,
    [CATEGORY_PIPELINE_BUBBLE] = MEANING_PIPELINE_BUBBLE,
    [CATEGORY_CONTEXT_COMM] = MEANING_CONTEXT_COMM,
    [CATEGORY_EXPERT_COMM] = MEANING_EXPERT_COMM,
    [CATEGORY_DATA_COMM_EXPOSED] = MEANING_GRADIENT_COMM,
    [CATEGORY_DATA_COMM_HIDDEN] = MEANING_GRADIENT_COMM,
    [CATEGORY_OPTIMIZER] = MEANING_OPTIMIZER,
    [CATEGORY_OFFLOAD_EXPOSED] = MEANING_OFFLOAD,
    [CATEGORY_INPUT_WAIT] = MEANING_INPUT_WAIT,
    [CATEGORY_OTHER] = MEANING_OTHER,
};

const enum meaning figure_ledger_meanings[LEDGER_KINDS] = {
    [LEDGER_PARAMETERS] = MEANING_PARAMETERS,
    [LEDGER_GRADIENTS] = MEANING_GRADIENTS,
    [LEDGER_OPTIMIZER] = MEANING_OPTIMIZER_STATES,
    [LEDGER_ACTIVATIONS] = MEANING_ACTIVATIONS,
    [LEDGER_BUFFERS] = MEANING_BUFFERS,
    [LEDGER_WORKSPACE] = MEANING_WORKSPACE,
};

const enum meaning figure_phase_meanings[JOB_PHASES] = {
    [JOB_PROVISIONING] = MEANING_PROVISIONING,
    [JOB_IMAGE] = MEANING_IMAGE,
    [JOB_DATA] = MEANING_DATA,
    [JOB_COMPILATION] = MEANING_COMPILATION,
    [JOB_TRAINING] = MEANING_TRAINING,
    [JOB_EVALUATION] = MEANING_EVALUATION,
    [JOB_CHECKPOINTS] = MEANING_CHECKPOINTS,
    [JOB_UPLOAD] = MEANING_UPLOAD,
    [JOB_KEEP_ALIVE] = MEANING_KEEP_ALIVE,
};

/* What follows a prefix; NULL where it is not there. */
static const char *after(const char *path, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(path, prefix, n) == 0 ? path + n : NULL;
}

enum meaning figure_meaning_of(const char *path)
{
    const char *name = after(path, "/breakdown_s/");
    for (int i = 0; name && i < CATEGORY_N; i++)
        if (strcmp(name, names_of(category_names, i)) == 0)
            return figure_part_meanings[i];
    name = after(path, "/memory/");
    for (int i = 0; name && i < LEDGER_KINDS; i++) {
        const char *rest = after(name, ledger_kind_names[i]);
        if (rest && strcmp(rest, "_bytes") == 0)
            return figure_ledger_meanings[i];
    }
    name = after(path, "/job/phases/");
    if (name) {
        char *end;
        long phase = strtol(name, &end, 10);
        if (end > name && strcmp(end, "/time_s") == 0 && phase >= 0 &&
            phase < JOB_PHASES)
            return figure_phase_meanings[phase];
    }
    return MEANING_NONE;
}
