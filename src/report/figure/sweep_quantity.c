/* How quantities of sweeps are called and measured in figures. */
#include "base/names.h"
#include "report/figure/sweep_data.h"
#include "report/report.h"
#include "run/category.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct sweep_quantity quantities[] = {
    { "step_time_s",               "step time",                AXIS_SECONDS,    NULL, false, 1 },
    { "samples_per_s",             "throughput",               AXIS_PLAIN,      "samples/s", true, 1 },
    { "tokens_per_s",              "throughput",               AXIS_PLAIN,      "tokens/s", true, 1 },
    { "model_flops_per_gpu_s",     "model FLOP/s per GPU",     AXIS_FLOP_PER_S, NULL, true, 1 },
    { "mfu",                       "model FLOPs utilization",  AXIS_FRACTION,   NULL, true, 1 },
    { "hfu",                       "hardware FLOPs utilization", AXIS_FRACTION, NULL, true, 1 },
    { "gpus",                      "GPUs",                     AXIS_PLAIN,      NULL, false, 1 },
    { "/memory/peak_bytes",        "peak memory per GPU",      AXIS_BYTES,      NULL, false, 1 },
    { "/memory/capacity_bytes",    "memory of the GPU",        AXIS_BYTES,      NULL, true, 1 },
    { "/cost/usd_per_hour",        "price per hour",           AXIS_USD,        NULL, false, 1 },
    { "/cost/usd_per_step",        "cost of a step",           AXIS_USD,        NULL, false, 1 },
    { "/cost/usd_per_job",         "cost of the job",          AXIS_USD,        NULL, false, 1 },
    { "/cost/hours_per_job",       "time of the job",          AXIS_SECONDS,    NULL, false, 3600 },
    { "/breakdown_s/input_wait",   "waiting for input",        AXIS_SECONDS,    NULL, false, 1 },
    { "/input/samples_per_s",      "throughput of loading",    AXIS_PLAIN,      "samples/s", true, 1 },
    { "/input/workers",            "loader workers per GPU",   AXIS_PLAIN,      NULL, false, 1 },
    { "/input/cpu",                "CPU time per sample",      AXIS_PLAIN,      NULL, false, 1 },
    { "/job/hours",                "time of the job",          AXIS_PLAIN,      "h", false, 1 },
    { "/job/billed_hours",         "billed time of the job",   AXIS_PLAIN,      "h", false, 1 },
    { "/job/usd",                  "cost of the job",          AXIS_USD,        NULL, false, 1 },
    { "/job/phases/0/time_s",      "provisioning (not billed)", AXIS_SECONDS,   NULL, false, 1 },
    { "/job/phases/1/time_s",      "container image",          AXIS_SECONDS,    NULL, false, 1 },
    { "/job/phases/2/time_s",      "data download",            AXIS_SECONDS,    NULL, false, 1 },
    { "/job/phases/3/time_s",      "tracing and compilation",  AXIS_SECONDS,    NULL, false, 1 },
    { "/job/phases/4/time_s",      "training",                 AXIS_SECONDS,    NULL, false, 1 },
    { "/job/phases/5/time_s",      "evaluation",               AXIS_SECONDS,    NULL, false, 1 },
    { "/job/phases/6/time_s",      "checkpoints",              AXIS_SECONDS,    NULL, false, 1 },
    { "/job/phases/7/time_s",      "model upload",             AXIS_SECONDS,    NULL, false, 1 },
    { "/job/phases/8/time_s",      "warm pool kept alive",     AXIS_SECONDS,    NULL, false, 1 },
    { "/job/trials/hours",         "time of all trials",       AXIS_PLAIN,      "h", false, 1 },
    { "/job/trials/instance_hours", "billed time of all trials", AXIS_PLAIN,    "instance-hours", false, 1 },
    { "/job/trials/usd",           "cost of all trials",       AXIS_USD,        NULL, false, 1 },
    { "/job/parallel_trials",      "trials at once",           AXIS_PLAIN,      NULL, false, 1 },
    { "/uncertainty/samples_per_s", "throughput in the mean",  AXIS_PLAIN,      "samples/s", true, 1 },
    { "/uncertainty/goodput/fraction", "useful share of the time", AXIS_FRACTION,  NULL, true, 1 },
    { "/uncertainty/goodput/lost_work", "lost work",           AXIS_FRACTION,      NULL, false, 1 },
    { "/uncertainty/goodput/checkpoints", "checkpoints",       AXIS_FRACTION,      NULL, false, 1 },
    { "/uncertainty/goodput/restarts", "restarts",             AXIS_FRACTION,      NULL, false, 1 },
    { "/cluster/count",            "instances",                AXIS_PLAIN,      NULL, false, 1 },
    { "/cluster/instance",         "instance",                 AXIS_PLAIN,      NULL, false, 1 },
    { "/training/micro_batch_size", "batch per GPU",           AXIS_PLAIN,      "sequences", false, 1 },
    { "/training/global_batch_size", "global batch",           AXIS_PLAIN,      "sequences", false, 1 },
    { "/training/sequence_length", "sequence length",          AXIS_PLAIN,      "tokens", false, 1 },
    { "/parallelism/sharding/degree", "GPUs that share states", AXIS_PLAIN,     NULL, false, 1 },
    { "/model/n_layer",            "layers",                   AXIS_PLAIN,      NULL, false, 1 },
    { "/model/num_hidden_layers",  "layers",                   AXIS_PLAIN,      NULL, false, 1 },
    { NULL },
};
/* clang-format on */

