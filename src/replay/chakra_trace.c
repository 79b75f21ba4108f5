#include "replay/chakra_trace.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/xmalloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers of fields and of node types in et_def.proto. */
enum {
    NODE_ID = 1,
    NODE_TYPE = 3,
    NODE_CTRL_DEPS = 4,
    NODE_DATA_DEPS = 5,
    NODE_DURATION_MICROS = 7,
    NODE_ATTR = 10,
};
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_STRING = 29 };
enum { TYPE_SEND = 5, TYPE_RECV = 6, TYPE_COLLECTIVE = 7 };

/* Wire format ---------------------------------------------------------------------- */

struct bytes {
    const unsigned char *at, *end;
};

/* One field: a number, or bytes. */
struct wire {
    int64_t field;
    uint64_t number;
    struct bytes bytes; /* at NULL: it is a number */
};

static bool read_varint(struct bytes *b, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (b->at == b->end)
            return false;
        *v |= (uint64_t)(*b->at & 0x7f) << shift;
        if (!(*b->at++ & 0x80))
            return true;
    }
    return false;
}

static bool take(struct bytes *b, uint64_t n, struct bytes *taken)
{
    if (n > (uint64_t)(b->end - b->at))
        return false;
    *taken = (struct bytes) { b->at, b->at + n };
    b->at += n;
    return true;
}

static bool read_field(struct bytes *b, struct wire *w)
{
    uint64_t key, n;
    struct bytes fixed;
    *w = (struct wire) { 0 };
    if (!read_varint(b, &key))
        return false;
    w->field = (int64_t)(key >> 3);
    switch (key & 7) {
    case 0:
        return read_varint(b, &w->number);
    case 1:
        return take(b, 8, &fixed);
    case 2:
        return read_varint(b, &n) && take(b, n, &w->bytes);
    case 5:
        return take(b, 4, &fixed);
    default:
        return false;
    }
}

/* Nodes ---------------------------------------------------------------------------- */

struct known_node {
    uint64_t id;
    int64_t index;
    UT_hash_handle hh;
};

struct reading {
    struct chakra_trace *t;
    const char *file;
    int32_t rank;
    struct known_node *known; /* of the file, by id */
    VEC(struct known_node) ids;
    VEC(uint64_t) deps; /* ids, until all of the file is read */
    struct err *err;
};

static bool is_named(struct bytes name, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(name.end - name.at) == n && memcmp(name.at, text, n) == 0;
}

static int32_t group_named(const struct chakra_trace *t, struct bytes name)
{
    for (int64_t i = 0; i < t->names.n; i++)
        if (is_named(name, t->names.v[i]))
            return (int32_t)i;
    return -1;
}

static bool read_attribute(struct reading *r, struct chakra_node *n, struct bytes b)
{
    struct bytes name = { NULL, NULL }, text = { NULL, NULL };
    uint64_t number = 0;
    struct wire w;
    while (b.at < b.end) {
        if (!read_field(&b, &w))
            return false;
        if (w.field == ATTRIBUTE_NAME)
            name = w.bytes;
        else if (w.field == ATTRIBUTE_STRING)
            text = w.bytes;
        else if (!w.bytes.at)
            number = w.number;
    }
    if (!name.at)
        return true;
    if (is_named(name, "is_cpu_op"))
        n->on_cpu = number != 0;
    else if (is_named(name, "comm_type"))
        n->op = (int32_t)number;
    else if (is_named(name, "comm_size"))
        n->bytes = (int64_t)number;
    else if (is_named(name, "comm_src"))
        n->from = (int32_t)number;
    else if (is_named(name, "comm_dst"))
        n->to = (int32_t)number;
    else if (is_named(name, "comm_tag"))
        n->tag = (int64_t)number;
    else if (is_named(name, "pg_name") && text.at && text.at < text.end) {
        n->group = group_named(r->t, text);
        if (n->group < 0)
            return false;
    }
    return n->bytes >= 0;
}

/* Packed, or one number. */
static bool read_deps(struct reading *r, struct wire *w)
{
    uint64_t id;
    if (!w->bytes.at) {
        VEC_PUSH(&r->deps, w->number);
        return true;
    }
    while (w->bytes.at < w->bytes.end) {
        if (!read_varint(&w->bytes, &id))
            return false;
        VEC_PUSH(&r->deps, id);
    }
    return true;
}

