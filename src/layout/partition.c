#include "layout/partition.h"

#include "layout/smp_tree.h"

#include <inttypes.h>
#include <string.h>

/* Layers with what goes with them -------------------------------------------------- */

/* A layer and the modules that stay with it. */
struct item {
    double compute, memory, parameters;
};

static int64_t count_layers(const struct partition_request *q)
{
    int64_t n = 0;
    for (int64_t i = 0; i < q->n_modules; i++)
        n += q->modules[i].layer;
    return n;
}

/* Whether the last module is a head of several parts that stays with the embedding. */
static bool head_is_embeddings(const struct partition_request *q)
{
    return q->returns && q->tied && q->n_stages > 1 && q->n_modules > 1 &&
           !q->modules[q->n_modules - 1].layer;
}

/* What is no layer goes with the next one, and what is after the last with that; a head
 * tied to the embedding goes with the first. */
static struct item *make_items(struct arena *arena, const struct partition_request *q,
                               int64_t n_layers)
{
    struct item *items = ARENA_ARRAY(arena, n_layers, struct item);
    int64_t at = 0;
    for (int64_t i = 0; i < q->n_modules; i++) {
        struct item *to = &items[at < n_layers ? at : n_layers - 1];
        if (i == q->n_modules - 1 && head_is_embeddings(q))
            to = &items[0];
        to->compute += q->modules[i].compute;
        to->memory += q->modules[i].memory;
        to->parameters += q->modules[i].parameters;
        at += q->modules[i].layer;
    }
    return items;
}

/* Methods: each fills ends[parts], one after each part's last layer --------------- */

struct cut {
    struct arena *arena;
    const struct partition_request *q;
    const struct item *items;
    int64_t n, parts; /* layers */
    int64_t *ends;
    double compute, memory; /* totals */
    bool head_first;        /* the head is on the first stage */
    int64_t head;           /* else the part that it is on */
    int64_t mtp;            /* the part of layers that predict further tokens */
};

/* DeepSpeed's partition_uniform: the first parts take what is left over. */
static int cut_uniform(struct cut *c, struct err *err)
{
    (void)err;
    int64_t each = c->n / c->parts, left = c->n % c->parts, end = 0;
    for (int64_t i = 0; i < c->parts; i++)
        c->ends[i] = end += each + (i < left);
    return 0;
}

static int cut_manual(struct cut *c, struct err *err)
{
    int64_t end = 0;
    for (int64_t i = 0; i < c->parts; i++)
        c->ends[i] = end += c->q->layers[i];
    if (end != c->n)
        return err_set(
            err, "the counts of layers sum to %" PRId64 ", not to the model's %" PRId64,
            (int64_t)end, (int64_t)c->n);
    return 0;
}

int64_t partition_ends(enum partition_method method)
{
    return (method == PARTITION_UNIFORM_EMBEDDING) +
           (method == PARTITION_UNIFORM_HEAD) + 2 * (method == PARTITION_UNIFORM_BOTH);
}

int64_t partition_most(enum partition_method method, int64_t layers)
{
    return layers + (method == PARTITION_TYPE_ENDS ? 2 : partition_ends(method));
}

/* Megatron's get_num_layers_to_build (megatron/core/transformer/transformer_block.py):
 * the first part has a layer less for the embedding, the last for the loss. */
static int cut_uniform_ends(struct cut *c, struct err *err)
{
    bool embedding = c->q->method != PARTITION_UNIFORM_HEAD,
         head = c->q->method != PARTITION_UNIFORM_EMBEDDING;
    int64_t all = c->n + embedding + head, each = all / c->parts;
    if (all % c->parts != 0)
        return err_set(
            err, "%" PRId64 " layers and ends are no multiple of %" PRId64 " stages",
            all, c->parts);
    for (int64_t i = 0; i < c->parts; i++)
        c->ends[i] = (i + 1) * each - embedding;
    c->ends[c->parts - 1] = c->n;
    return 0;
}

