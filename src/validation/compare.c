#include "validation/compare.h"

#include "base/xmalloc.h"
#include "config/datadir.h"
#include "cost/kernel.h"
#include "simulate/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How each program trains: its framework profile, and whether gradients are reduced
 * where they lie. */
static const struct {
    const char *framework;
    int64_t vocab_padding;
    bool in_place;
} programs[] = {
    [MEASURED_OWN] = { "smsim-measure", 8, true },
    [MEASURED_EAGER] = { "pytorch2-fused", 1, false },
    [MEASURED_COMPILED] = { "pytorch2-compiled", 1, false },
};

double compared_error(struct compared c)
{
    if (!(c.measured > 0 && c.predicted > 0))
        return NAN;
    return c.predicted / c.measured - 1;
}

/* The same step as a scenario ------------------------------------------------------ */

static json_t *model_tree(const struct measured_step *m)
{
    return cfg_present(m->config) ? json_deep_copy(m->config.json)
                                  : json_string(m->model);
}

static json_t *scenario_tree(const struct measured_step *m,
                             const struct instance *instance)
{
    json_t *cluster = json_pack("{s:s, s:I}", "instance", instance->name,
                                "gpus_per_instance", (json_int_t)m->n_gpus);
    json_t *training =
        json_pack("{s:I, s:I, s:s, s:s, s:s, s:I, s:s}", "sequence_length",
                  (json_int_t)m->sequence, "micro_batch_size", (json_int_t)m->batch,
                  "precision", names_of(op_precision_names, m->precision), "optimizer",
                  "adam", "attention", names_of(op_attention_names, m->attention),
                  "vocab_padding", (json_int_t)programs[m->program].vocab_padding,
                  "framework", programs[m->program].framework);
    json_t *parallelism =
        json_pack("{s:b}", "gradient_as_bucket_view", programs[m->program].in_place);
    return json_pack("{s:o, s:o, s:o, s:o}", "model", model_tree(m), "cluster", cluster,
                     "training", training, "parallelism", parallelism);
}

/* A scenario on the GPU of `on`. The copies that it points to live here. */
struct job {
    struct cfg_loader loader;
    struct scenario scenario;
    struct instance instance;
    struct framework framework;
    struct op_list list;
};

static int job_open(struct job *j, const struct measured_step *m,
                    const struct compare_on *on, struct err *err)
{
    struct scenario *s = &j->scenario;
    cfg_loader_init(&j->loader);
    struct cfg root =
        cfg_from_tree(&j->loader, m->model, scenario_tree(m, on->instance));
    if (scenario_read(s, &j->loader, root))
        return err_set(err, "%s", diags_error_text(&j->loader.diags, 0));
    j->instance = *s->cluster.groups[0].instance;
    j->instance.gpu = on->gpu;
    s->cluster.groups[0].instance = &j->instance;
    j->framework = *s->training.framework;
    s->training.framework = &j->framework;
    const struct op_settings settings = scenario_op_settings(s);
    return op_list_make(&j->list, &j->loader.arena, &s->model, &settings, err);
}

static void job_close(struct job *j)
{
    cfg_loader_release(&j->loader);
}

/* The host ------------------------------------------------------------------------- */

/* Time of the host for one pass, spread over what the list dispatches: every operator
 * is a product of cuBLAS or a launch. */
static double dispatch_s(const struct op_list *list, bool backward,
                         const struct compare_on *on)
{
    double host_s = 0, dispatches = 0;
    for (int32_t i = 0; i < list->n_blocks; i++) {
        const struct op_block *b = &list->blocks[i];
        const struct op *ops = backward ? b->backward : b->forward;
        int32_t n = backward ? b->n_backward : b->n_forward;
        for (int32_t k = 0; k < n; k++) {
            double each = ops[k].kind == OP_GEMM ? on->product_s : on->launch_s;
            host_s += each * (double)b->repeat;
            dispatches += (double)ops[k].dispatches * (double)b->repeat;
        }
    }
    return dispatches > 0 ? host_s / dispatches : 0;
}

static void set_host(struct job *j, const struct measured_step *m,
                     const struct compare_on *on)
{
    if (m->program != MEASURED_OWN || !(on->launch_s > 0) || !(on->product_s > 0))
        return;
    j->framework.host.dispatch_forward_s = dispatch_s(&j->list, false, on);
    j->framework.host.dispatch_backward_s = dispatch_s(&j->list, true, on);
    j->framework.host.dispatch_optimizer_s = on->launch_s;
}

/* Operators ------------------------------------------------------------------------ */

