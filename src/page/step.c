#include "page/step.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "page/page.h"
#include "page/palette.h"
#include "report/figure/step_data.h"
#include "report/report.h"
#include "scenario/libraries.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The scenario in words ------------------------------------------------------------- */

static void add_fact(json_t *facts, const char *name, json_t *value)
{
    json_array_append_new(facts, json_pack("[s, o]", name, value));
}

static void add_cluster(json_t *facts, const struct scenario *s)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int32_t i = 0; i < s->cluster.n_groups; i++) {
        char text[160];
        strbuf_printf(&b, "%s%s", i ? " + " : "",
                      cluster_group_text(&s->cluster, i, text, sizeof(text)));
    }
    strbuf_printf(&b, " (%" PRId64 " x %s%s)", (int64_t)s->cluster.n_gpus,
                  s->cluster.groups[0].instance->gpu->name,
                  s->cluster.n_groups > 1 ? " and others" : "");
    add_fact(facts, "cluster", json_string(strbuf_get(&b)));
    strbuf_release(&b);
}

static void add_degrees(json_t *facts, const struct parallelism *p)
{
    const struct {
        const char *name;
        int64_t degree;
    } rows[] = { { "data", p->data },
                 { "tensor", p->tensor },
                 { "pipeline", p->pipeline },
                 { "context", p->context } };
    struct strbuf b;
    strbuf_init(&b);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].degree > 1)
            strbuf_printf(&b, "%s%s %" PRId64, b.len ? ", " : "", rows[i].name,
                          rows[i].degree);
    add_fact(facts, "degrees", json_string(b.len ? strbuf_get(&b) : "one GPU"));
    strbuf_release(&b);
}

static void add_batch(json_t *facts, const struct scenario *s)
{
    const struct training *t = &s->training;
    struct strbuf b;
    strbuf_init(&b);
    strbuf_printf(&b, "%" PRId64 " = micro-batch %" PRId64,
                  (int64_t)t->global_batch_size, (int64_t)t->micro_batch_size);
    if (t->microbatches > 1)
        strbuf_printf(&b, " x %" PRId64 " microbatches", (int64_t)t->microbatches);
    if (t->accumulation > 1)
        strbuf_printf(&b, " x %" PRId64 " accumulated", (int64_t)t->accumulation);
    strbuf_printf(&b, " x %" PRId64 " data parallel", (int64_t)s->parallel.data);
    add_fact(facts, "batch", json_string(strbuf_get(&b)));
    strbuf_release(&b);
}

static json_t *facts_of(const struct scenario *s)
{
    const struct training *t = &s->training;
    json_t *facts = json_array();
    add_fact(facts, "model", json_string(s->model.label));
    add_cluster(facts, s);
    add_fact(facts, "library",
             json_sprintf("%s over %s%s%s%s", library_word(&s->parallel),
                          names_of(backend_names, (int)s->parallel.reduce.backend),
                          t->framework ? " (" : "",
                          t->framework ? t->framework->name : "",
                          t->framework ? ")" : ""));
    add_degrees(facts, &s->parallel);
    add_batch(facts, s);
    add_fact(facts, "sequence",
             json_sprintf("%" PRId64 " tokens", (int64_t)t->sequence_length));
    add_fact(facts, "precision",
             json_string(names_of(op_precision_names, (int)t->precision)));
    add_fact(facts, "optimizer",
             json_string(names_of(optimizer_names, (int)t->optimizer)));
    add_fact(facts, "attention",
             json_string(names_of(op_attention_names, (int)t->attention)));
    return facts;
}

/* Memory over time ------------------------------------------------------------------ */

enum { LEVELS = 400 };

static int64_t total_B(const int64_t held_B[LEDGER_KINDS])
{
    int64_t sum = 0;
    for (int k = 0; k < LEDGER_KINDS; k++)
        sum += held_B[k];
    return sum;
}

/* The fullest moment of each stretch of time; where nothing changes, what is held. */
static void take_levels(const struct step_figures *f, int32_t track, int64_t end_ps,
                        int64_t held_B[LEVELS][LEDGER_KINDS])
{
    const struct level *now = NULL;
    int64_t at = 0;
    for (int64_t i = 0; i <= f->levels.n; i++) {
        const struct level *l = i < f->levels.n ? &f->levels.v[i] : NULL;
        if (l && l->track != track)
            continue;
        int64_t until =
            l ? (int64_t)((double)l->at_ps / (double)end_ps * LEVELS) : LEVELS - 1;
        until = until < LEVELS ? until : LEVELS - 1;
        for (; now && at <= until; at++)
            if (total_B(held_B[at]) < total_B(now->held_B))
                for (int k = 0; k < LEDGER_KINDS; k++)
                    held_B[at][k] = now->held_B[k];
        at = until;
        now = l;
        if (l && total_B(held_B[at]) < total_B(l->held_B))
            for (int k = 0; k < LEDGER_KINDS; k++)
                held_B[at][k] = l->held_B[k];
    }
}

