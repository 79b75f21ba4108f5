/* What is emitted is read back, with what its header says lies outside, as the same
 * job: every shipped scenario and every listed plan of random small spaces, in all
 * dialects. */
#include "config/datadir.h"
#include "dialect/dialect.h"
#include "dialect/emit/emit.h"
#include "dialect/launch/launch.h"
#include "search/plan.h"
#include "search/plan_point.h"
#include "simulate/simulate.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void test_emit_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PICK(rng, a) ((a)[draw((rng), COUNT(a))])

struct numbers {
    double step_s, peak_B;
};

enum { DIALECTS_MAX = 32 };

/* How many files were read back as the same job, by the number of the dialect, and how
 * many were refused. */
struct tally {
    int same[DIALECTS_MAX], refused;
};

static int same_as(const struct tally *t, const char *name)
{
    const struct dialect *d;
    for (int i = 1; (d = dialect_emitted(i)) != NULL; i++)
        if (strcmp(d->emit.name, name) == 0)
            return t->same[i];
    CU_FAIL(no such dialect);
    return -1;
}

static struct numbers numbers_of(const struct scenario *s)
{
    const struct simulate_options how = { .network = FIDELITY_FLOW, .mute = true };
    struct simulate_result r;
    struct arena arena;
    struct err err = { 0 };
    arena_init(&arena);
    int rc = simulate(&r, &arena, s, &how, &err);
    struct numbers n = { rc ? (double)NAN : r.step_time_s,
                         rc ? (double)NAN : (double)r.memory.peak_B };
    arena_release(&arena);
    return n;
}

/* --- reading back as the header says
 * ----------------------------------------------- */

/* The word after "#   --set ", its quotes taken off as a shell does. */
static void unquote(char *to, size_t size, const char *from, size_t n)
{
    bool quoted = false;
    size_t m = 0;
    for (size_t i = 0; i < n && m + 1 < size; i++) {
        if (from[i] == '\'')
            quoted = !quoted;
        else if (from[i] == '\\' && !quoted && i + 1 < n)
            to[m++] = from[++i];
        else
            to[m++] = from[i];
    }
    to[m] = '\0';
}

static int set_header(struct cfg root, const char *text)
{
    static const char mark[] = "#   --set ";
    static char word[1 << 16];
    int rc = 0;
    for (const char *at = text; (at = strstr(at, mark)) != NULL && rc == 0;) {
        at += sizeof(mark) - 1;
        unquote(word, sizeof(word), at, strcspn(at, "\n"));
        rc = cfg_set(root, word);
    }
    return rc;
}

/* JSON has no comments: its sets are those that warnings print. */
static int set_outside(struct cfg root, const struct emitted *e)
{
    int rc = 0;
    if (e->comments)
        return set_header(root, strbuf_get(&e->text));
    for (int64_t i = 0; i < e->sets.n && rc == 0; i++)
        rc = cfg_set(root, e->sets.v[i].assignment);
    return rc;
}

static int read_emitted(struct scenario *s, struct cfg_loader *loader,
                        const struct emitted *e, const struct dialect_emit *how)
{
    const char *text = strbuf_get(&e->text);
    struct launch l = { 0 };
    struct cfg root;
    if (!how->file)
        return scenario_read(s, loader, cfg_parse(loader, "x", text, strlen(text)));
    root = launch_load_text(&l, loader, how->file, text);
    int rc = root.json ? set_outside(root, e) || launch_complete(&l, root) : -1;
    rc = rc == 0 ? scenario_read(s, loader, root) : -1;
    launch_release(&l);
    return rc;
}

/* No set may make another job of the file. */
static void check_sets(const struct emitted *e)
{
    static const char *const decided[] = { "/training/global_batch_size",
                                           "/training/micro_batch_size",
                                           "/training/microbatches",
                                           "/parallelism/tensor",
                                           "/parallelism/pipeline",
                                           "/parallelism/sharding/strategy",
                                           NULL };
    for (int64_t i = 0; i < e->sets.n; i++)
        CU_ASSERT_FALSE(names_listed(decided, e->sets.v[i].pointer));
}

static void check_dialect(struct tally *t, const struct scenario *s, struct cfg root,
                          int number, struct numbers wanted)
{
    const struct dialect_emit *how = &dialect_emitted(number)->emit;
    struct emitted e;
    struct err err = { 0 };
    struct cfg_loader loader;
    struct scenario back;
    if (emit_scenario(&e, how, s, root, &err)) {
        CU_ASSERT_TRUE(err.set && err.text[0] != '\0');
        CU_ASSERT_EQUAL(e.text.len, 0);
        t->refused++;
        return;
    }
    check_sets(&e);
    cfg_loader_init(&loader);
    int rc = read_emitted(&back, &loader, &e, how);
    struct numbers got = { 0 };
    if (rc == 0)
        got = numbers_of(&back);
    bool same = fabs(got.step_s / wanted.step_s - 1) <= 1e-9 &&
                fabs(got.peak_B / wanted.peak_B - 1) <= 1e-9;
    if (!same)
        fprintf(stderr, "%s as %s: %.12g s, %.12g B, not %.12g s, %.12g B (%s)\n%s",
                s->name, how->name, got.step_s, got.peak_B, wanted.step_s,
                wanted.peak_B, diags_error_text(&loader.diags, 0), strbuf_get(&e.text));
    CU_ASSERT_TRUE(same);
    t->same[number] += same;
    cfg_loader_release(&loader);
    emit_release(&e);
}