/* A list that operators of one name are gathered in. */
struct gathered {
    VEC(struct compared_op) ops;
    VEC(double) total_s; /* predicted, of all of that name */
    VEC(int64_t) n;      /* predicted */
};

static int64_t find_op(struct gathered *g, const char *name, bool backward)
{
    for (int64_t i = 0; i < g->ops.n; i++)
        if (g->ops.v[i].backward == backward && strcmp(g->ops.v[i].name, name) == 0)
            return i;
    return -1;
}

static int64_t add_op(struct gathered *g, struct compared_op op)
{
    VEC_PUSH(&g->ops, op);
    VEC_PUSH(&g->total_s, 0);
    VEC_PUSH(&g->n, 0);
    return g->ops.n - 1;
}

static void add_measured(struct gathered *g, struct arena *arena,
                         const struct measured_step *m)
{
    for (int64_t i = 0; i < m->ops.n; i++) {
        const struct measured_op *o = &m->ops.v[i];
        add_op(g, (struct compared_op) { .name = arena_strdup(arena, o->name),
                                         .backward = o->backward,
                                         .count = o->count,
                                         .measured_s = o->time_s });
    }
}

static void add_predicted(struct gathered *g, struct arena *arena, const struct job *j,
                          const struct op_block *block, const struct op *op)
{
    bool half = dtype_bytes(op_compute_dtype(j->scenario.training.precision)) <= 2;
    double t =
        kernel_framework_s(j->instance.gpu, &j->framework, half, op, kernel_alone);
    int64_t at = find_op(g, op->name, op->backward);
    if (at < 0)
        at = add_op(g, (struct compared_op) { .name = arena_strdup(arena, op->name),
                                              .backward = op->backward });
    g->total_s.v[at] += t * (double)block->repeat;
    g->n.v[at] += block->repeat;
}

static void gather(struct gathered *g, struct arena *arena, const struct job *j,
                   const struct measured_step *m)
{
    add_measured(g, arena, m);
    for (int32_t i = 0; i < j->list.n_blocks; i++) {
        const struct op_block *b = &j->list.blocks[i];
        for (int32_t k = 0; k < b->n_forward; k++)
            add_predicted(g, arena, j, b, &b->forward[k]);
    }
    for (int32_t i = j->list.n_blocks - 1; i >= 0; i--) {
        const struct op_block *b = &j->list.blocks[i];
        for (int32_t k = 0; k < b->n_backward; k++)
            add_predicted(g, arena, j, b, &b->backward[k]);
    }
    for (int64_t i = 0; i < g->ops.n; i++) {
        struct compared_op *o = &g->ops.v[i];
        if (g->n.v[i] > 0)
            o->predicted_s = g->total_s.v[i] / (double)g->n.v[i];
        if (o->count == 0)
            o->count = g->n.v[i];
    }
}

static void gathered_release(struct gathered *g)
{
    VEC_RELEASE(&g->ops);
    VEC_RELEASE(&g->total_s);
    VEC_RELEASE(&g->n);
}

/* Forward first, each side in the order in which it came. */
static void take_ops(struct comparison *c, struct arena *arena,
                     const struct gathered *g)
{
    c->ops = ARENA_ARRAY(arena, g->ops.n + 1, struct compared_op);
    for (int backward = 0; backward < 2; backward++)
        for (int64_t i = 0; i < g->ops.n; i++)
            if (g->ops.v[i].backward == backward)
                c->ops[c->n_ops++] = g->ops.v[i];
}

/* Sums of the passes. Without measured operators, only what is predicted. */
static void sum_ops(struct comparison *c)
{
    double *errors = xcalloc((size_t)c->n_ops + 1, sizeof(*errors));
    double both_s = 0, off_s = 0;
    int64_t n = 0;
    for (int32_t i = 0; i < c->n_ops; i++) {
        const struct compared_op *o = &c->ops[i];
        struct compared *pass = o->backward ? &c->backward : &c->forward;
        double count = (double)o->count;
        pass->measured += count * o->measured_s;
        pass->predicted += count * o->predicted_s;
        if (!(o->measured_s > 0 && o->predicted_s > 0))
            continue;
        errors[n++] = o->predicted_s / o->measured_s - 1;
        both_s += count * o->measured_s;
        off_s += count * fabs(o->predicted_s - o->measured_s);
    }
    c->stats = stats_of(errors, n);
    c->misplaced = both_s > 0 ? off_s / both_s : 0;
    free(errors);
}