static enum chakra_kind kind_of(uint64_t type)
{
    switch (type) {
    case TYPE_SEND:
        return CHAKRA_NODE_SEND;
    case TYPE_RECV:
        return CHAKRA_NODE_RECV;
    case TYPE_COLLECTIVE:
        return CHAKRA_NODE_COLLECTIVE;
    default:
        return CHAKRA_NODE_COMPUTE;
    }
}

static bool read_node(struct reading *r, struct bytes b)
{
    struct chakra_node n = { .rank = r->rank, .group = -1, .first_dep = r->deps.n };
    struct known_node known = { .index = r->t->nodes.n };
    struct wire w;
    while (b.at < b.end) {
        bool good = read_field(&b, &w);
        if (good && w.field == NODE_ID)
            known.id = w.number;
        else if (good && w.field == NODE_TYPE)
            n.kind = kind_of(w.number);
        else if (good && w.field == NODE_DURATION_MICROS)
            n.time_s = (double)w.number * 1e-6;
        else if (good && (w.field == NODE_CTRL_DEPS || w.field == NODE_DATA_DEPS))
            good = read_deps(r, &w);
        else if (good && w.field == NODE_ATTR && w.bytes.at)
            good = read_attribute(r, &n, w.bytes);
        if (!good)
            return false;
    }
    n.n_deps = (int32_t)(r->deps.n - n.first_dep);
    VEC_PUSH(&r->t->nodes, n);
    VEC_PUSH(&r->ids, known);
    return r->t->nodes.n < CHAKRA_NODES_MAX;
}

/* Ids of what nodes follow become indices; deps of the file are added to the trace's. */
static int resolve(struct reading *r)
{
    for (int64_t i = 0; i < r->ids.n; i++) {
        struct known_node *same = NULL;
        HASH_FIND(hh, r->known, &r->ids.v[i].id, sizeof(uint64_t), same);
        if (same)
            return err_set(r->err, "%s: two nodes have the number %" PRIu64, r->file,
                           r->ids.v[i].id);
        HASH_ADD(hh, r->known, id, sizeof(uint64_t), &r->ids.v[i]);
    }
    int64_t before = r->t->deps.n;
    for (int64_t i = 0; i < r->deps.n; i++) {
        struct known_node *of = NULL;
        HASH_FIND(hh, r->known, &r->deps.v[i], sizeof(uint64_t), of);
        if (!of)
            return err_set(r->err, "%s: a node follows %" PRIu64 ", which is not there",
                           r->file, r->deps.v[i]);
        VEC_PUSH(&r->t->deps, of->index);
    }
    for (int64_t i = 0; i < r->ids.n; i++)
        r->t->nodes.v[r->ids.v[i].index].first_dep += before;
    return 0;
}

static int read_messages(struct reading *r, struct bytes b)
{
    const unsigned char *start = b.at;
    bool first = true; /* the metadata */
    while (b.at < b.end) {
        uint64_t n;
        struct bytes message;
        const unsigned char *at = b.at;
        if (!read_varint(&b, &n) || !take(&b, n, &message) ||
            (!first && !read_node(r, message)))
            return err_set(r->err,
                           "%s: byte %td: no node of a Chakra trace, or one of an "
                           "unknown communicator",
                           r->file, at - start);
        first = false;
    }
    return first ? err_set(r->err, "%s: is empty", r->file) : resolve(r);
}

int chakra_trace_add(struct chakra_trace *t, const char *file, const char *bytes,
                     size_t n, struct err *err)
{
    struct reading r = {
        .t = t, .file = file, .rank = (int32_t)t->n_ranks, .err = err
    };
    const unsigned char *at = (const unsigned char *)bytes;
    int rc = read_messages(&r, (struct bytes) { at, at + n });
    t->n_ranks++;
    HASH_CLEAR(hh, r.known);
    VEC_RELEASE(&r.ids);
    VEC_RELEASE(&r.deps);
    return rc;
}

static int read_rank(struct chakra_trace *t, const char *file, struct err *err)
{
    size_t n;
    char *bytes = file_read(file, CHAKRA_FILE_MAX, &n, err);
    if (!bytes)
        return -1;
    int rc = chakra_trace_add(t, file, bytes, n, err);
    free(bytes);
    return rc;
}

/* Groups --------------------------------------------------------------------------- */

static int read_group(struct chakra_trace *t, const char *name, struct cfg ranks)
{
    struct chakra_group g = { 0 };
    int64_t n = cfg_len(ranks), before = -1;
    int rc = 0;
    if (!cfg_is_array(ranks) || n == 0)
        return cfg_error(ranks, DIAG_WRONG_TYPE, "a list of ranks is wanted");
    for (int64_t i = 0; i < n && rc == 0; i++) {
        int64_t rank = 0;
        rc = cfg_int(cfg_at(ranks, i), &rank, before + 1, INT32_MAX);
        VEC_PUSH(&g.ranks, (int32_t)rank);
        before = rank;
    }
    VEC_PUSH(&t->groups, g);
    VEC_PUSH(&t->names, xasprintf("%s", name));
    return rc;
}

