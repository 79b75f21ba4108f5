/* Plans that simulations of one thread leave to those after them: points of a sweep or
 * of a plan ask for the same collectives on the same instances again and again. */
#include "run/plans_kept.h"

#include "base/hash.h"

enum {
    PLANS_MOST = 2048, /* then all is forgotten: about 10 KB each */
    VERSION_MOST = 24, /* letters of NCCL's version */
};

/* What a folded net and the groups on it follow from. Copies are compared as bytes, with
 * addresses of instances: padding may make equal ones differ, which costs time alone. */
struct site {
    struct cluster cluster; /* fabric: NULL */
    struct groups groups;   /* addresses: NULL */
    struct fabric fabric;
    char version[VERSION_MOST]; /* of NCCL, by the fabric */
};

struct kept_site {
    struct kept_site *next;
    int32_t number;
    struct site site;
    struct coll_rings_memo *rings;
};

struct kept_key {
    int32_t site, channel;
    int64_t rank;
    int32_t op, algorithm, protocol, flags;
    double size_B, network_frac;
    struct nccl_limits limits;
    char version[VERSION_MOST];
};

struct kept_plan {
    struct kept_key key;
    const struct coll_plan *plan;
    UT_hash_handle hh;
};

struct plans_kept {
    struct arena arena;
    struct kept_plan *plans;
    struct kept_site *sites;      /* the last that was asked for is the first */
    const struct kept_site *here; /* NULL: nothing is kept now */
    int32_t n_sites;
};

struct plans_kept *plans_kept_new(void)
{
    struct plans_kept *k = xcalloc(1, sizeof(*k));
    arena_init(&k->arena);
    return k;
}

static void forget(struct plans_kept *k)
{
    HASH_CLEAR(hh, k->plans);
    arena_release(&k->arena);
    k->sites = NULL;
    k->here = NULL;
    k->n_sites = 0;
}

void plans_kept_free(void *kept)
{
    forget(kept);
    free(kept);
}

/* Its bytes, cleared first; false where there are more. NULL is no text. */
static bool take_version(char to[VERSION_MOST], const char *text)
{
    size_t n = text ? strlen(text) : 0;
    memset(to, 0, VERSION_MOST);
    if (n >= VERSION_MOST)
        return false;
    if (n)
        memcpy(to, text, n);
    return true;
}

static bool read_site(struct site *to, const struct groups *g)
{
    const struct fabric *f = g->cluster->fabric;
    memset(to, 0, sizeof(*to));
    memcpy(&to->cluster, g->cluster, sizeof(to->cluster));
    memcpy(&to->groups, g, sizeof(to->groups));
    to->cluster.fabric = NULL;
    to->groups.cluster = NULL;
    to->groups.class_of = NULL;
    if (f)
        memcpy(&to->fabric, f, sizeof(to->fabric));
    return !g->cluster->sites && !g->cluster->shared &&
           take_version(to->version, f ? f->nccl : NULL);
}

/* First in the list from now on. */
static struct kept_site *find_site(struct plans_kept *k, const struct site *site)
{
    for (struct kept_site **at = &k->sites; *at; at = &(*at)->next) {
        struct kept_site *s = *at;
        if (memcmp(&s->site, site, sizeof(*site)) != 0)
            continue;
        *at = s->next;
        s->next = k->sites;
        return k->sites = s;
    }
    return NULL;
}

void plans_kept_begin(struct plans_kept *k, const struct groups *g)
{
    struct site site;
    k->here = NULL;
    if (HASH_COUNT(k->plans) >= PLANS_MOST || k->n_sites >= PLANS_MOST)
        forget(k);
    if (!read_site(&site, g))
        return;
    struct kept_site *s = find_site(k, &site);
    if (!s) {
        s = ARENA_NEW(&k->arena, struct kept_site);
        memcpy(&s->site, &site, sizeof(site));
        s->number = k->n_sites++;
        s->rings = coll_rings_memo_new(&k->arena);
        s->next = k->sites;
        k->sites = s;
    }
    k->here = s;
}

static bool read_key(struct kept_key *key, const struct plans_kept *k,
                     const struct comm *comm, int64_t rank)
{
    const struct coll_request *q = &comm->request;
    memset(key, 0, sizeof(*key));
    if (!k->here || q->tokens || q->library)
        return false;
    key->site = k->here->number;
    key->channel = (int32_t)comm->channel;
    key->rank = rank;
    key->op = (int32_t)q->op;
    key->algorithm = (int32_t)q->algorithm;
    key->protocol = q->protocol;
    key->flags =
        q->int8 + 2 * q->explains + 4 * q->graph_launch + 8 * (q->nccl != NULL);
    key->size_B = q->size_B;
    key->network_frac = comm->network_frac;
    key->limits = q->limits;
    return take_version(key->version, q->nccl);
}

int plans_make_kept(struct plans_kept *k, const struct plans *p,
                    const struct comm *comm, int64_t rank, const struct coll_plan **out,
                    struct err *err)
{
    struct kept_key key;
    struct kept_plan *known;
    if (!k || !read_key(&key, k, comm, rank))
        return plans_make(p, comm, rank, out, err);
    HASH_FIND(hh, k->plans, &key, sizeof(key), known);
    if (!known) {
        struct plans own = *p;
        own.arena = &k->arena;
        own.rings = k->here->rings;
        if (plans_make(&own, comm, rank, out, err) < 0)
            return -1;
        known = ARENA_NEW(&k->arena, struct kept_plan);
        memcpy(&known->key, &key, sizeof(key));
        known->plan = *out;
        HASH_ADD(hh, k->plans, key, sizeof(key), known);
    }
    *out = known->plan;
    return 0;
}