static int cut_parameters(struct cut *c, struct err *err)
{
    (void)err;
    double *costs = ARENA_ARRAY(c->arena, c->n, double);
    for (int64_t i = 0; i < c->n; i++)
        costs[i] = c->items[i].parameters;
    partition_fill_first(costs, c->n, c->parts, c->ends);
    return 0;
}

/* Layers of a type; with the ends, embedding and head are items as each layer is, and the
 * first and the last stage may have no layer (DeepSpeed's _partition_layers,
 * deepspeed/runtime/pipe/module.py: a module counts whose name has the type). */
static int cut_type(struct cut *c, struct err *err)
{
    (void)err;
    int64_t end = c->q->method == PARTITION_TYPE_ENDS, n = c->n + 2 * end;
    double *costs = ARENA_ARRAY(c->arena, n, double);
    for (int64_t i = 0; i < n; i++)
        costs[i] = 1;
    partition_fill_first(costs, n, c->parts, c->ends);
    for (int64_t i = 0; i < c->parts; i++)
        c->ends[i] -= end;
    c->ends[c->parts - 1] = c->n;
    return 0;
}

/* SMP's cost of a module: a share of memory and of computation (its paper, arXiv
 * 2111.05972). */
static double smp_cost(const struct cut *c, double compute, double memory)
{
    double w = c->q->memory_weight;
    return w * (c->memory > 0 ? memory / c->memory : 0) +
           (1 - w) * (c->compute > 0 ? compute / c->compute : 0);
}

static int cut_smp(struct cut *c, struct err *err)
{
    (void)err;
    double *costs = ARENA_ARRAY(c->arena, c->n, double);
    for (int64_t i = 0; i < c->n; i++)
        costs[i] = smp_cost(c, c->items[i].compute, c->items[i].memory);
    partition_min_max(costs, c->n, c->parts, c->ends);
    return 0;
}

/* The tree of modules as Hugging Face writes it: the model holds a body of embedding
 * and layers, and a head. A head tied to the embedding is one module with it. */
static struct smp_node *module_tree(struct cut *c)
{
    const struct partition_request *q = c->q;
    int64_t n = q->n_modules, last = n - 1;
    bool head = n > 1 && !q->modules[last].layer;
    bool own_head = head && !q->tied;
    int64_t in_body = head ? n - 1 : n;
    struct smp_node *nodes = ARENA_ARRAY(c->arena, n + 3, struct smp_node);
    struct smp_node *body = own_head ? &nodes[1] : &nodes[0];
    struct smp_node *leaves = &nodes[3];
    if (own_head)
        nodes[0] = (struct smp_node) { .children = &nodes[1], .n_children = 2 };
    body->children = leaves;
    body->n_children = in_body;
    for (int64_t i = 0; i < n; i++) {
        double cost = smp_cost(c, q->modules[i].compute, q->modules[i].memory);
        struct smp_node *to = i < in_body ? &leaves[i] : own_head ? &nodes[2] : leaves;
        to->cost += cost;
        if (i < in_body || !own_head)
            body->cost += cost;
        if (own_head)
            nodes[0].cost += cost;
    }
    return nodes;
}

/* Layers of the devices have to follow one another to be pipeline stages. */
static int read_devices(struct cut *c, const struct smp_node *leaves, struct err *err)
{
    int64_t layer = 0, device = 0;
    for (int64_t i = 0; i < c->q->n_modules; i++) {
        if (!c->q->modules[i].layer)
            continue;
        int64_t next = leaves[i].device;
        if (next < device || next > device + 1)
            return err_set(err,
                           "SMP's tree puts layer %" PRId64 " on stage %" PRId64
                           " after stage %" PRId64 ": "
                           "one module outweighs the stages (write partition \"smp\")",
                           (int64_t)layer, (int64_t)next, (int64_t)device);
        if (next > device)
            c->ends[device] = layer;
        device = next;
        layer++;
    }
    if (device != c->parts - 1 || c->ends[0] == 0)
        return err_set(err,
                       "SMP's tree leaves a stage without layers: one module outweighs "
                       "the stages (write partition \"smp\")");
    c->ends[device] = layer;
    return 0;
}