static int read_groups(struct chakra_trace *t, struct cfg_loader *loader,
                       const char *folder)
{
    char *path = xasprintf("%s/comm_groups.json", folder);
    int rc = 0;
    if (access(path, R_OK) == 0) {
        struct cfg root = cfg_load(loader, path);
        if (!root.json)
            rc = -1;
        for (void *it = rc ? NULL : cfg_first(root); it && rc == 0;
             it = cfg_next(root, it))
            rc = read_group(t, cfg_key(it), cfg_member(root, it));
    }
    free(path);
    return rc;
}

/* The folder ----------------------------------------------------------------------- */

static const char *const file_names[] = { "step", "chakra_trace", "chakra", "trace" };
enum { FILE_NAMES = sizeof(file_names) / sizeof(file_names[0]) };

/* "FOLDER/step.3.et", and as other writers name them; NULL: none is there. */
static char *file_of(const char *folder, int name, int32_t rank)
{
    char *path = xasprintf("%s/%s.%d.et", folder, file_names[name], rank);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

static bool is_member(const struct chakra_group *g, int32_t rank)
{
    for (int64_t i = 0; i < g->ranks.n; i++)
        if (g->ranks.v[i] == rank)
            return true;
    return false;
}

static bool is_rank(const struct chakra_trace *t, int32_t rank)
{
    return rank >= 0 && rank < t->n_ranks;
}

/* Nodes meet ranks that there are, and are of those. */
int chakra_trace_check(const struct chakra_trace *t, struct err *err)
{
    for (int64_t i = 0; i < t->nodes.n; i++) {
        const struct chakra_node *n = &t->nodes.v[i];
        bool message = n->kind == CHAKRA_NODE_SEND || n->kind == CHAKRA_NODE_RECV;
        int32_t own = n->kind == CHAKRA_NODE_SEND ? n->from : n->to;
        if (message && (!is_rank(t, n->from) || !is_rank(t, n->to) || own != n->rank))
            return err_set(err,
                           "rank %d of the trace: a message from %d to %d is none of "
                           "its own",
                           n->rank, n->from, n->to);
        if (n->kind == CHAKRA_NODE_COLLECTIVE && n->group >= 0 &&
            !is_member(&t->groups.v[n->group], n->rank))
            return err_set(err, "rank %d of the trace is not of communicator \"%s\"",
                           n->rank, t->names.v[n->group]);
    }
    return 0;
}

static int check_groups(const struct chakra_trace *t, const char *folder,
                        struct err *err)
{
    for (int64_t i = 0; i < t->groups.n; i++) {
        const struct chakra_group *g = &t->groups.v[i];
        if (g->ranks.v[g->ranks.n - 1] >= t->n_ranks)
            return err_set(err, "%s/comm_groups.json: \"%s\": rank %d has no file",
                           folder, t->names.v[i], g->ranks.v[g->ranks.n - 1]);
    }
    return 0;
}

int chakra_trace_load(struct chakra_trace *t, struct cfg_loader *loader,
                      const char *folder, struct err *err)
{
    char *file = NULL;
    int name = 0, rc;
    *t = (struct chakra_trace) { 0 };
    rc = read_groups(t, loader, folder);
    while (name < FILE_NAMES && !(file = file_of(folder, name, 0)))
        name++;
    if (rc == 0 && !file)
        return err_set(err, "%s: has no step.0.et (Chakra traces, one a rank)", folder);
    while (rc == 0 && file) {
        rc = read_rank(t, file, err);
        free(file);
        file = file_of(folder, name, (int32_t)t->n_ranks);
    }
    free(file);
    return rc || check_groups(t, folder, err) || chakra_trace_check(t, err) ? -1 : 0;
}

void chakra_trace_release(struct chakra_trace *t)
{
    for (int64_t i = 0; i < t->groups.n; i++)
        VEC_RELEASE(&t->groups.v[i].ranks);
    for (int64_t i = 0; i < t->names.n; i++)
        free(t->names.v[i]);
    VEC_RELEASE(&t->groups);
    VEC_RELEASE(&t->names);
    VEC_RELEASE(&t->nodes);
    VEC_RELEASE(&t->deps);
}
