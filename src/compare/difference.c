#include "compare/difference.h"

#include "base/names.h"
#include "campaign/campaign.h"
#include "compare/causes.h"
#include "config/pointer.h"
#include "simulate/result_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One job ------------------------------------------------------------------------- */

static double number(json_t *result, const char *pointer)
{
    json_t *v = pointer_get(result, pointer);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static void take_parts(struct difference_numbers *n, json_t *parts)
{
    for (int i = 0; i < CATEGORY_N; i++)
        n->parts_s[i] =
            json_number_value(json_object_get(parts, names_of(category_names, i)));
}

static const double BEYOND = 1e15; /* seconds of a step, dollars an hour */

/* -1 with err set where a number is beyond what any job has. */
static int judge(const struct difference_numbers *n, struct err *err)
{
    if (n->step_s > BEYOND || fabs(n->usd_per_h) > BEYOND)
        return err_set(err, "has a step or a price beyond that of any job");
    for (int i = 0; i < CATEGORY_N; i++)
        if (fabs(n->parts_s[i]) > BEYOND)
            return err_set(err, "has a part of its step (%s) beyond that of any job",
                           names_of(category_names, i));
    return 0;
}

int difference_of_result(struct difference_numbers *n, json_t *result, struct err *err)
{
    *n = (struct difference_numbers) {
        .step_s = number(result, "/step_time_s"),
        .samples_per_s = number(result, "/samples_per_s"),
        .tokens_per_s = number(result, "/tokens_per_s"),
        .peak_B = number(result, "/memory/peak_bytes"),
        .capacity_B = number(result, "/memory/capacity_bytes"),
        .usd_per_h = number(result, "/cost/usd_per_hour"),
        .usd_per_step = number(result, "/cost/usd_per_step"),
        .gpus = json_integer_value(pointer_get(result, "/gpus")),
        .fits = json_is_true(pointer_get(result, "/memory/fits")),
    };
    const char *quality = json_string_value(pointer_get(result, "/quality"));
    snprintf(n->quality, sizeof(n->quality), "%s", quality ? quality : "");
    take_parts(n, pointer_get(result, "/breakdown_s"));
    if (!(n->step_s > 0) || !(n->peak_B >= 0))
        return err_set(err, "is no result of smsim simulate --json");
    return judge(n, err);
}

int difference_of_doctor(struct difference_numbers *n, double *measured_s,
                         json_t *result, struct err *err)
{
    double step_s = number(result, "/prediction/step_time_s"),
           usd_per_h = number(result, "/prediction/usd_per_hour"),
           measured = number(result, "/measured/median_s");
    *n = (struct difference_numbers) {
        .step_s = step_s,
        .samples_per_s = number(result, "/prediction/samples") / step_s,
        .tokens_per_s = number(result, "/prediction/tokens") / step_s,
        .peak_B = number(result, "/prediction/peak_bytes"),
        .capacity_B = number(result, "/prediction/capacity_bytes"),
        .usd_per_h = usd_per_h,
        .usd_per_step = usd_per_h * step_s / 3600,
        .gpus = json_integer_value(pointer_get(result, "/prediction/gpus")),
    };
    n->fits = !(n->peak_B > n->capacity_B);
    const char *quality = json_string_value(pointer_get(result, "/prediction/network"));
    snprintf(n->quality, sizeof(n->quality), "%s", quality ? quality : "");
    take_parts(n, pointer_get(result, "/prediction/breakdown_s"));
    *measured_s = measured > 0 ? measured : 0;
    if (!(n->step_s > 0) || !(n->peak_B >= 0) || n->gpus <= 0)
        return err_set(err, "is no result of smsim doctor --json");
    return judge(n, err);
}

static int simulate_tree(struct difference_numbers *n, struct cfg_loader *loader,
                         const json_t *tree, struct err *err)
{
    struct scenario s;
    struct simulate_result r;
    if (campaign_simulate_tree(&r, &s, loader, "compare", tree, err))
        return -1;
    json_t *result = result_json(&s, &r);
    int rc = difference_of_result(n, result, err);
    n->passes = (double)scenario_passes(&s);
    json_decref(result);
    return rc;
}

int difference_of_scenario(struct difference_numbers *n, struct cfg_loader *loader,
                           const json_t *tree, struct err *err)
{
    struct cfg_loader own;
    cfg_loader_init(&own);
    own.shared = loader;
    int rc = simulate_tree(n, &own, tree, err);
    cfg_loader_release(&own);
    return rc;
}

/* Changing ------------------------------------------------------------------------- */

static void take(json_t *tree, const char *pointer, const json_t *value)
{
    struct err err = { 0 };
    pointer_set(tree, pointer, value ? json_deep_copy(value) : json_null(), &err);
}

/* A key that is not there is null, which is the same. */
static void change(json_t *tree, const struct difference_cause *c, bool forward)
{
    for (int32_t i = 0; i < c->n_changes; i++)
        take(tree, c->changes[i].pointer,
             forward ? c->changes[i].to : c->changes[i].from);
}

/* The GPU of the first group of a scenario's cluster; NULL: it cannot be read. */
static const char *gpu_of(struct cfg_loader *files, struct arena *arena,
                          const json_t *tree)
{
    struct cfg_loader loader;
    struct scenario s;
    const char *name = NULL;
    cfg_loader_init(&loader);
    loader.shared = files;
    if (scenario_read(&s, &loader,
                      cfg_from_tree(&loader, "compare", json_deep_copy(tree))) == 0)
        name = arena_strdup(arena, s.cluster.groups[0].instance->gpu->name);
    cfg_loader_release(&loader);
    return name;
}

/* The node of the tree with that GPU in it; false: it has several kinds of nodes, or
 * none that is known by name. */
static bool change_gpu(json_t *tree, const char *gpu)
{
    json_t *cluster = json_object_get(tree, "cluster"),
           *like = json_object_get(cluster, "like"),
           *instance = json_object_get(cluster, "instance");
    if (!json_is_object(cluster) ||
        (!json_is_string(like) && !json_is_string(instance)))
        return false;
    if (!json_is_string(like)) {
        const char *name = json_string_value(instance);
        bool sagemaker = strncmp(name, "ml.", 3) == 0; /* what is one's own is not */
        json_object_set_new(cluster, "like", json_string(name + (sagemaker ? 3 : 0)));
        json_object_del(cluster, "instance");
    }
    json_object_set_new(cluster, "gpu", json_string(gpu));
    return true;
}

/* The walk ------------------------------------------------------------------------- */

struct walk {
    struct difference *d;
    struct arena *arena;
    struct cfg_loader *files;
    const json_t *a, *b;
    json_t *now;     /* the job that was reached */
    json_t *pending; /* with causes that it cannot be simulated with alone */
    struct difference_cause *cause; /* under way; joined ones */
};

static double time_of(const struct walk *w, const json_t *tree)
{
    struct difference_numbers n;
    struct err err = { 0 };
    return difference_of_scenario(&n, w->files, tree, &err) == 0 ? n.step_s
                                                                 : (double)NAN;
}

/* The cause under way becomes one of the list, where its job can be simulated. */
static bool settle(struct walk *w)
{
    struct err err = { 0 };
    struct difference_cause *c = w->cause;
    if (difference_of_scenario(&c->after, w->files, w->pending, &err))
        return false;
    json_t *without = json_deep_copy(w->b), *alone = json_deep_copy(w->a);
    change(without, c, false);
    change(alone, c, true);
    if (c->n_changes) {
        c->alone_s = time_of(w, alone);
        c->without_s = time_of(w, without);
    }
    json_decref(without);
    json_decref(alone);
    json_decref(w->now);
    w->now = json_deep_copy(w->pending);
    w->d->n_causes++;
    w->cause = NULL;
    return true;
}

static void join(struct walk *w, const char *name,
                 const struct difference_change *changes, int64_t n)
{
    struct difference_cause *c = w->cause;
    if (!c) {
        c = w->cause = &w->d->causes[w->d->n_causes];
        *c = (struct difference_cause) { .name = name,
                                         .alone_s = (double)NAN,
                                         .without_s = (double)NAN };
    } else {
        c->name = arena_printf(w->arena, "%s, %s", c->name, name);
    }
    struct difference_change *all =
        ARENA_ARRAY(w->arena, c->n_changes + n + 1, struct difference_change);
    if (c->n_changes)
        memcpy(all, c->changes, (size_t)c->n_changes * sizeof(*all));
    if (n)
        memcpy(all + c->n_changes, changes, (size_t)n * sizeof(*all));
    c->changes = all;
    c->n_changes += (int32_t)n;
}

/* A name as a value of the difference's own. */
static const json_t *own_string(struct walk *w, const char *text)
{
    json_array_append_new(w->d->own, json_string(text));
    return json_array_get(w->d->own, json_array_size(w->d->own) - 1);
}

static void give_up(struct walk *w)
{
    w->cause = NULL;
    json_decref(w->pending);
    w->pending = json_deep_copy(w->now);
}

/* B's GPU in A's node, where both differ and such a node can be had: else the node's
 * cause has it. */
static void walk_gpu(struct walk *w, const struct causes *causes)
{
    const char *from = gpu_of(w->files, w->arena, w->a),
               *to = gpu_of(w->files, w->arena, w->b);
    if (causes->of[CAUSE_NODE].n == 0 || !from || !to || strcmp(from, to) == 0 ||
        w->cause || !change_gpu(w->pending, to))
        return;
    const struct difference_change swap = { "/cluster/gpu", own_string(w, from),
                                            own_string(w, to) };
    join(w, cause_names[CAUSE_GPU], NULL, 0);
    if (!settle(w)) {
        give_up(w);
        return;
    }
    struct difference_cause *c = &w->d->causes[w->d->n_causes - 1];
    struct difference_change *changes =
        ARENA_ARRAY(w->arena, 1, struct difference_change);
    json_t *alone = json_deep_copy(w->a);
    *changes = swap;
    c->changes = changes;
    c->n_changes = 1;
    change_gpu(alone, to);
    c->alone_s = time_of(w, alone);
    json_decref(alone);
}

/* The keys of a cause become B's; A's node is put together again first. */
static void walk_cause(struct walk *w, const struct causes *causes, enum cause cause)
{
    int64_t n = causes->of[cause].n;
    const struct difference_change *v = causes->of[cause].v;
    if (n == 0)
        return;
    if (cause == CAUSE_NODE)
        take(w->pending, "/cluster", json_object_get(w->a, "cluster"));
    for (int64_t i = 0; i < n; i++)
        take(w->pending, v[i].pointer, v[i].to);
    join(w, cause_names[cause], v, n);
    settle(w);
}

static void walk(struct walk *w, const struct causes *causes)
{
    for (int i = 0; i < CAUSE_N; i++)
        if (i == CAUSE_GPU)
            walk_gpu(w, causes);
        else
            walk_cause(w, causes, (enum cause)i);
    if (w->cause) { /* what was reached is B */
        w->cause->after = w->d->b;
        w->d->n_causes++;
    }
}

int difference_make(struct difference *d, struct arena *arena, struct cfg_loader *files,
                    const json_t *a, const json_t *b, struct err *err)
{
    struct causes causes;
    struct walk w = { .d = d, .arena = arena, .files = files, .a = a, .b = b };
    *d = (struct difference) { .own = json_array() };
    if (difference_of_scenario(&d->a, files, a, err) ||
        difference_of_scenario(&d->b, files, b, err))
        return -1;
    d->causes = ARENA_ARRAY(arena, CAUSE_N + 1, struct difference_cause);
    causes_find(&causes, arena, a, b);
    w.now = json_deep_copy(a);
    w.pending = json_deep_copy(a);
    walk(&w, &causes);
    json_decref(w.now);
    json_decref(w.pending);
    causes_release(&causes);
    return 0;
}

void difference_release(struct difference *d)
{
    json_decref(d->own);
    d->own = NULL;
}