static void check_all(struct tally *t, const struct scenario *s, struct cfg root)
{
    struct numbers wanted = numbers_of(s);
    for (int i = 1; dialect_emitted(i); i++)
        check_dialect(t, s, root, i, wanted);
}

/* --- shipped scenarios
 * ------------------------------------------------------------- */

static void test_shipped(void)
{
    struct tally t = { 0 };
    struct arena arena;
    int n = 0;
    arena_init(&arena);
    for (const char **name = datadir_list(&arena, "scenarios"); *name; name++, n++) {
        struct cfg_loader loader;
        struct scenario s;
        cfg_loader_init(&loader);
        struct cfg root = datadir_load(&loader, "scenarios", *name, (struct cfg) { 0 });
        CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
        check_all(&t, &s, root);
        cfg_loader_release(&loader);
    }
    CU_ASSERT_EQUAL(same_as(&t, "scenario"), n);
    CU_ASSERT_EQUAL(same_as(&t, "sagemaker"), n - 1); /* but Megatron's */
    CU_ASSERT_EQUAL(same_as(&t, "megatron"), 1);
    CU_ASSERT_EQUAL(same_as(&t, "deepspeed"), 1);
    arena_release(&arena);
}

/* --- random plans
 * ------------------------------------------------------------------ */

static uint32_t draw(uint64_t *rng, size_t n)
{
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*rng >> 33) % (uint32_t)n;
}

static int open_random(struct plan_job *job, struct cfg_loader *loader, uint64_t *rng)
{
    static const char *const models[] = { "gpt2",       "gpt2-medium",
                                          "gpt2-large", "bert-large-uncased",
                                          "llama2-7b",  "t5-base" },
                             *const instances[] = { "ml.p3.16xlarge", "p4d.24xlarge",
                                                    "ml.p4d.24xlarge", "g5.12xlarge",
                                                    "p5.48xlarge" },
                             *const counts[] = { "1", "2", "4" },
                             *const fixes[][2] = {
                                 { "placement=cluster", NULL },
                                 { "pipeline=1", "placement=cluster" },
                                 { "pipeline=2", "placement=cluster" },
                                 { "tensor=2", "placement=cluster" },
                                 { "activation_checkpointing=full", NULL },
                                 { "pipeline=1", "tensor=1" },
                             };
    static const int64_t batches[] = { 32, 64, 128 }, sequences[] = { 128, 512 };
    const char *const *fixed = PICK(rng, fixes);
    struct plan_request r = { .model = PICK(rng, models),
                              .instances = PICK(rng, instances),
                              .count = PICK(rng, counts),
                              .global_batch = PICK(rng, batches),
                              .sequence = PICK(rng, sequences),
                              .stacks = 1 << draw(rng, SPACE_STACKS_N),
                              .fixes = { fixed[1] ? 2 : 1, fixed } };
    return plan_job_init(job, loader, &r);
}

static int check_plans(struct tally *t, const struct plan_job *job)
{
    const struct plan_options o = { .listed = 2, .simulate_most = 2 };
    struct plan_outcome out;
    struct err err = { 0 };
    if (plan_search(&out, &job->loader->arena, job, &o, &err))
        return 0;
    for (int32_t i = 0; i < out.n_entries && i < o.listed; i++) {
        struct cfg_loader loader;
        struct scenario s;
        cfg_loader_init(&loader);
        struct cfg root =
            cfg_from_tree(&loader, "plan", plan_point_json(job, &out.entries[i].point));
        CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
        check_all(t, &s, root);
        cfg_loader_release(&loader);
    }
    return out.n_entries < o.listed ? out.n_entries : o.listed;
}

static void test_random_plans(void)
{
    enum { SPACES = 60 };
    struct tally t = { 0 };
    uint64_t rng = 20240915;
    int plans = 0, spaces = 0;
    for (int trial = 0; spaces < SPACES && trial < 20 * SPACES; trial++) {
        struct cfg_loader loader;
        struct plan_job job = { 0 };
        cfg_loader_init(&loader);
        int n = open_random(&job, &loader, &rng) == 0 ? check_plans(&t, &job) : 0;
        plans += n;
        spaces += n > 0;
        plan_job_release(&job);
        cfg_loader_release(&loader);
    }
    CU_ASSERT_EQUAL(spaces, SPACES);
    CU_ASSERT_EQUAL(same_as(&t, "scenario"), plans);
    CU_ASSERT_TRUE(same_as(&t, "sagemaker") > 40);
    CU_ASSERT_TRUE(same_as(&t, "megatron") > 10);
    CU_ASSERT_TRUE(same_as(&t, "deepspeed") > 10);
    CU_ASSERT_TRUE(same_as(&t, "fsdp") > 5);
}

void test_emit_register(void)
{
    CU_pSuite s = CU_add_suite("emit", NULL, NULL);
    CU_add_test(s, "shipped scenarios come back as the same job", test_shipped);
    CU_add_test(s, "plans of random spaces come back, too", test_random_plans);
}
