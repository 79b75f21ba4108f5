/* Other jobs on the fabric of a scenario: "background", an array of scenarios by name,
 * path or as objects. Each has its own cluster, on hosts of its own ("fabric_hosts").
 * The fabric is the scenario's: its switches carry the flows of all. */
#include "config/datadir.h"
#include "hardware/sites.h"
#include "scenario/parse.h"

#include <inttypes.h>

enum { JOBS_MAX = 16, MICROBATCHES_MAX = 256 };

/* The scenario of an element of the array; absent after reporting. */
static struct cfg root_of(struct parse_context *r, struct cfg at)
{
    const char *name;
    if (cfg_is_object(at))
        return at;
    if (!cfg_is_string(at)) {
        cfg_error(at, DIAG_WRONG_TYPE,
                  "must be a scenario: its name, its path or an object");
        return (struct cfg) { 0 };
    }
    if (cfg_string(at, &name))
        return (struct cfg) { 0 };
    return datadir_load(r->loader, "scenarios", name, at);
}

/* Jobs of one fabric say what it is in one place. */
static int check_fabric(const struct parse_context *r, const struct scenario *job,
                        struct cfg cluster, struct cfg at)
{
    const struct fabric *own = job->cluster.fabric, *all = r->s->cluster.fabric;
    for (const char *const *key = fabric_tier_keys; *key; key++)
        if (cfg_present(cfg_get(cluster, *key)))
            return cfg_error(cfg_get(cluster, *key), DIAG_CONTRADICTION,
                             "switches are those of the fabric of \"cluster\" (leave "
                             "it out here)");
    if (own && own->kind != all->kind)
        return cfg_error(at, DIAG_CONTRADICTION,
                         "its instances talk over %s and those of \"cluster\" over %s, "
                         "which are no one fabric",
                         own->name, all->name);
    return 0;
}

/* Steps are replayed with every microbatch, as flows of others meet each otherwise. */
static int check_length(const struct scenario *s, struct cfg at)
{
    const struct training *t = &s->training;
    const int64_t n = t->accumulation * t->microbatches;
    if (n <= MICROBATCHES_MAX)
        return 0;
    return cfg_error(at, DIAG_OUT_OF_RANGE,
                     "a step of %" PRId64 " microbatches is too long to replay next to "
                     "other jobs (at most %d: write a smaller global batch)",
                     n, MICROBATCHES_MAX);
}

/* The job's fabric has the switches of the scenario's. */
static void give_switches(struct parse_context *r, struct scenario *job)
{
    const struct fabric *all = r->s->cluster.fabric;
    if (!job->cluster.fabric)
        return;
    struct fabric *own = ARENA_NEW(&r->loader->arena, struct fabric);
    *own = *job->cluster.fabric;
    own->tiers = all->tiers;
    own->oversubscription = all->oversubscription;
    job->cluster.fabric = own;
    job->fabric = job->fabric ? own : NULL;
}

static int read_job(struct parse_context *r, struct scenario *job, struct cfg at)
{
    struct cfg root = root_of(r, at);
    if (!cfg_present(root))
        return -1;
    if (cfg_present(cfg_get(root, "background")))
        return cfg_error(cfg_get(root, "background"), DIAG_UNSUPPORTED,
                         "jobs in the background have none of their own (list all jobs "
                         "in one array)");
    if (scenario_read(job, r->loader, root) || check_length(job, at) ||
        check_fabric(r, job, cfg_get(root, "cluster"), at))
        return -1;
    give_switches(r, job);
    return 0;
}

/* Each job has hosts of its own: those that it names, or the next ones. */
static int share_fabric(struct parse_context *r)
{
    struct background *b = &r->s->background;
    struct cluster *all[JOBS_MAX + 1] = { &r->s->cluster };
    struct err err = { 0 };
    int32_t which;
    int64_t end = sites_end(&r->s->cluster);
    for (int32_t i = 0; i < b->n; i++) {
        struct cluster *c = all[i + 1] = &b->jobs[i].cluster;
        if (!c->sites)
            sites_take(c, &r->loader->arena, end);
        end = sites_end(c) > end ? sites_end(c) : end;
    }
    if (sites_share(all, b->n + 1, &r->loader->arena, &which, &err) == 0)
        return 0;
    return cfg_error(which > 0 ? cfg_at(r->background, which - 1) : r->background,
                     DIAG_CONTRADICTION, "%s", err.text);
}

/* Whether the job's flows pass links that those of other jobs may pass. */
static bool leaves(const struct cluster *c)
{
    if (!c->fabric || c->n_instances <= 1)
        return false;
    return sites_tiers_act(c) ||
           (c->fabric->oversubscription > 1 && sites_meet_core(c));
}

static bool can_meet(const struct scenario *s)
{
    bool others = false;
    for (int32_t i = 0; i < s->background.n; i++)
        others |= leaves(&s->background.jobs[i].cluster);
    return others && leaves(&s->cluster);
}

int background_read(struct parse_context *r)
{
    struct background *b = &r->s->background;
    const int64_t n = cfg_len(r->background);
    if (!cfg_present(r->background))
        return 0;
    if (!cfg_is_array(r->background) || n < 1 || n > JOBS_MAX)
        return cfg_error(r->background, DIAG_WRONG_TYPE,
                         "must be an array of 1 to %d scenarios, by name, path or as "
                         "objects",
                         JOBS_MAX);
    if (!r->s->fabric)
        return 0; /* heed.c says that nothing meets */
    if (check_length(r->s, r->training))
        return -1;
    b->jobs = ARENA_ARRAY(&r->loader->arena, n, struct scenario);
    for (; b->n < n; b->n++)
        if (read_job(r, &b->jobs[b->n], cfg_at(r->background, b->n)))
            return -1;
    if (share_fabric(r))
        return -1;
    b->acts = can_meet(r->s);
    return 0;
}
