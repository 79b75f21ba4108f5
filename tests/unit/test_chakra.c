/* Chakra traces: every file is what et_def.proto says, nodes follow earlier ones only,
 * all ranks of a group call the same collectives in the same order, every message that
 * is sent is received, and times add up to those of the program. */
#include "base/file.h"
#include "step/reps.h"
#include "trace/chakra_state.h"

#include "scenario_bench.h"

#include <CUnit/CUnit.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void test_chakra_register(void);

/* Protobuf ------------------------------------------------------------------------- */

struct span {
    const unsigned char *at, *end;
};

static uint64_t varint(struct span *s)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (s->at >= s->end) /* an assertion a byte would be millions */
            CU_FAIL_FATAL("a number is cut off");
        v |= (uint64_t)(*s->at & 0x7f) << shift;
        if (!(*s->at++ & 0x80))
            break;
    }
    return v;
}

static struct span message(struct span *s)
{
    uint64_t n = varint(s);
    if (n > (uint64_t)(s->end - s->at))
        CU_FAIL_FATAL("a message is cut off");
    struct span inner = { s->at, s->at + n };
    s->at += n;
    return inner;
}

static bool is(struct span s, const char *text)
{
    return (size_t)(s.end - s.at) == strlen(text) &&
           memcmp(s.at, text, strlen(text)) == 0;
}

enum { DEPS_MAX = 64, RANKS = 16 };

struct node {
    uint64_t id, type, duration_us;
    int n_deps;
    uint64_t deps[DEPS_MAX];
    bool on_cpu;
    int64_t comm_type, size_B, from, to, tag;
    char group[16];
};

static void read_attribute(struct node *n, struct span s)
{
    struct span name = { 0 };
    while (s.at < s.end) {
        uint64_t key = varint(&s);
        if (key == (1 << 3 | 2)) {
            name = message(&s);
        } else if (key == (29 << 3 | 2)) {
            struct span text = message(&s);
            CU_ASSERT(is(name, "pg_name"));
            snprintf(n->group, sizeof(n->group), "%.*s", (int)(text.end - text.at),
                     (const char *)text.at);
        } else {
            int64_t value = (int64_t)varint(&s);
            bool int32 = key == 7 << 3, int64 = key == 9 << 3, flag = key == 27 << 3;
            if (is(name, "is_cpu_op") && flag)
                n->on_cpu = value != 0;
            else if (is(name, "comm_type") && int64)
                n->comm_type = value;
            else if (is(name, "comm_size") && int64)
                n->size_B = value;
            else if (is(name, "comm_src") && int32)
                n->from = value;
            else if (is(name, "comm_dst") && int32)
                n->to = value;
            else if (is(name, "comm_tag") && int32)
                n->tag = value;
            else
                CU_FAIL_FATAL("an attribute that no reader knows");
        }
    }
}

static struct node read_node(struct span s)
{
    struct node n = { .comm_type = -1, .from = -1, .to = -1, .tag = -1 };
    while (s.at < s.end) {
        uint64_t key = varint(&s);
        switch (key) {
        case 1 << 3:
            n.id = varint(&s);
            break;
        case 2 << 3 | 2:
            message(&s);
            break;
        case 3 << 3:
            n.type = varint(&s);
            break;
        case 5 << 3 | 2:
            for (struct span deps = message(&s); deps.at < deps.end;) {
                CU_ASSERT_FATAL(n.n_deps < DEPS_MAX);
                n.deps[n.n_deps++] = varint(&deps);
            }
            break;
        case 7 << 3:
            n.duration_us = varint(&s);
            break;
        case 10 << 3 | 2:
            read_attribute(&n, message(&s));
            break;
        default:
            CU_FAIL_FATAL("a field that no reader knows");
        }
    }
    return n;
}

/* Traces --------------------------------------------------------------------------- */

struct rank_seen {
    int64_t nodes, kernels_us, host_us;
    int most_deps;          /* of one of its nodes */
    VEC(struct node) comms; /* collectives in order */
};

struct seen {
    struct rank_seen ranks[RANKS];
    VEC(struct node) sent;
    VEC(struct node) received;
};

static void see_node(struct seen *x, int rank, const struct node *n)
{
    struct rank_seen *r = &x->ranks[rank];
    CU_ASSERT_EQUAL_FATAL(n->id, (uint64_t)++r->nodes);
    if (n->n_deps > r->most_deps)
        r->most_deps = n->n_deps;
    for (int i = 0; i < n->n_deps; i++)
        CU_ASSERT_FATAL(n->deps[i] > 0 && n->deps[i] < n->id);
    if (n->type == 4) {
        *(n->on_cpu ? &r->host_us : &r->kernels_us) += (int64_t)n->duration_us;
        return;
    }
    CU_ASSERT(!n->on_cpu && n->size_B > 0);
    if (n->type == 7) {
        VEC_PUSH(&r->comms, *n);
    } else if (n->type == 5) {
        CU_ASSERT_EQUAL(n->from, rank);
        VEC_PUSH(&x->sent, *n);
    } else {
        CU_ASSERT_EQUAL(n->type, 6);
        CU_ASSERT_EQUAL(n->to, rank);
        VEC_PUSH(&x->received, *n);
    }
}

