#include "emit_bench.h"

#include "campaign/campaign.h"
#include "dialect/launch/launch.h"
#include "emit_same.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

struct emit_numbers emit_numbers(const struct scenario *s)
{
    const struct simulate_options step = { .network = FIDELITY_FLOW, .mute = true };
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct campaign_how how = { .step = &step,
                                      .interval = interval_table_get(&loader) };
    struct simulate_result r;
    struct campaign c;
    struct campaign_result beyond;
    struct err err = { 0 };
    struct emit_numbers n = { NAN, NAN, 0 };
    int rc = campaign_read(&c, s);
    if (rc == 0)
        rc = campaign_simulate(&r, &beyond, &loader, &c, s, &how, &err);
    if (rc == 0)
        n = (struct emit_numbers) { r.step_time_s, (double)r.memory.peak_B,
                                    beyond.job.given ? beyond.job.billed_hours : 0 };
    cfg_loader_release(&loader);
    return n;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static bool same_numbers(struct emit_numbers a, struct emit_numbers b)
{
    return is_near(a.step_s, b.step_s) && is_near(a.peak_B, b.peak_B) &&
           is_near(a.billed_hours, b.billed_hours);
}

/* --- reading back as the header says ----------------------------------------------- */

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

/* --- each dialect ------------------------------------------------------------------ */

/* No set may make another job of the file. */
static void check_sets(struct emit_tally *t, const struct emitted *e)
{
    static const char *const decided[] = { "/training/global_batch_size",
                                           "/training/micro_batch_size",
                                           "/training/microbatches",
                                           "/parallelism/tensor",
                                           "/parallelism/pipeline",
                                           "/parallelism/sharding/strategy",
                                           NULL };
    for (int64_t i = 0; i < e->sets.n; i++) {
        CU_ASSERT_FALSE(names_listed(decided, e->sets.v[i].pointer));
        t->launchers +=
            e->sets.v[i].lost && strcmp(e->sets.v[i].pointer, "/distribution") == 0;
    }
}

static bool same_job(struct emit_tally *t, const struct scenario *s,
                     const struct scenario *back, const struct emit_numbers *wanted)
{
    if (!wanted && emit_same(s, back))
        return true;
    t->simulated++;
    return same_numbers(emit_numbers(back), wanted ? *wanted : emit_numbers(s));
}

static void check_dialect(struct emit_tally *t, const struct scenario *s,
                          struct cfg root, int number,
                          const struct emit_numbers *wanted)
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
    check_sets(t, &e);
    cfg_loader_init(&loader);
    loader.shared = t->shared;
    bool same =
        read_emitted(&back, &loader, &e, how) == 0 && same_job(t, s, &back, wanted);
    if (!same)
        fprintf(stderr, "%s as %s is another job (%s)\n%s", s->name, how->name,
                diags_error_text(&loader.diags, 0), strbuf_get(&e.text));
    CU_ASSERT_TRUE(same);
    t->same[number] += same;
    cfg_loader_release(&loader);
    emit_release(&e);
}

void emit_check(struct emit_tally *t, const struct scenario *s, struct cfg root,
                const struct emit_numbers *wanted)
{
    for (int i = 1; dialect_emitted(i); i++)
        check_dialect(t, s, root, i, wanted);
}

int emit_same_as(const struct emit_tally *t, const char *name)
{
    const struct dialect *d;
    for (int i = 1; (d = dialect_emitted(i)) != NULL; i++)
        if (strcmp(d->emit.name, name) == 0)
            return t->same[i];
    CU_FAIL(no such dialect);
    return -1;
}
