#include "cost/rings.h"

#include "base/vec.h"

#include <string.h>

/* A mesh of 8 GPUs has at most 7!/2 = 2520 cycles. */
enum { CYCLES_MAX = 2520, SEARCH_MAX = 1 << 20 };

/* Only instances whose GPUs are wired to each other are searched. */
struct cycle {
    uint8_t at[INSTANCE_HOST_GPUS_MAX]; /* indices into the subset */
};

struct search {
    int32_t n;
    /* Of the subset, free ones. */
    int32_t links[INSTANCE_HOST_GPUS_MAX][INSTANCE_HOST_GPUS_MAX];
    uint32_t wired[INSTANCE_HOST_GPUS_MAX]; /* bits: where a free link leads */
    struct cycle now;
    uint32_t used; /* bits of the subset */
    VEC(struct cycle) cycles;
    int32_t n_picked, n_best, bound; /* of the packing */
    int32_t picked[RINGS_MAX], best[RINGS_MAX];
    int32_t budget; /* steps left: bounds the search on meshes larger than real ones */
    int32_t least, best_least; /* of paths: fewest parallel links of a hop */
    struct cycle best_path;
};

static void search_init(struct search *s, const struct instance *inst,
                        const uint8_t *gpus, int32_t n)
{
    memset(s, 0, sizeof(*s));
    s->n = n;
    s->budget = SEARCH_MAX;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            s->links[i][j] = i == j ? 0 : inst->nvlinks[gpus[i]][gpus[j]];
            s->wired[i] |= (uint32_t)(s->links[i][j] > 0) << j;
        }
    }
}

/* All cycles from GPU 0 of the subset, each in one direction, in lexical order. */
static void list_cycles(struct search *s, int32_t depth)
{
    int32_t last = s->now.at[depth - 1];
    if (s->cycles.n == CYCLES_MAX || s->budget-- <= 0)
        return;
    if (depth == s->n) {
        if (s->links[last][0] > 0 && s->now.at[1] < last)
            VEC_PUSH(&s->cycles, s->now);
        return;
    }
    for (uint32_t left = s->wired[last] & ~s->used; left; left &= left - 1) {
        int32_t next = __builtin_ctz(left);
        s->used |= 1u << next;
        s->now.at[depth] = (uint8_t)next;
        list_cycles(s, depth + 1);
        s->used &= ~(1u << next);
    }
}

/* Takes a cycle's links (by = -1) or gives them back (by = 1); whether all were
 * free. */
static bool take(struct search *s, const struct cycle *c, int32_t by)
{
    bool fits = true;
    for (int32_t i = 0; i < s->n; i++) {
        int32_t a = c->at[i], b = c->at[(i + 1) % s->n];
        s->links[a][b] += by;
        s->links[b][a] += by;
        fits = fits && s->links[a][b] >= 0;
    }
    return fits;
}

/* The largest set of cycles that fit together; indices do not decrease. */
static void pack(struct search *s, int32_t from)
{
    if (s->n_picked > s->n_best) {
        s->n_best = s->n_picked;
        memcpy(s->best, s->picked, sizeof(s->best));
    }
    for (int32_t i = from; i < s->cycles.n && s->n_best < s->bound; i++) {
        if (s->budget-- <= 0)
            return;
        if (take(s, &s->cycles.v[i], -1)) {
            s->picked[s->n_picked++] = i;
            pack(s, i);
            s->n_picked--;
        }
        take(s, &s->cycles.v[i], 1);
    }
}

/* A cycle takes two links of every GPU. */
static int32_t cycles_bound(const struct search *s)
{
    int32_t bound = RINGS_MAX / 2;
    for (int32_t i = 0; i < s->n; i++) {
        int32_t degree = 0;
        for (int32_t j = 0; j < s->n; j++)
            degree += s->links[i][j];
        bound = degree / 2 < bound ? degree / 2 : bound;
    }
    return bound;
}

static void add_ring(struct rings *out, const uint8_t *gpus, const struct cycle *c,
                     bool reversed)
{
    uint8_t *order = out->order[out->n++];
    for (int32_t i = 0; i < out->n_gpus; i++)
        order[i] = gpus[c->at[reversed ? (out->n_gpus - i) % out->n_gpus : i]];
}

static void add_plain(struct rings *out, const uint8_t *gpus, enum rings_kind kind)
{
    out->kind = kind;
    memcpy(out->order[out->n++], gpus, (size_t)out->n_gpus);
}

/* Edge-disjoint cycles over wires; none leaves *out without rings. */
static void lay_wires(const struct instance *inst, const uint8_t *gpus, int32_t n,
                      struct rings *out)
{
    struct search s;
    search_init(&s, inst, gpus, n);
    if (n == 2) {
        for (int32_t i = 0; i < s.links[0][1] && i < RINGS_MAX; i++)
            add_plain(out, gpus, RINGS_WIRE);
        return;
    }
    s.used = 1; /* GPU 0 */
    s.bound = cycles_bound(&s);
    if (s.bound > 0)
        list_cycles(&s, 1);
    s.budget = SEARCH_MAX;
    pack(&s, 0);
    for (int32_t k = 0; k < s.n_best; k++) {
        add_ring(out, gpus, &s.cycles.v[s.best[k]], false);
        add_ring(out, gpus, &s.cycles.v[s.best[k]], true);
        out->kind = RINGS_WIRE;
    }
    VEC_RELEASE(&s.cycles);
}

void rings_lay_inside(const struct instance *inst, const uint8_t *gpus, int32_t n,
                      struct rings *out)
{
    *out = (struct rings) { .kind = RINGS_NONE, .n_gpus = n };
    if (n < 2)
        return;
    if (inst->inside->kind == FABRIC_NVLINK)
        lay_wires(inst, gpus, n, out);
    if (out->n == 0)
        add_plain(out, gpus,
                  inst->inside->kind == FABRIC_NVSWITCH ? RINGS_PORT : RINGS_PCIE);
}

static void try_paths(struct search *s, int32_t depth)
{
    if (s->budget-- <= 0 || (depth > 1 && s->least <= s->best_least))
        return;
    if (depth == s->n) {
        s->best_least = s->least;
        s->best_path = s->now;
        return;
    }
    int32_t least = s->least;
    for (int32_t next = 0; next < s->n; next++) {
        int32_t links = depth ? s->links[s->now.at[depth - 1]][next] : INT32_MAX;
        if (s->used >> next & 1 || links == 0)
            continue;
        s->used |= 1u << next;
        s->least = links < least ? links : least;
        s->now.at[depth] = (uint8_t)next;
        try_paths(s, depth + 1);
        s->used &= ~(1u << next);
        s->least = least;
    }
}

int32_t rings_best_path(const struct instance *inst, const uint8_t *gpus, int32_t n,
                        uint8_t *order)
{
    struct search s;
    if (inst->inside->kind != FABRIC_NVLINK || n < 2)
        return 0;
    search_init(&s, inst, gpus, n);
    s.least = INT32_MAX;
    try_paths(&s, 0);
    for (int32_t i = 0; i < n; i++)
        order[i] = gpus[s.best_path.at[i]];
    return s.best_least;
}
