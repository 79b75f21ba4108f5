/* How experts' tokens travel: the dispatcher, what it takes of the GPU, and with what it
 * overlaps. */
#include "config/datadir.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"

#include <stdlib.h>
#include <string.h>

enum {
    SM_AMPERE = 80,
    /* moe_deepep_num_sms, moe_hybridep_num_sms (megatron/core/transformer/
     * transformer_config.py) */
    DEEPEP_SMS = 20,
    HYBRIDEP_SMS = 16,
    DEEPEP_RANKS = 8, /* that NVLink joins: NUM_MAX_NVL_PEERS of DeepEP's
                         csrc/kernels/configs.cuh */
};

static struct cfg dispatcher_at(const struct parse_context *r)
{
    return cfg_get(r->parallelism, "expert_dispatcher");
}

/* The GPU whose kernels were measured that is of the nearest compute capability; of two
 * the first by name. NULL after reporting. */
static const char *nearest(struct parse_context *r, const struct gpu *gpu)
{
    const char **names = datadir_list(&r->loader->arena, "topologies/transfers");
    const char *best = NULL;
    int64_t least = 0;
    if (names_listed(names, gpu->name))
        return gpu->name;
    for (const char **name = names; *name; name++) {
        const struct gpu *other = gpu_get(r->loader, *name, dispatcher_at(r));
        if (!other)
            return NULL;
        int64_t apart = llabs((long long)other->sm_arch - (long long)gpu->sm_arch);
        if (!best || apart < least) {
            best = *name;
            least = apart;
        }
    }
    return best;
}

static int find_transfers(struct parse_context *r)
{
    struct parallelism_dispatch *d = &r->s->parallel.dispatch;
    const struct gpu *gpu = r->s->cluster.groups[0].instance->gpu;
    if (gpu->sm_arch < SM_AMPERE)
        return cfg_error(dispatcher_at(r), DIAG_UNSUPPORTED,
                         "DeepEP and Hybrid-EP run on Ampere and later, not on %s "
                         "(write \"alltoall\")",
                         gpu->name);
    const char *name = nearest(r, gpu);
    const struct transfers *all =
        name ? transfers_get(r->loader, name, dispatcher_at(r)) : NULL;
    if (!all)
        return -1;
    if (strcmp(name, gpu->name) != 0)
        parse_say(r, dispatcher_at(r), DIAG_ASSUMED,
                  arena_printf(&r->loader->arena,
                               "dispatch and combine were not measured on %s: those of "
                               "%s are taken",
                               gpu->name, name));
    for (int kind = 0; kind < TRANSFER_KINDS; kind++) {
        d->transfers[kind] = d->kind == DISPATCHER_HYBRIDEP
                                 ? &transfer_hybrid
                                 : transfers_find(all, NULL, (enum transfer_kind)kind);
        if (!d->transfers[kind])
            return cfg_error(dispatcher_at(r), DIAG_REQUIRES,
                             "topologies/transfers/%s.json has no %s (add its row)",
                             name, names_of(transfer_kind_names, kind));
    }
    return 0;
}

/* Whether DeepEP's kernels reach all ranks: over more than one node each has eight
 * (deep_ep.cpp, Buffer), which the trays of an NVLink domain have not. */
static bool reaches(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    return p->dispatch.kind != DISPATCHER_DEEPEP || p->expert <= DEEPEP_RANKS ||
           r->s->cluster.groups[0].instance->n_hosts <= 1;
}

/* Over EFA there are several transports, of which one is simulated. */
static void say_proxy(struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct fabric *f = r->s->cluster.fabric;
    if (p->dispatch.kind == DISPATCHER_DEEPEP && p->expert > DEEPEP_RANKS && f &&
        f->put_s > 0)
        parse_say(
            r, dispatcher_at(r), DIAG_ASSUMED,
            arena_printf(&r->loader->arena,
                         "DeepEP sends over NVSHMEM and libfabric, %.3g us a put; "
                         "UCCL and DeepEP v2 are not simulated",
                         f->put_s * 1e6));
}

/* What the keys ask for, and what each needs. */
static int check_overlap(struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct parallelism_dispatch *d = &p->dispatch;
    struct cfg at = cfg_get(r->parallelism, "expert_overlap");
    if (d->overlap == EXPERT_OVERLAP_NONE)
        return 0;
    if (d->kind == DISPATCHER_ALLGATHER)
        return cfg_error(at, DIAG_REQUIRES,
                         "what is gathered from all ranks overlaps with nothing "
                         "(write \"expert_dispatcher\": \"alltoall\" or \"deepep\")");
    if (d->overlap == EXPERT_OVERLAP_SHARED && r->has_model &&
        r->s->model.mlp.shared_width == 0)
        return cfg_error(at, DIAG_REQUIRES,
                         "%s has no expert that all tokens go through (leave it out)",
                         r->s->model.name);
    if (d->overlap == EXPERT_OVERLAP_MICROBATCHES &&
        !parallelism_schedule(p->stages.schedule)->pairs && p->pipeline > 1)
        return cfg_error(at, DIAG_REQUIRES,
                         "forwards and backwards of two microbatches are paired by "
                         "\"1f1b\", \"interleaved\" and \"dualpipe-v\" (leave it "
                         "out)");
    return 0;
}

int dispatch_read(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    struct parallelism_dispatch *d = &p->dispatch;
    bool kernels = d->kind == DISPATCHER_DEEPEP || d->kind == DISPATCHER_HYBRIDEP;
    if (d->kind != DISPATCHER_ALLTOALL &&
        !library_has(library_of(p)->dispatchers, (int)d->kind))
        return cfg_error(dispatcher_at(r), DIAG_UNSUPPORTED,
                         "%s has no such dispatcher (leave it out)",
                         library_of(p)->title);
    if (check_overlap(r))
        return -1;
    if (!kernels || !r->has_cluster)
        return 0;
    if (!reaches(r))
        return cfg_error(dispatcher_at(r), DIAG_UNSUPPORTED,
                         "DeepEP joins up to %d GPUs by NVLink, not the %lld of an "
                         "NVLink domain of several hosts (write \"hybridep\")",
                         DEEPEP_RANKS, (long long)p->expert);
    say_proxy(r);
    if (!d->sms)
        d->sms = d->kind == DISPATCHER_DEEPEP ? DEEPEP_SMS : HYBRIDEP_SMS;
    return find_transfers(r);
}
