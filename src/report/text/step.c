/* What simulate prints of a step; report/text/campaign.c has what lies beyond it. */
#include "base/terminal.h"
#include "base/units.h"
#include "base/xmalloc.h"
#include "model/freeze.h"
#include "model/recipe.h"
#include "report/report.h"
#include "scenario/libraries.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 34, BEFORE_BAR = 54 };

/* Title */

static void print_cluster(FILE *out, const struct cluster *c)
{
    for (int32_t i = 0; i < c->n_groups; i++) {
        char text[160];
        fprintf(out, "%s%s", i ? " + " : "",
                cluster_group_text(c, i, text, sizeof(text)));
    }
    fprintf(out, " (%" PRId64 " x %s%s", (int64_t)c->n_gpus,
            c->groups[0].instance->gpu->name, c->n_groups > 1 ? " and others" : "");
    if (c->groups[0].instance->n_hosts > 1)
        fprintf(out, ", NVLink joins %d", c->groups[0].gpus_per_instance);
    fprintf(out, ")");
}

static void print_degree(FILE *out, const char *name, int64_t degree)
{
    if (degree > 1)
        fprintf(out, ", %s %" PRId64, name, (int64_t)degree);
}

static void print_frozen(FILE *out, const struct lora *l,
                         const struct simulate_result *r)
{
    const char *word;
    fprintf(out, "trained %s of %s parameters (%.3g %%): frozen ",
            units_count_text(UNITS_BUF, (double)r->trained_parameters),
            units_count_text(UNITS_BUF, (double)r->parameters),
            100 * (double)r->trained_parameters / (double)r->parameters);
    char run[64];
    int n = 0;
    for (int32_t i = 0; (word = lora_frozen_word(l->frozen, i)); i++)
        fprintf(out, "%s%s", n++ ? ", " : "", word);
    for (int32_t i = 0; (word = freeze_layers_word(l, i, run, sizeof(run))); i++)
        fprintf(out, "%s%s", n++ ? ", " : "", word);
    fputc('\n', out);
}

static void print_lora(FILE *out, const struct scenario *s,
                       const struct simulate_result *r)
{
    const struct lora *l = &s->training.lora;
    if (!r->trained_parameters)
        return;
    if (l->rank == 0) {
        print_frozen(out, l, r);
        return;
    }
    fprintf(out,
            "trained %s of %s parameters (%.3g %%): adapters of rank %" PRId64
            ", base %s\n",
            units_count_text(UNITS_BUF, (double)r->trained_parameters),
            units_count_text(UNITS_BUF, (double)r->parameters),
            100 * (double)r->trained_parameters / (double)r->parameters, l->rank,
            l->base == LORA_BASE_OPEN
                ? names_of(dtype_names, (int)op_parameter_dtype(s->training.precision))
                : names_of(lora_base_names, (int)l->base));
}

/* How products read fewer than 16 bits. */
static void print_recipe(FILE *out, const struct training *t)
{
    const struct op_recipe *r = op_recipe_of(t->precision);
    if (!r)
        return;
    fprintf(out, "products: %s", r->title);
    if (t->first_16bit + t->last_16bit > 0)
        fprintf(out, "; the first %" PRId64 " and last %" PRId64 " layers in 16 bits",
                t->first_16bit, t->last_16bit);
    for (int i = 0; i < OP_FORMATS; i++)
        if (t->formats.of[i] > 0)
            fprintf(out, "; %s in %s", names_of(op_formatted_names, i),
                    names_of(op_precision_names, t->formats.of[i] - 1));
    fprintf(out, "; parameters held %s\n",
            t->quantized_parameters ? "quantized" : "in 16 bits or more");
}

/* What is assumed of it is printed with what else is. */
static void print_quality(FILE *out, const struct scenario *s)
{
    const struct fabric *f = s->fabric;
    if (!f || assumptions_has(&s->assumed, "/cluster/quality"))
        return;
    fprintf(out, "network: %s", f->state.text);
    if (f->state.factor > 1)
        fprintf(out, ", waits between nodes %.3g times the clean ones",
                f->state.factor);
    fputc('\n', out);
}

