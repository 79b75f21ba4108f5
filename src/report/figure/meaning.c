#include "report/figure/meaning.h"

#include "base/names.h"

#include <stdlib.h>
#include <string.h>

const enum meaning figure_part_meanings[CATEGORY_N] = {
    [CATEGORY_COMPUTE] = MEANING_COMPUTE,
    [CATEGORY_RECOMPUTE] = MEANING_RECOMPUTE,
    [CATEGORY_REFERENCE] = MEANING_REFERENCE,
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

/* The palette's hue by family, its shades (8 more each) by what is near it. */
static const struct {
    const char *name;
    int32_t colour;
} instance_colours[] = {
    { "p3.16xlarge", 0 },         { "p3.8xlarge", 8 },
    { "p3.2xlarge", 24 },         { "p3dn.24xlarge", 1 },
    { "g7e.24xlarge", 9 },        { "g7e.48xlarge", 17 },
    { "g7e.12xlarge", 25 },       { "p4d.24xlarge", 2 },
    { "g6e.24xlarge", 10 },       { "p4de.24xlarge", 18 },
    { "g6.24xlarge", 26 },        { "p5.48xlarge", 3 },
    { "p5e.48xlarge", 11 },       { "p5en.48xlarge", 19 },
    { "p5.4xlarge", 27 },         { "g5.48xlarge", 4 },
    { "g5.12xlarge", 12 },        { "g5.24xlarge", 20 },
    { "g5.xlarge", 28 },          { "p6-b200.48xlarge", 5 },
    { "p6e-gb200.36xlarge", 13 }, { "p6-b300.48xlarge", 21 },
    { "p6e-gb300.36xlarge", 29 }, { "g6.48xlarge", 6 },
    { "g6.12xlarge", 14 },        { "g6e.48xlarge", 22 },
    { "g6e.12xlarge", 30 },       { "g4dn.metal", 7 },
    { "g4dn.12xlarge", 15 },      { "g4dn.16xlarge", 23 },
    { "g4dn.xlarge", 31 },
};

int32_t figure_instance_colour(const char *name)
{
    if (strncmp(name, "ml.", 3) == 0)
        name += 3;
    for (size_t i = 0; i < sizeof(instance_colours) / sizeof(*instance_colours); i++)
        if (strcmp(instance_colours[i].name, name) == 0)
            return instance_colours[i].colour;
    return -1;
}
