#include "search/plan/given.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "search/space/own.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Where a value is given in two ways, or the plan chooses it. */
enum when {
    ALWAYS,
    WITHOUT_SCENARIO,
    WITH_BATCH,
    WITH_INSTANCES,
    WITH_COUNT,
    WITH_TOKENS
};

/* clang-format off */
static const struct {
    const char *pointer;
    enum when when;
    const char *instead;
} rows[] = {
    { "/parallelism",                          ALWAYS, "a plan chooses it: --fix or --allow, --for for the library" },
    { "/distribution",                         WITHOUT_SCENARIO, "a plan chooses it: --for, --fix or --allow" },
    { "/training/micro_batch_size",            ALWAYS, "a plan chooses it: --fix micro_batch_size" },
    { "/training/microbatches",                ALWAYS, "a plan chooses it: --fix microbatches" },
    { "/training/gradient_accumulation_steps", ALWAYS, "it follows from --fix micro_batch_size and data" },
    { "/training/activation_checkpointing",    ALWAYS, "a plan chooses it: --fix activation_checkpointing" },
    { "/training/global_batch_size",           WITH_BATCH, "--global-batch gives it" },
    { "/training/sequence_length",             WITHOUT_SCENARIO, "--sequence-length gives it" },
    { "/training/steps",                       WITH_TOKENS, "--tokens gives the job's length" },
    { "/training/samples",                     WITH_TOKENS, "--tokens gives the job's length" },
    { "/training/epochs",                      WITH_TOKENS, "--tokens gives the job's length" },
    { "/model",                                WITHOUT_SCENARIO, "--model gives it" },
    { "/cluster/instance",                     WITH_INSTANCES, "--instance gives it" },
    { "/cluster/groups",                       WITH_INSTANCES, "--instance gives the cluster" },
    { "/cluster/gpus_per_instance",            WITH_INSTANCES, "a plan chooses it: --fix gpus_per_instance" },
    { "/cluster/count",                        WITH_INSTANCES, "--count gives it" },
    { "/cluster/count",                        WITH_COUNT, "--count gives it" },
};
/* clang-format on */

static bool holds(const struct plan_request *r, enum when when)
{
    switch (when) {
    case ALWAYS:
        return true;
    case WITHOUT_SCENARIO:
        return !cfg_present(r->scenario);
    case WITH_BATCH:
        return r->global_batch > 0;
    case WITH_INSTANCES:
        return r->instances != NULL;
    case WITH_COUNT:
        return r->count != NULL;
    case WITH_TOKENS:
        return r->tokens > 0;
    }
    return false;
}

/* Whether a --set is of that value or of something in it. */
static bool is_of(const char *set, const char *pointer)
{
    size_t n = strlen(pointer);
    return strncmp(set, pointer, n) == 0 && (set[n] == '=' || set[n] == '/');
}

static struct diag of_set(enum diag_severity severity, const char *pointer)
{
    return (struct diag) { .severity = severity,
                           .code = DIAG_WITHOUT_EFFECT,
                           .set = pointer,
                           .pointer = pointer };
}

int plan_given_sets(const struct plan_request *r, struct diags *diags)
{
    int rc = 0;
    for (int32_t i = 0; i < r->sets.n; i++)
        for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++)
            if (is_of(r->sets.v[i], rows[j].pointer) && holds(r, rows[j].when)) {
                diags_add(diags, of_set(DIAG_ERROR, rows[j].pointer),
                          "has no effect on a plan (%s)", rows[j].instead);
                rc = -1;
                break;
            }
    return rc;
}

void plan_given_missing(struct diags *diags)
{
    for (int64_t i = 0; i < diags->n; i++)
        for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++)
            if (diags->v[i].code == DIAG_MISSING && diags->v[i].pointer &&
                rows[j].when == WITHOUT_SCENARIO &&
                strcmp(diags->v[i].pointer, rows[j].pointer) == 0)
                diags->v[i].mend = rows[j].instead;
}

void plan_given_script(const struct plan_request *r, struct diags *diags)
{
    for (int32_t i = 0; i < r->sets.n; i++)
        for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++)
            if (rows[j].when == ALWAYS && is_of(r->sets.v[i], rows[j].pointer))
                diags_add(diags, of_set(DIAG_WARNING, rows[j].pointer),
                          "completes the script, no plan (%s)", rows[j].instead);
}

/* Where a layout of stages is kept. */
static void say_layout(const struct space_layout *l, struct diags *diags)
{
    const struct diag at = { .severity = DIAG_WARNING,
                             .code = DIAG_INFERRED,
                             .pointer = "/parallelism/partition" };
    if (l->pipeline > 0)
        diags_add(diags, at,
                  "kept in plans of %" PRId64 " stages with %" PRId64
                  " chunk%s each; others have the library's own layout",
                  l->pipeline, l->chunks, units_plural(l->chunks));
    else
        diags_add(diags, at,
                  "kept in plans whose stages it divides; others have the library's "
                  "own layout");
}