static void print_what(FILE *out, const struct scenario *s,
                       const struct simulate_result *r)
{
    const struct training *t = &s->training;
    const struct parallelism *p = &s->parallel;
    fprintf(out, "%s on ", s->model.label);
    print_cluster(out, &s->cluster);
    fprintf(out, "\nbatch %" PRId64 " = micro-batch %" PRId64,
            (int64_t)t->global_batch_size, (int64_t)t->micro_batch_size);
    if (t->microbatches > 1)
        fprintf(out, " x %" PRId64 " microbatches", (int64_t)t->microbatches);
    if (t->accumulation > 1)
        fprintf(out, " x %" PRId64 " accumulated", (int64_t)t->accumulation);
    fprintf(out, " x %" PRId64 " data parallel", (int64_t)p->data);
    print_degree(out, "tensor", p->tensor);
    print_degree(out, "pipeline", p->pipeline);
    print_degree(out, "context", p->context);
    bool pairs = training_sample_sequences(t) > 1;
    fprintf(out, "\n%s %" PRId64 ", %s, %s, %s attention, %s over %s",
            pairs ? "pairs of sequences of" : "sequence", (int64_t)t->sequence_length,
            names_of(op_precision_names, (int)t->precision),
            names_of(optimizer_names, (int)t->optimizer),
            names_of(op_attention_names, (int)t->attention), library_word(p),
            names_of(backend_names, (int)p->reduce.backend));
    if (t->framework)
        fprintf(out, " (%s)", t->framework->name);
    fputc('\n', out);
    print_recipe(out, t);
    print_lora(out, s, r);
    print_quality(out, s);
}

static void print_title(FILE *out, const struct scenario *s,
                        const struct simulate_result *r)
{
    char *text = NULL;
    size_t length;
    FILE *lines = open_memstream(&text, &length);
    if (lines) {
        print_what(lines, s, r);
        fclose(lines);
        report_lines(out, text);
    }
    free(text);
    report_assumed(out, "assumed: ", &s->assumed);
    fputc('\n', out);
}

static void print_speed(FILE *out, const struct simulate_result *r)
{
    char time[UNITS_TEXT_MAX], flops[UNITS_TEXT_MAX], range[UNITS_RANGE_MAX];
    units_time_range_text(range, r->range_s, r->step_time_s);
    fprintf(out, "  step time   %s%s%s (%s, %s)\n",
            terminal_style(out, TERMINAL_STRONG), units_time_text(time, r->step_time_s),
            terminal_style(out, TERMINAL_PLAIN), range,
            names_of(interval_grade_names, (int)r->interval.grade));
    fprintf(out, "  throughput  %s samples/s, %s tokens/s",
            units_number_text(UNITS_BUF, r->samples_per_s, 6),
            units_number_text(UNITS_BUF, r->tokens_per_s, 6));
    if (r->real_tokens_per_s > 0)
        fprintf(out, " (%s without padding)",
                units_number_text(UNITS_BUF, r->real_tokens_per_s, 6));
    fputc('\n', out);
    fprintf(out, "  per GPU     %s, MFU %.1f %%, HFU %.1f %%\n",
            units_flops_text(flops, r->model_flops_per_gpu_s), 100 * r->mfu,
            100 * r->hfu);
    if (r->interval.n_nearest) {
        char row[160];
        const struct interval_cell *c = r->interval.nearest[0];
        snprintf(row, sizeof(row), "%s: %s", c->source, c->row);
        report_wrap(out, "  measured    nearest: ", "              ", row);
    }
}

/* Rows with bars */

static void print_bar(FILE *out, double share, char fill)
{
    int room = terminal_width(out) - BEFORE_BAR, bar = room < BAR ? room : BAR;
    int n = (int)lround(fmin(fmax(share, 0), 1) * bar);
    if (n == 0 && share > 0.002)
        n = 1;
    if (n)
        fputs("  ", out);
    for (int i = 0; i < n; i++)
        fputc(fill, out);
    fputc('\n', out);
}

const char *const report_part_texts[CATEGORY_N] = {
    [CATEGORY_COMPUTE] = "compute",
    [CATEGORY_RECOMPUTE] = "recomputation",
    [CATEGORY_REFERENCE] = "reference's forward",
    [CATEGORY_TENSOR_COMM] = "tensor-parallel communication",
    [CATEGORY_PIPELINE_COMM] = "pipeline communication",
    [CATEGORY_PIPELINE_BUBBLE] = "pipeline bubble",
    [CATEGORY_CONTEXT_COMM] = "context-parallel communication",
    [CATEGORY_EXPERT_COMM] = "expert communication",
    [CATEGORY_DATA_COMM_EXPOSED] = "exposed gradient communication",
    [CATEGORY_DATA_COMM_HIDDEN] = "hidden gradient communication",
    [CATEGORY_OPTIMIZER] = "optimizer",
    [CATEGORY_OFFLOAD_EXPOSED] = "exposed offload",
    [CATEGORY_INPUT_WAIT] = "waiting for input",
    [CATEGORY_OTHER] = "host and waiting",
};