static int cut_smp_tree(struct cut *c, struct err *err)
{
    struct smp_node *nodes = module_tree(c);
    partition_tree_place(nodes, c->parts);
    int64_t n = c->q->n_modules;
    bool head = n > 1 && !c->q->modules[n - 1].layer;
    c->ends[0] = c->parts == 1 ? c->n : 0;
    c->head_first =
        head && c->parts > 1 && (c->q->tied || nodes[2].device != c->parts - 1);
    return read_devices(c, &nodes[3], err);
}

/* nanotron's build_model (models/base.py): a module goes to the stage at hand, which is
 * left when the sum so far is beyond its share. What is after the head has no cost, and
 * goes one stage further where the head is not on the last. Runs that leave three stages
 * without parameters are known to fail, and some that leave two to run (docs/validation/playbook.md). */
static int cut_compute(struct cut *c, struct err *err)
{
    const struct partition_request *q = c->q;
    double all = 0, sum = 0;
    int64_t at = 0, layer = 0;
    for (int64_t i = 0; i < q->n_modules; i++)
        all += q->modules[i].weights;
    for (int64_t i = 0; i < q->n_modules; i++) {
        sum += q->modules[i].weights;
        layer += q->modules[i].layer;
        c->head = q->modules[i].weights > 0 ? at : c->head;
        if (at < c->parts - 1 && sum > all * ((double)(at + 1) / (double)c->parts))
            c->ends[at++] = layer;
    }
    for (; at < c->parts; at++)
        c->ends[at] = layer;
    if (c->head < c->parts - 3)
        return err_set(err,
                       "the last %" PRId64 " of %" PRId64 " stages would hold no "
                       "parameters (take fewer stages)",
                       (int64_t)(c->parts - 1 - c->head), (int64_t)c->parts);
    return 0;
}

static int (*const methods[])(struct cut *c, struct err *err) = {
    [PARTITION_UNIFORM] = cut_uniform,
    [PARTITION_PARAMETERS] = cut_parameters,
    [PARTITION_TYPE] = cut_type,
    [PARTITION_TYPE_ENDS] = cut_type,
    [PARTITION_SMP] = cut_smp,
    [PARTITION_SMP_TREE] = cut_smp_tree,
    [PARTITION_MANUAL] = cut_manual,
    [PARTITION_UNIFORM_EMBEDDING] = cut_uniform_ends,
    [PARTITION_UNIFORM_HEAD] = cut_uniform_ends,
    [PARTITION_UNIFORM_BOTH] = cut_uniform_ends,
    [PARTITION_COMPUTE] = cut_compute,
};

/* Parts ---------------------------------------------------------------------------- */

/* The part that holds the layer. */
static int64_t part_of(const struct cut *c, int64_t layer)
{
    int64_t i = 0;
    while (i < c->parts - 1 && layer >= c->ends[i])
        i++;
    return i;
}

static void add_module(struct partition *p, const struct cut *c, int64_t i,
                       int64_t layer)
{
    const struct partition_module *m = &c->q->modules[i];
    bool ends = !m->layer && i == c->q->n_modules - 1 && i > 0;
    int64_t at = ends ? (c->head_first ? 0 : c->parts - 1) : part_of(c, layer);
    if (!m->layer && i == 0)
        at = 0;
    else if (m->mtp)
        at = c->mtp;
    else if (!m->layer && !c->head_first && c->q->modules[i - 1].layer && layer == c->n)
        at = c->head;
    p->parts[at].compute += m->compute;
    p->parts[at].memory += m->memory;
}