/* What plans keep that shard as the scenario does. */
static void say_own(const struct space_own *own, struct diags *diags)
{
    struct strbuf keys;
    const json_t *unused;
    const char *key;
    strbuf_init(&keys);
    for (int32_t n = 0; (key = space_own_key(own, n, &unused)) != NULL; n++)
        strbuf_printf(&keys, "%s%s", n ? ", " : "", key);
    if (strbuf_get(&keys)[0])
        diags_add(diags,
                  (struct diag) { .severity = DIAG_WARNING,
                                  .code = DIAG_INFERRED,
                                  .pointer = "/parallelism/sharding" },
                  "plans of %s with sharding %s, %s stages, keep %s; others have the "
                  "library's own",
                  names_of(library_names, own->library),
                  names_of(parallelism_sharding_names, own->strategy),
                  own->stages ? "with" : "without", strbuf_get(&keys));
    strbuf_release(&keys);
}

void plan_given_parallelism(const json_t *parallelism,
                            const struct space_layout *layout,
                            const struct space_own *own, struct diags *diags)
{
    static const char *const chosen[] = {
        "library",        "backend",           "tensor",         "pipeline",
        "data",           "context",           "expert",         "replicas",
        "schedule",       "sharding",          "placement",      "bucket_size",
        "virtual_stages", "sequence_parallel", "overlap_tensor", NULL,
    };
    struct strbuf left;
    const char *key;
    json_t *value;
    strbuf_init(&left);
    json_object_foreach((json_t *)(uintptr_t)parallelism, key,
                        value) if (!names_listed(chosen, key) &&
                                   !(layout && strcmp(key, "partition") == 0))
        strbuf_printf(&left, "%s%s", strbuf_get(&left)[0] ? ", " : "", key);
    if (layout)
        say_layout(layout, diags);
    if (strbuf_get(&left)[0])
        diags_add(diags,
                  (struct diag) { .severity = DIAG_WARNING,
                                  .code = DIAG_WITHOUT_EFFECT,
                                  .pointer = "/parallelism" },
                  "plans leave out %s and have the library's own", strbuf_get(&left));
    strbuf_release(&left);
    say_own(own, diags);
}

static int refuse_cluster(const struct plan_job *job, const char *option)
{
    diags_error(&job->loader->diags, DIAG_CONTRADICTION,
                "%s: the scenario's cluster of several groups is taken as it is "
                "(--instance puts another in its place)",
                option);
    return -1;
}

int plan_given_job(const struct plan_job *job, const struct plan_request *r)
{
    const struct space *s = &job->space;
    uint32_t asked = 0;
    int rc = 0;
    if (job->cluster && r->count)
        rc = refuse_cluster(job, "--count");
    if (job->cluster && r->prices.n)
        rc = refuse_cluster(job, "--price");
    if (job->cluster && s->given[SPACE_COUNT])
        rc = refuse_cluster(job, "--fix count");
    if (job->cluster && s->given[SPACE_GPUS])
        rc = refuse_cluster(job, "--fix gpus_per_instance");
    for (int32_t i = 0; s->given[SPACE_LIBRARY] && i < s->n[SPACE_LIBRARY]; i++)
        asked |= 1U << s->values[SPACE_LIBRARY][i];
    if (asked && r->stacks && (asked & ~(uint32_t)r->stacks)) {
        diags_error(&job->loader->diags, DIAG_UNKNOWN_NAME,
                    "--fix library: is none of those that --for or --emit are about");
        rc = -1;
    }
    return rc;
}

static bool any_priced(const struct plan_job *job)
{
    const struct space *s = &job->space;
    if (job->cluster)
        return isfinite(job->cluster_usd);
    for (int32_t i = 0; i < s->n_instances; i++)
        if (s->instances[i].has_price)
            return true;
    return false;
}

int plan_given_budget(const struct plan_job *job, const struct plan_options *o,
                      struct err *err)
{
    const char *asked = o->max_cost_usd > 0         ? "--max-cost"
                        : o->objective == PLAN_COST ? "--objective cost"
                                                    : NULL;
    if ((o->max_cost_usd > 0 || o->deadline_h > 0) && job->steps <= 0)
        return err_set(err, "--max-cost and --deadline are of the whole job: give "
                            "--tokens, or the scenario's samples or steps");
    if (asked && !any_priced(job))
        return err_set(err, "%s: nobody knows what %s costs (give --price %s=USD/h)",
                       asked, job->space.instances[0].name,
                       job->space.instances[0].name);
    return 0;
}