static void see_rank(struct seen *x, const char *dir, int rank)
{
    char path[128];
    size_t len;
    struct err err = { 0 };
    snprintf(path, sizeof(path), "%s/step.%d.et", dir, rank);
    char *text = file_read(path, 1 << 26, &len, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    struct span s = { (unsigned char *)text, (unsigned char *)text + len };
    struct span metadata = message(&s);
    CU_ASSERT(is(metadata, "\n\5"
                           "0.0.4"));
    while (s.at < s.end) {
        struct node n = read_node(message(&s));
        see_node(x, rank, &n);
    }
    free(text);
    unlink(path);
}

/* The ranks of a group: of the file, or all. */
static bool has(json_t *groups, const char *name, int rank)
{
    size_t i;
    json_t *member, *list = json_object_get(groups, name);
    if (!*name)
        return true;
    CU_ASSERT_FATAL(json_is_array(list));
    json_array_foreach(list, i,
                       member) if (json_integer_value(member) == rank) return true;
    return false;
}

/* The k-th collective of a group on a rank. */
static const struct node *of_group(const struct rank_seen *r, const char *name, int k)
{
    for (int64_t i = 0; i < r->comms.n; i++)
        if (strcmp(r->comms.v[i].group, name) == 0 && k-- == 0)
            return &r->comms.v[i];
    return NULL;
}

static void check_group(const struct seen *x, json_t *groups, const char *name)
{
    const struct node *first = NULL;
    for (int k = 0; k == 0 || first; k++) {
        int lead = 0;
        while (!has(groups, name, lead))
            lead++;
        first = of_group(&x->ranks[lead], name, k);
        for (int rank = 0; rank < RANKS; rank++) {
            const struct node *n = of_group(&x->ranks[rank], name, k);
            if (!has(groups, name, rank) || !first) {
                CU_ASSERT_PTR_NULL(n);
                continue;
            }
            CU_ASSERT_PTR_NOT_NULL_FATAL(n);
            CU_ASSERT_EQUAL(n->comm_type, first->comm_type);
            CU_ASSERT_EQUAL(n->size_B, first->size_B);
        }
    }
}

static int by_message(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    int64_t d = x->from != y->from ? x->from - y->from
                : x->to != y->to   ? x->to - y->to
                : x->tag != y->tag ? x->tag - y->tag
                                   : x->size_B - y->size_B;
    return d < 0 ? -1 : d > 0;
}

static void check_messages(struct seen *x)
{
    CU_ASSERT_EQUAL_FATAL(x->sent.n, x->received.n);
    if (x->sent.n == 0)
        return;
    qsort(x->sent.v, (size_t)x->sent.n, sizeof(struct node), by_message);
    qsort(x->received.v, (size_t)x->received.n, sizeof(struct node), by_message);
    for (int64_t i = 0; i < x->sent.n; i++)
        CU_ASSERT_EQUAL(by_message(&x->sent.v[i], &x->received.v[i]), 0);
}

static void see(struct seen *x, const char *dir)
{
    char path[128];
    const char *name;
    json_t *list;
    memset(x, 0, sizeof(*x));
    for (int rank = 0; rank < RANKS; rank++)
        see_rank(x, dir, rank);
    snprintf(path, sizeof(path), "%s/comm_groups.json", dir);
    json_t *groups = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(groups);
    json_object_foreach(groups, name, list) check_group(x, groups, name);
    check_group(x, groups, "");
    check_messages(x);
    json_decref(groups);
    unlink(path);
    CU_ASSERT_EQUAL(rmdir(dir), 0); /* nothing else was written */
}

static void forget(struct seen *x)
{
    for (int rank = 0; rank < RANKS; rank++)
        VEC_RELEASE(&x->ranks[rank].comms);
    VEC_RELEASE(&x->sent);
    VEC_RELEASE(&x->received);
}

/* Jobs ----------------------------------------------------------------------------- */

/* Time of a program's kernels and of its host, repeats counted. */
static void program_us(const struct program *p, int64_t *kernels_us, int64_t *host_us)
{
    int64_t kernels_ps = 0, host_ps = 0;
    for (int32_t i = 0; i < p->tasks.n; i++) {
        const struct task *t = &p->tasks.v[i];
        bool again = p->repeat.from >= 0 && i > p->repeat.from && i <= p->repeat.to;
        int64_t times = again ? 1 + p->repeat.extra : 1;
        host_ps += times * t->host_ps;
        if (t->stream == STREAM_COMPUTE && t->comm < 0 && t->fusion < 0)
            kernels_ps += times * t->alone_ps;
        else if (t->comm < 0 && t->fusion < 0)
            host_ps += times * t->alone_ps;
    }
    *kernels_us = kernels_ps / 1000000;
    *host_us = host_ps / 1000000;
}

static void check_times(const struct seen *x, struct cfg_loader *loader,
                        const struct scenario *s)
{
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options every = { .unfold = true, .detail = true };
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &loader->arena, s, &every, &err), 0);
    for (int rank = 0; rank < RANKS; rank++) {
        int64_t kernels_us, host_us;
        program_us(reps.programs[rank], &kernels_us, &host_us);
        CU_ASSERT(llabs(x->ranks[rank].kernels_us - kernels_us) <= 1);
        CU_ASSERT(llabs(x->ranks[rank].host_us - host_us) <= STREAM_N);
    }
    reps_release(&reps);
}