/* What the stage does meanwhile. */
static json_t *phases_of(const struct step_figures *f, int32_t track)
{
    struct chart_phase phases[STEP_PHASES];
    size_t n = figure_step_phases(f, track, phases);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:f, s:f}", "name", phases[i].name, "meaning",
                            page_meaning_name(phases[i].meaning), "from_s",
                            phases[i].from, "to_s", phases[i].to));
    return list;
}

static json_t *memory_of(const struct step_figures *f, const struct simulate_result *r)
{
    static const char *const names[FIGURE_HELD_KINDS] = { "parameters", "gradients",
                                                          "optimizer",  "activations",
                                                          "buffers",    "workspace",
                                                          "framework" };
    int64_t(*held_B)[LEDGER_KINDS] = xcalloc(LEVELS, sizeof(*held_B));
    int64_t end_ps = 1, constant_B[FIGURE_HELD_KINDS], fullest = 0;
    int32_t track = figure_step_fullest(f, r);
    for (int64_t i = 0; i < f->levels.n; i++)
        if (f->levels.v[i].track == track && f->levels.v[i].at_ps > end_ps)
            end_ps = f->levels.v[i].at_ps;
    take_levels(f, track, end_ps, held_B);
    for (int i = 1; i < LEVELS; i++)
        if (total_B(held_B[i]) > total_B(held_B[fullest]))
            fullest = i;
    figure_step_constants(&r->memory.stages[r->memory.fullest], held_B[fullest],
                          constant_B);
    json_t *kinds = json_object();
    for (int k = 0; k < FIGURE_HELD_KINDS; k++) {
        json_t *list = json_array();
        for (int i = 0; i < LEVELS; i++) {
            int64_t live_B = k < LEDGER_KINDS ? held_B[i][k] : 0;
            json_array_append_new(list, json_integer(live_B + constant_B[k]));
        }
        json_object_set_new(kinds, names[k], list);
    }
    free(held_B);
    return json_pack("{s:I, s:f, s:o, s:o}", "stage",
                     (json_int_t)(f->n_tracks ? f->tracks[track].stage : 0), "end_s",
                     (double)end_ps * 1e-12, "held_bytes", kinds, "phases",
                     phases_of(f, track));
}

/* Use over time --------------------------------------------------------------------- */

static json_t *use_of(const struct step_figures *f)
{
    static const char *const names[USES] = { "gpu", "host", "nic", "nvlink" };
    struct step_usage u;
    figure_step_use(&u, f);
    double length_s = (double)u.end_ps * 1e-12 / STEP_STRETCHES;
    json_t *busy = json_object();
    for (int use = 0; use < USES; use++) {
        json_t *list = json_array();
        for (int i = 0; i < STEP_STRETCHES; i++)
            json_array_append_new(
                list,
                json_real(round(1e4 * fmin(u.busy_s[use][i] / length_s, 1)) / 1e4));
        json_object_set_new(busy, names[use], list);
    }
    return json_pack("{s:f, s:o}", "end_s", (double)u.end_ps * 1e-12, "busy", busy);
}

/* All of it ------------------------------------------------------------------------- */

static void set_text(json_t *data, const struct scenario *s,
                     const struct simulate_result *r,
                     const struct campaign_result *beyond)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n);
    if (!memory)
        return;
    report_step_text(memory, s, r, beyond);
    fclose(memory);
    page_set_text(data, text);
    free(text);
}

json_t *page_step(const struct step_figures *f, const struct scenario *s,
                  const struct simulate_result *r, const struct campaign_result *beyond,
                  const json_t *scenario)
{
    char *title = figure_step_title("A training step", s);
    json_t *result = report_step_json(s, r, beyond);
    json_t *data = page_data("simulate", title, result);
    json_object_set_new(data, "facts", facts_of(s));
    json_object_set_new(data, "timeline", page_timeline(f));
    json_object_set_new(data, "memory", memory_of(f, r));
    json_object_set_new(data, "use", use_of(f));
    set_text(data, s, r, beyond);
    if (scenario)
        json_object_set_new(data, "scenario", json_deep_copy(scenario));
    json_decref(result);
    free(title);
    return data;
}
