#include "doctor/predict.h"

#include "base/hash.h"
#include "base/xmalloc.h"
#include "campaign/campaign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_gpu(char *to, const struct cluster *c)
{
    const char *name = c->groups[0].instance->gpu->name;
    snprintf(to, DOCTOR_GPU_TEXT, "%s", strchr(name, '/') ? "" : name);
    for (int32_t i = 1; i < c->n_groups; i++)
        if (strcmp(c->groups[i].instance->gpu->name, name) != 0)
            to[0] = '\0';
}

static struct doctor_facts facts_of(const struct scenario *s)
{
    const struct cluster_group *g = &s->cluster.groups[0];
    struct doctor_facts f = {
        .nodes = s->cluster.n_instances,
        .gpus_per_node = g->gpus_per_instance,
        .micro_batch = s->training.micro_batch_size,
        .global_batch = s->training.global_batch_size,
        .sequence = s->training.sequence_length,
        .sm_arch = scenario_sm_arch(s),
        .pipeline = s->parallel.pipeline,
        .tensor = s->parallel.tensor,
        .layers = s->model.layers,
        .hidden = s->model.hidden,
        .parameters = s->model.parameters,
        .network_Bps = instance_network_Bps(g->instance),
        .inside = (int)g->instance->inside->kind,
        .outside = s->fabric ? (int)s->fabric->kind : -1,
        .attention = s->training.attention,
        .precision = s->training.precision,
        .checkpointing = s->training.checkpointing,
        .sharding = s->parallel.shard.strategy,
    };
    take_gpu(f.gpu, &s->cluster);
    for (int32_t i = 0; i < g->instance->n_nics; i++)
        f.nics += g->instance->nics[i].rails;
    return f;
}

static void take(struct doctor_prediction *p, const struct simulate_result *r)
{
    *p = (struct doctor_prediction) {
        .step_s = r->step_time_s,
        .range_s = { r->range_s[0], r->range_s[1] },
        .peak_B = (double)r->memory.peak_B,
        .peak_range_B = { (double)r->memory.range_B[0], (double)r->memory.range_B[1] },
        .capacity_B = (double)r->memory.capacity_B,
        .allocated_B = (double)r->memory.allocated_B,
        .reserved_B = (double)r->memory.reserved_B,
        .samples = r->samples_per_s * r->step_time_s,
        .tokens = r->tokens_per_s * r->step_time_s,
        .gpus = r->gpus,
        .usd_per_h = r->cost.has_price ? r->cost.usd_per_hour : (double)NAN,
        .mfu = r->mfu,
    };
    interval_range_beyond(&r->interval, p->step_s, p->range_s, 0.1, p->tenth_s);
    interval_range_beyond(&r->interval, p->step_s, p->range_s, 0.025, p->normal_s);
    memcpy(p->parts_s, r->parts_s, sizeof(p->parts_s));
}

struct doctor_shares doctor_shares_of(const struct doctor_prediction *p)
{
    const double *t = p->parts_s;
    double compute = breakdown_passes_s(t) + t[CATEGORY_OPTIMIZER];
    double waiting =
        t[CATEGORY_OTHER] + t[CATEGORY_INPUT_WAIT] + t[CATEGORY_OFFLOAD_EXPOSED];
    return (struct doctor_shares) {
        .compute = compute / p->step_s,
        .communication = 1 - (compute + waiting) / p->step_s,
        .waiting = waiting / p->step_s,
    };
}

static int simulate_tree(struct doctor_prediction *p, struct cfg_loader *loader,
                         const json_t *tree, struct err *err)
{
    struct scenario s;
    struct simulate_result r;
    if (campaign_simulate_tree(&r, &s, loader, "doctor", tree, err))
        return -1;
    take(p, &r);
    p->facts = facts_of(&s);
    p->passes = (double)scenario_passes(&s);
    snprintf(p->quality, sizeof(p->quality), "%s",
             s.fabric ? s.fabric->state.text : "");
    return 0;
}

/* Each tree once ------------------------------------------------------------------- */

struct doctor_known {
    char *text; /* of the tree, keys in order */
    struct doctor_prediction p;
    struct err err; /* set: it cannot be simulated */
    UT_hash_handle hh;
};

void doctor_predictor_init(struct doctor_predictor *by, struct cfg_loader *files)
{
    *by = (struct doctor_predictor) { .files = files };
}

void doctor_predictor_release(struct doctor_predictor *by)
{
    struct doctor_known *k = by->known;
    HASH_CLEAR(hh, by->known);
    while (k) {
        struct doctor_known *next = k->hh.next;
        free(k->text);
        free(k);
        k = next;
    }
}

static void simulate_alone(struct doctor_known *k, struct cfg_loader *files,
                           const json_t *tree)
{
    struct cfg_loader own;
    cfg_loader_init(&own);
    own.shared = files;
    if (simulate_tree(&k->p, &own, tree, &k->err))
        err_set(&k->err, "the job cannot be simulated");
    cfg_loader_release(&own);
}

int doctor_predict(struct doctor_prediction *p, struct doctor_predictor *by,
                   const json_t *tree, struct err *err)
{
    char *text = json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS);
    struct doctor_known *k;
    HASH_FIND(hh, by->known, text, strlen(text), k);
    if (k) {
        free(text);
    } else {
        k = xcalloc(1, sizeof(*k));
        k->text = text;
        simulate_alone(k, by->files, tree);
        HASH_ADD_KEYPTR(hh, by->known, k->text, strlen(k->text), k);
    }
    *p = k->p;
    if (k->err.set)
        *err = err->set ? *err : k->err;
    return k->err.set ? -1 : 0;
}
