/* The arithmetic of degrees: world = data x context x pipeline x tensor, the groups in
 * it, and the default of the sharding degree. */
#include "scenario/parse.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "layout/layout.h"
#include "scenario/libraries.h"

#include <inttypes.h>

/* Where a degree was written: SMP's dictionary or the parallelism section. */
static struct cfg degree_at(const struct parse_context *r, const char *key,
                            const char *smp, const char *older)
{
    if (!library_of(&r->s->parallel)->smp.dictionary)
        return cfg_get(r->parallelism, key);
    struct cfg c = cfg_get(r->smp.parameters, smp);
    return cfg_present(c) || !older ? c : cfg_get(r->smp.parameters, older);
}

/* "tensor 8 x pipeline 4 = 32": those that are not 1. */
static void degrees_text(struct strbuf *b, const struct parallelism *p, int64_t product)
{
    const struct {
        const char *name;
        int64_t n;
    } rows[] = { { "tensor", p->tensor },
                 { "pipeline", p->pipeline },
                 { "context", p->context } };
    int shown = 0;
    for (int i = 0; i < 3; i++) {
        if (rows[i].n == 1)
            continue;
        strbuf_printf(b, "%s%s %" PRId64, shown++ ? " x " : "", rows[i].name,
                      rows[i].n);
    }
    if (shown > 1)
        strbuf_printf(b, " = %" PRId64, product);
}

/* The largest degree is most likely the one to change. */
static struct cfg worst_degree(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    if (p->tensor >= p->pipeline && p->tensor >= p->context)
        return degree_at(r, "tensor", "tensor_parallel_degree", NULL);
    if (p->pipeline >= p->context)
        return degree_at(r, "pipeline", "pipeline_parallel_degree", "partitions");
    return degree_at(r, "context", "context_parallel_degree", NULL);
}

/* The counts of instances next to the cluster's whose GPUs the product divides. */
static void counts_text(struct strbuf *b, const struct cluster *c, int64_t product)
{
    struct cluster_group g = cluster_hosts(&c->groups[0]);
    int64_t each = product, gpus = g.gpus_per_instance;
    for (int64_t rest = gpus; rest != 0;) { /* their greatest common divisor */
        int64_t next = each % rest;
        each = rest;
        rest = next;
    }
    each = product / each;
    int64_t below = g.count / each * each;
    if (c->n_groups > 1)
        return;
    if (below > 0)
        strbuf_printf(b, "%" PRId64 " or ", below);
    strbuf_printf(b, "%" PRId64 " instance%s fit%s, or change a degree", below + each,
                  units_plural(below + each), below + each == 1 ? "s" : "");
}

static int indivisible(const struct parse_context *r, int64_t product, int64_t world)
{
    struct strbuf b, fits;
    strbuf_init(&b);
    strbuf_init(&fits);
    degrees_text(&b, &r->s->parallel, product);
    counts_text(&fits, &r->s->cluster, product);
    cfg_error(worst_degree(r), DIAG_NOT_DIVISIBLE, "%s %s the %" PRId64 " GPU%s (%s)",
              strbuf_get(&b), product > world ? "is more than" : "does not divide",
              world, units_plural(world),
              fits.len ? strbuf_get(&fits) : "change a degree or the count");
    strbuf_release(&fits);
    strbuf_release(&b);
    return -1;
}

static int read_sharding_degree(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    int64_t ranks = p->data * p->context;
    struct cfg at = cfg_get(cfg_get(r->parallelism, "sharding"), "degree");
    if (p->shard.strategy == SHARDING_NONE) {
        p->shard.degree = 1;
        return 0;
    }
    if (!r->written.degree)
        p->shard.degree = ranks;
    if (library_of(p)->smp.dictionary || ranks % p->shard.degree == 0)
        return 0; /* SMP's rules have their own words */
    return cfg_error(at, DIAG_NOT_DIVISIBLE,
                     "%" PRId64 " does not divide the %" PRId64
                     " data-parallel ranks (write one of its divisors)",
                     p->shard.degree, ranks);
}