struct sweep_quantity figure_quantity_of(const char *name)
{
    for (const struct sweep_quantity *q = quantities; q->name; q++)
        if (strcmp(q->name, name) == 0)
            return *q;
    struct sweep_quantity q = { .name = name, .factor = 1 };
    const char *time = "/uncertainty/step_time_s/";
    if (strncmp(name, "/memory/", 8) == 0 || names_ends(name, "_bytes"))
        q.unit = AXIS_BYTES;
    else if (strncmp(name, "/breakdown_s/", 13) == 0 ||
             strncmp(name, time, strlen(time)) == 0 ||
             (names_ends(name, "_s") && !names_ends(name, "_per_s")))
        q.unit = AXIS_SECONDS;
    else if (strncmp(name, "/utilization/", 13) == 0)
        q.unit = AXIS_FRACTION;
    q.more_is_better = names_ends(name, "_per_s") || q.unit == AXIS_FRACTION;
    return q;
}

/* "median" of p50, "95th percentile" of p95; NULL: the name is no percentile. */
static const char *percentile_label(struct arena *arena, const char *name)
{
    char *end;
    long p = name[0] == 'p' && isdigit((unsigned char)name[1])
                 ? strtol(name + 1, &end, 10)
                 : -1;
    if (p < 0 || *end)
        return NULL;
    const char *th = p % 100 / 10 == 1 ? "th"
                     : p % 10 == 1     ? "st"
                     : p % 10 == 2     ? "nd"
                     : p % 10 == 3     ? "rd"
                                       : "th";
    return p == 50 ? "median" : arena_printf(arena, "%ld%s percentile", p, th);
}

const char *figure_quantity_label(struct arena *arena, const char *name)
{
    const char *part = "/breakdown_s/", *slash = strrchr(name, '/');
    struct sweep_quantity q = figure_quantity_of(name);
    if (q.label)
        return q.label;
    int category;
    if (strncmp(name, part, strlen(part)) == 0 &&
        names_find(category_names, slash + 1, &category) == 0)
        return report_part_texts[category];
    const char *percentile = percentile_label(arena, slash ? slash + 1 : name);
    if (percentile)
        return percentile;
    char *label = arena_strdup(arena, slash ? slash + 1 : name);
    for (char *c = label; *c; c++)
        if (*c == '_')
            *c = ' ';
    return label;
}