const char *const report_held_texts[LEDGER_KINDS] = {
    [LEDGER_PARAMETERS] = "parameters",         [LEDGER_GRADIENTS] = "gradients",
    [LEDGER_OPTIMIZER] = "optimizer states",    [LEDGER_ACTIVATIONS] = "activations",
    [LEDGER_BUFFERS] = "communication buffers", [LEDGER_WORKSPACE] = "workspace",
};

const char report_context_text[] = "CUDA context";

static void print_part(FILE *out, const struct simulate_result *r, int part, char fill)
{
    char time[UNITS_TEXT_MAX];
    double share = r->step_time_s > 0 ? r->parts_s[part] / r->step_time_s : 0;
    if (r->parts_s[part] <= 0)
        return;
    fprintf(out, "  %-31s %10s %5.1f %%", report_part_texts[part],
            units_time_text(time, r->parts_s[part]), 100 * share);
    print_bar(out, share, fill);
}

static void print_parts(FILE *out, const struct simulate_result *r)
{
    fprintf(out, "\nWhere it goes (critical rank)\n");
    for (int i = 0; i < CATEGORY_N; i++)
        if (i != CATEGORY_DATA_COMM_HIDDEN)
            print_part(out, r, i, '#');
    if (r->parts_s[CATEGORY_DATA_COMM_HIDDEN] >
        0) /* overlapped with compute, not part of the sum */
        print_part(out, r, CATEGORY_DATA_COMM_HIDDEN, '.');
}

/* Memory */

static void print_memory_row(FILE *out, const char *name, int64_t size_B,
                             int64_t capacity_B)
{
    char size[UNITS_TEXT_MAX];
    double share = (double)size_B / (double)capacity_B;
    if (size_B == 0)
        return;
    fprintf(out, "  %-31s %10s %5.1f %%", name, units_bytes_text(size, (double)size_B),
            100 * share);
    print_bar(out, share, '#');
}

static void print_stage(FILE *out, const struct stage_memory *m, int64_t capacity_B)
{
    const int64_t held_B[LEDGER_KINDS] = {
        [LEDGER_PARAMETERS] = m->parameters_B, [LEDGER_GRADIENTS] = m->gradients_B,
        [LEDGER_OPTIMIZER] = m->optimizer_B,   [LEDGER_ACTIVATIONS] = m->activations_B,
        [LEDGER_BUFFERS] = m->buffers_B,       [LEDGER_WORKSPACE] = m->workspace_B,
    };
    for (int k = 0; k < LEDGER_KINDS; k++)
        print_memory_row(out, report_held_texts[k], held_B[k], capacity_B);
    print_memory_row(out, report_context_text, m->framework_B, capacity_B);
}

/* Where the error of predicted memory leaves open whether the job fits. */
static void print_near_limit(FILE *out, const struct memory_result *m)
{
    char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX], text[200];
    if (!m->near_limit)
        return;
    snprintf(text, sizeof(text),
             "near the limit: %s to %s are within the error, so it %s",
             units_bytes_text(low, (double)m->range_B[0]),
             units_bytes_text(high, (double)m->range_B[1]),
             m->fits ? "may not fit, or run slower than predicted" : "may fit");
    report_wrap(out, "  ", "  ", text);
}

/* Which change would make it fit, and what a step takes then. */
static void print_remedies(FILE *out, const struct memory_result *m)
{
    char size[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX], text[400];
    for (int32_t i = 0; i < m->n_remedies; i++) {
        const struct fit_remedy *x = &m->remedies[i];
        snprintf(text, sizeof(text), "%s (%s, %s)", x->sets,
                 units_bytes_text(size, (double)x->peak_B),
                 units_time_text(time, x->step_time_s));
        report_wrap(out, x->near_limit ? "  might fit: " : "  would fit: ", "    ",
                    text);
    }
    if (!m->fits && m->remedies && m->n_remedies == 0)
        report_wrap(
            out, "  ", "  ",
            "neither another attention, recomputation, sharding or micro-batch, nor "
            "two "
            "of them, would make it fit: more GPUs, or degrees that smsim plan finds");
}