static void fill_parts(struct partition *p, const struct cut *c)
{
    int64_t layer = 0;
    for (int64_t i = 0; i < c->parts; i++) {
        struct partition_part *part = &p->parts[i];
        part->first_layer = i == 0 ? 0 : c->ends[i - 1];
        part->n_layers = c->ends[i] - part->first_layer;
        part->has_embedding = i == 0;
        part->has_head = i == (c->head_first ? 0 : c->head);
        part->has_mtp = i == c->mtp;
        part->has_loss = i == (c->head_first ? 0 : c->parts - 1);
    }
    for (int64_t i = 0; i < c->q->n_modules; i++) {
        add_module(p, c, i, layer);
        layer += c->q->modules[i].layer;
    }
}

/* They read what the last layer makes, and the head reads what they make. */
static int place_mtp(struct cut *c, struct err *err)
{
    int64_t last = part_of(c, c->n - 1), head = c->head_first ? 0 : c->head;
    c->mtp = c->q->mtp_part > 0 ? c->q->mtp_part - 1 : head;
    if (c->q->mtp_part > 0 && (c->mtp < last || c->mtp > head))
        return err_set(err,
                       "layers that predict further tokens are on part %" PRId64
                       ", which is not from that of the last layer, %" PRId64
                       ", to that of the head, %" PRId64,
                       (int64_t)c->mtp, (int64_t)last, (int64_t)head);
    return 0;
}

int partition_make(struct partition *p, struct arena *arena,
                   const struct partition_request *q, struct err *err)
{
    struct cut c = { .arena = arena, .q = q };
    c.n = count_layers(q);
    c.parts = q->n_stages * q->n_chunks;
    if (partition_most(q->method, c.n) < c.parts && q->method != PARTITION_MANUAL &&
        q->method != PARTITION_COMPUTE)
        return err_set(
            err, "%" PRId64 " stages are more than the model's %" PRId64 " layers",
            (int64_t)c.parts, (int64_t)c.n);
    c.items = make_items(arena, q, c.n);
    c.head_first = head_is_embeddings(q);
    c.head = c.parts - 1;
    c.ends = ARENA_ARRAY(arena, c.parts, int64_t);
    for (int64_t i = 0; i < c.n; i++) {
        c.compute += c.items[i].compute;
        c.memory += c.items[i].memory;
    }
    if (methods[q->method](&c, err) < 0)
        return -1;
    if (place_mtp(&c, err) < 0)
        return -1;
    *p = (struct partition) {
        .n_stages = q->n_stages,
        .n_chunks = q->n_chunks,
        .head_returns = c.head_first && q->returns,
        .folds = q->folds,
        .parts = ARENA_ARRAY(arena, c.parts, struct partition_part),
        .compute = c.compute,
        .memory = c.memory,
    };
    fill_parts(p, &c);
    return 0;
}

int64_t partition_chunks(const struct partition *p)
{
    return p->n_chunks + p->head_returns;
}

int64_t partition_part(int64_t n_stages, bool folds, int64_t stage, int64_t chunk)
{
    bool back = folds && chunk % 2 == 1;
    return chunk * n_stages + (back ? n_stages - 1 - stage : stage);
}

int64_t partition_stage(int64_t n_stages, bool folds, int64_t part)
{
    bool back = folds && part / n_stages % 2 == 1;
    return back ? n_stages - 1 - part % n_stages : part % n_stages;
}

int64_t partition_mtp_stage(const struct partition *p)
{
    int64_t i = p->n_stages * p->n_chunks - 1;
    while (i > 0 && !p->parts[i].has_mtp)
        i--;
    return partition_stage(p->n_stages, p->folds, i);
}

int64_t partition_head_stage(const struct partition *p)
{
    int64_t i = p->n_stages * p->n_chunks - 1;
    while (i > 0 && !p->parts[i].has_head)
        i--;
    return partition_stage(p->n_stages, p->folds, i);
}