static const struct {
    const char *changes;
    int64_t sent; /* messages of all ranks together */
} jobs[] = {
    { "/training/microbatches=1", 0 },
    { "/training/gradient_accumulation_steps=9", 0 },
    { "/parallelism/library=\"horovod\"", 0 },
    { "/parallelism/backend=\"smddp\"", 0 },
    { "/parallelism/sharding={\"strategy\":\"full\"}", 0 },
    { "/training/microbatches=8 /parallelism/pipeline=4", 4 * 2 * 3 * 8 },
    { "/training/microbatches=8 /parallelism/pipeline=4 /parallelism/tensor=2 "
      "/parallelism/virtual_stages=2 /parallelism/schedule=\"interleaved\"",
      4 * 2 * 7 * 8 },
    { "/training/attention=\"flash\" /training/precision=\"bf16\" "
      "/parallelism/context=4 "
      "/parallelism/context_comm=\"ring\"",
      -1 },
};

static void test_jobs(void)
{
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        struct cfg_loader loader;
        struct scenario s;
        struct seen x;
        struct chakra_counts counts;
        struct err err = { 0 };
        char dir[] = "/tmp/smsim-chakra-XXXXXX";
        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
        bench_scenario(&loader, &s, bench_gpt2, "", jobs[i].changes);
        CU_ASSERT_EQUAL_FATAL(chakra_export(&counts, dir, &loader.arena, &s, &err), 0);
        see(&x, dir);
        check_times(&x, &loader, &s);
        CU_ASSERT_EQUAL(counts.ranks, RANKS);
        if (jobs[i].sent >= 0)
            CU_ASSERT_EQUAL(x.sent.n, jobs[i].sent);
        CU_ASSERT(jobs[i].sent >= 0 || x.sent.n > 0);
        CU_ASSERT(x.ranks[0].comms.n > 0);
        forget(&x);
        cfg_loader_release(&loader);
    }
}

/* A host that is made to wait for many kernels before it acts again waits for all. */
static void test_many_deps(void)
{
    enum { KERNELS = 40 };
    struct program p;
    const struct program *programs[] = { &p };
    const struct reps reps = { .n_ranks = 1, .programs = programs };
    struct chakra_counts counts = { .ranks = 1 };
    struct chakra_export x = { .reps = &reps, .counts = &counts };
    struct seen seen = { 0 };
    struct err err = { 0 };
    char dir[] = "/tmp/smsim-chakra-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    x.dir.temp = dir;
    program_init(&p);
    for (int i = 0; i < KERNELS; i++) {
        int32_t at =
            program_kernel(&p, STREAM_COMPUTE, CATEGORY_COMPUTE, 0, 1e-3, 1e-3);
        p.tasks.v[at].sync = true;
    }
    program_kernel(&p, STREAM_COMPUTE, CATEGORY_COMPUTE, 1e-3, 1e-3, 1e-3);
    chakra_proto_init(&x.proto);
    CU_ASSERT_EQUAL_FATAL(chakra_write_rank(&x, 0, &err), 0);
    see_rank(&seen, dir, 0);
    CU_ASSERT_EQUAL(counts.nodes, KERNELS + 2);
    CU_ASSERT_EQUAL(seen.ranks[0].most_deps, KERNELS);
    forget(&seen);
    chakra_proto_release(&x.proto);
    program_release(&p);
    CU_ASSERT_EQUAL(rmdir(dir), 0);
}

/* A directory with something in it is left as it is. */
static void test_occupied(void)
{
    struct cfg_loader loader;
    struct scenario s;
    struct chakra_counts counts;
    struct err err = { 0 };
    char dir[] = "/tmp/smsim-chakra-XXXXXX", inner[64];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    snprintf(inner, sizeof(inner), "%s/mine", dir);
    CU_ASSERT_EQUAL_FATAL(mkdir(inner, 0700), 0);
    bench_scenario(&loader, &s, bench_gpt2, "", jobs[0].changes);
    CU_ASSERT_EQUAL(chakra_export(&counts, dir, &loader.arena, &s, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is not empty"));
    CU_ASSERT_EQUAL(rmdir(inner), 0);
    CU_ASSERT_EQUAL(rmdir(dir), 0);
    cfg_loader_release(&loader);
}

void test_chakra_register(void)
{
    CU_pSuite suite = CU_add_suite("chakra", NULL, NULL);
    CU_add_test(suite, "traces of jobs", test_jobs);
    CU_add_test(suite, "a node that follows many", test_many_deps);
    CU_add_test(suite, "a directory that is not empty", test_occupied);
}