static void compare_ops(struct comparison *c, struct arena *arena, const struct job *j,
                        const struct measured_step *m)
{
    struct gathered g = { 0 };
    gather(&g, arena, j, m);
    take_ops(c, arena, &g);
    gathered_release(&g);
    sum_ops(c);
    if (m->ops.n == 0)
        c->n_ops = 0; /* nothing to compare them with */
}

/* The step ------------------------------------------------------------------------- */

/* The measuring program plans its memory itself: it holds what lives, not segments. */
static void compare_memory(struct comparison *c, const struct memory_result *r,
                           const struct measured_step *m)
{
    bool own = m->program == MEASURED_OWN;
    c->memory.predicted =
        (double)(own ? r->peak_B - r->reserved_B + r->allocated_B : r->allocated_B);
    c->memory.measured = (double)(own ? m->peak_B : m->allocated_B);
    c->reserved.measured = (double)m->reserved_B;
    c->reserved.predicted = own ? 0 : (double)r->reserved_B;
}

static void compare_whole(struct comparison *c, const struct simulate_result *r,
                          const struct measured_step *m)
{
    c->time = (struct compared) { m->time_s, r->step_time_s };
    c->update = (struct compared) { m->update_s, r->parts_s[CATEGORY_OPTIMIZER] };
    c->communication.predicted = r->parts_s[CATEGORY_DATA_COMM_EXPOSED];
    if (m->compute_s > 0)
        c->communication.measured = fmax(0, m->time_s - m->compute_s);
    compare_memory(c, &r->memory, m);
}

void compare_step(struct comparison *c, struct arena *arena,
                  const struct measured_step *step, const struct compare_on *on)
{
    const struct simulate_options options = { .network = FIDELITY_FLOW };
    struct job job = { 0 };
    struct simulate_result r;
    struct err err = { 0 };
    *c = (struct comparison) { .step = step,
                               .framework = programs[step->program].framework };
    int rc = job_open(&job, step, on, &err);
    if (rc == 0) {
        set_host(&job, step, on);
        compare_ops(c, arena, &job, step);
        rc = simulate(&r, &job.loader.arena, &job.scenario, &options, &err);
    }
    if (rc == 0)
        compare_whole(c, &r, step);
    else
        c->error = arena_strdup(arena, err.text);
    job_close(&job);
}

/* Adds the error of a pair where there is one. */
static void add_error(double *errors, int64_t *n, struct compared c)
{
    double e = compared_error(c);
    if (!isnan(e))
        errors[(*n)++] = e;
}

void compare_sum(struct comparisons *all)
{
    int64_t most = 0, n_ops = 0, n_steps = 0, n_sizes = 0;
    for (int64_t i = 0; i < all->n; i++)
        most += all->v[i].n_ops;
    double *ops = xcalloc((size_t)most + 1, sizeof(*ops));
    double *steps = xcalloc((size_t)all->n + 1, sizeof(*steps));
    double *sizes = xcalloc((size_t)all->n + 1, sizeof(*sizes));
    for (int64_t i = 0; i < all->n; i++) {
        const struct comparison *c = &all->v[i];
        for (int32_t k = 0; k < c->n_ops; k++)
            add_error(
                ops, &n_ops,
                (struct compared) { c->ops[k].measured_s, c->ops[k].predicted_s });
        add_error(steps, &n_steps, c->time);
        add_error(sizes, &n_sizes, c->memory);
    }
    all->operators = stats_of(ops, n_ops);
    all->steps = stats_of(steps, n_steps);
    all->memory = stats_of(sizes, n_sizes);
    free(ops);
    free(steps);
    free(sizes);
}

/* The machine ---------------------------------------------------------------------- */

const struct instance *compare_instance(struct cfg_loader *loader, const char *gpu,
                                        int64_t n_gpus)
{
    const struct instance *best = NULL;
    bool best_same = false;
    for (const char **name = datadir_list(&loader->arena, "topologies/instances");
         *name; name++) {
        const struct instance *i = instance_get(loader, *name, (struct cfg) { 0 });
        if (!i)
            return NULL;
        bool same = strcmp(i->gpu->name, gpu) == 0;
        if (i->n_gpus < n_gpus || (best_same && !same))
            continue;
        if (!best || (same && !best_same) || i->n_gpus < best->n_gpus) {
            best = i;
            best_same = same;
        }
    }
    if (!best)
        diags_error(&loader->diags, DIAG_UNKNOWN_NAME,
                    "no machine of topologies/instances has %" PRId64 " GPUs",
                    (int64_t)n_gpus);
    return best;
}