/* Experts' own tensor degree: the ranks of a stage are dealt out anew. */
static int read_expert_tensor(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->parallelism, "expert_tensor");
    int64_t t = parallelism_expert_tensor(p), ranks = p->data * p->context;
    struct layout l;
    if (p->tensor % t != 0)
        return cfg_error(at, DIAG_NOT_DIVISIBLE,
                         "%" PRId64 " does not divide the tensor degree, %" PRId64
                         " (write one of its divisors)",
                         t, p->tensor);
    if (!parallelism_folds_experts(p))
        return 0;
    if (!library_of(p)->expert_tensor)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s has no tensor degree of experts' own (leave it out)",
                         library_of(p)->title);
    if (!p->split.sequence_parallel)
        return cfg_error(at, DIAG_REQUIRES,
                         "ranks of a tensor group route tokens of their own under "
                         "sequence parallelism alone (write \"sequence_parallel\": "
                         "true)");
    layout_init(&l, "DPT", ranks, 1, p->tensor);
    if (!layout_run_fits(&l, p->expert, t) ||
        !layout_run_fits(&l, ranks * p->tensor / (p->expert * t), p->expert * t))
        return cfg_error(cfg_get(r->parallelism, "expert"), DIAG_NOT_DIVISIBLE,
                         "%" PRId64 " x expert_tensor %" PRId64
                         " does not fill the %" PRId64 " x %" PRId64
                         " tensor and data ranks of a stage (write a degree whose "
                         "groups divide or fill the tensor groups)",
                         p->expert, t, p->tensor, ranks);
    return 0;
}

static int read_expert_degree(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = degree_at(r, "expert", "expert_parallel_degree", NULL);
    int64_t ranks = p->data * p->context, experts = r->s->model.mlp.experts;
    if (p->expert == 1 && !p->expert_tensor)
        return 0;
    if (r->has_model && experts == 0 && p->expert > 1)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s has no experts (write 1, or leave it out)",
                         r->s->model.name);
    if (r->has_model && experts % p->expert != 0)
        return cfg_error(at, DIAG_NOT_DIVISIBLE,
                         "%" PRId64 " does not divide the %" PRId64 " experts of %s "
                         "(write one of its divisors)",
                         p->expert, experts, r->s->model.name);
    if (p->expert > 1 && p->expert_imbalance > (double)p->expert)
        return cfg_error(cfg_get(r->parallelism, "expert_load"), DIAG_OUT_OF_RANGE,
                         "the fullest of %" PRId64 " ranks has at most %" PRId64
                         " times the mean, all that there is (write a number from 1 to "
                         "%" PRId64 ")",
                         p->expert, p->expert, p->expert);
    if (!parallelism_folds_experts(p) && ranks % p->expert != 0)
        return cfg_error(at, DIAG_NOT_DIVISIBLE,
                         "%" PRId64 " does not divide the %" PRId64
                         " data-parallel ranks (write one of its divisors%s)",
                         p->expert, ranks,
                         p->tensor > 1 && library_of(p)->expert_tensor
                             ? ", or \"expert_tensor\": 1, which folds experts over "
                               "tensor ranks, too"
                             : "");
    return read_expert_tensor(r);
}

int degrees_read(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    int64_t world = r->s->cluster.n_gpus, product; /* degrees are at most 2^20 */
    p->data = p->replicas = 1;
    if (r->has_model && r->s->model.mlp.experts == 0)
        p->expert_tensor = 0; /* heed.c says so */
    product = p->tensor * p->pipeline * p->context;
    if (product > world || world % product != 0)
        return indivisible(r, product, world);
    p->data = world / product;
    bool own_batches = library_of(p)->smp.merges_batches && !p->split.prescaled_batch;
    p->replicas = own_batches ? p->data * p->tensor : p->data;
    return read_sharding_degree(r) | read_expert_degree(r);
}