static void print_memory(FILE *out, const struct memory_result *m)
{
    char peak[UNITS_TEXT_MAX], capacity[UNITS_TEXT_MAX], rest[UNITS_TEXT_MAX];
    int64_t left_B = m->capacity_B - m->peak_B;
    fprintf(out, "\nMemory%s: %s of %s, ",
            m->n_stages > 1 ? " of the fullest stage" : "",
            units_bytes_text(peak, (double)m->peak_B),
            units_bytes_text(capacity, (double)m->capacity_B));
    units_bytes_text(rest, (double)(left_B < 0 ? -left_B : left_B));
    if (m->fits)
        fprintf(out, "%s left\n", rest);
    else
        fprintf(out, "%sDOES NOT FIT: %s too much%s\n",
                terminal_style(out, TERMINAL_WRONG), rest,
                terminal_style(out, TERMINAL_PLAIN));
    print_near_limit(out, m);
    print_remedies(out, m);
    print_stage(out, &m->stages[m->fullest], m->capacity_B);
    for (int32_t i = 0; m->n_stages > 1 && i < m->n_stages; i++) {
        char name[32];
        snprintf(name, sizeof(name), "stage %d in all", (int)i);
        print_memory_row(out, name, m->stages[i].peak_B, m->capacity_B);
    }
}

/* Cost and use */

static void print_cost(FILE *out, const struct cost_result *c)
{
    if (c->has_price) {
        fprintf(out, "\nCost (prices of %s%s%s)\n", c->price_list ? c->price_list : "",
                c->price_list ? ", " : "", c->price_date);
        char *prices =
            xasprintf("%.2f USD/h, %s USD per step, %s USD per million samples",
                      c->usd_per_hour, units_number_text(UNITS_BUF, c->usd_per_step, 3),
                      units_number_text(UNITS_BUF, c->usd_per_million_samples, 4));
        report_wrap(out, "  ", "    ", prices);
        free(prices);
    } else {
        fprintf(out, "\nCost: no price is known\n");
    }
    if (c->has_job) {
        fprintf(out, "  the job takes %s h",
                units_number_text(UNITS_BUF, c->hours_per_job, 3));
        if (c->has_price)
            fprintf(out, " and %.2f USD", c->usd_per_job);
        fputc('\n', out);
    }
}

static void print_use(FILE *out, const struct simulate_result *r)
{
    fprintf(out, "\nBusy: GPU %.0f %%, host %.0f %%, NIC %.0f %%, NVLink %.0f %%\n",
            100 * r->util_gpu, 100 * r->util_host, 100 * r->util_nic,
            100 * r->util_nvlink);
    fprintf(out, "Simulated at %s fidelity, %s, %" PRIu64 " events\n",
            names_of(fidelity_names, (int)r->network),
            r->folded ? "equal ranks folded" : "every rank", (uint64_t)r->events);
}

static void print_background(FILE *out, const struct background_result *b)
{
    char range[UNITS_RANGE_MAX], alone[UNITS_TEXT_MAX], text[600];
    if (b->n == 0)
        return;
    units_time_range_text(range, b->range_s, b->alone_s);
    snprintf(text, sizeof(text),
             "%.1f %% of the step (%s alone; %s by when their steps begin)",
             100 * b->share, units_time_text(alone, b->alone_s), range);
    report_wrap(out, "  other jobs  ", "              ", text);
    for (int32_t i = 0; i < b->n; i++) {
        const struct background_job *j = &b->jobs[i];
        snprintf(text, sizeof(text), "%s: steps of %s alone", j->name,
                 units_time_text(alone, j->alone_s));
        report_wrap(out, "              ", "                ", text);
    }
}

void report_step_text(FILE *out, const struct scenario *s,
                      const struct simulate_result *r,
                      const struct campaign_result *beyond)
{
    report_verdict_text(out, r);
    print_title(out, s, r);
    print_speed(out, r);
    print_background(out, &r->background);
    print_parts(out, r);
    print_memory(out, &r->memory);
    print_cost(out, &r->cost);
    if (beyond)
        report_campaign_text(out, beyond);
    print_use(out, r);
    if (r->n_warnings)
        fputc('\n', out);
    for (int32_t i = 0; i < r->n_warnings; i++)
        report_diag(out, "warning: ", &r->warnings[i]);
}
