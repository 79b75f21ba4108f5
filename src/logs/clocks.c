/* Lines of which one alone does not say the time of a step:
 *
 *   LLaMA-Factory's trainer_log.jsonl (train/callbacks.py): the time since the begin, in
 *       whole seconds
 *   modded-nanogpt (train_gpt.py): the time of training so far
 *   litgpt (pretrain.py, finetune/): the time of a pass; "(step)" ends those of a step
 *   DeepSpeed (utils/timer.py): a rate by the batch that it was given, which it does not
 *       say; two lines' times do */
#include "logs/kinds.h"
#include "logs/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOCK_LLAMA_FACTORY, CLOCK_SPEEDRUN, CLOCK_RATES };

/* Steps since a clock was read before become a record, once it went on by `least_s`. One
 * that goes back begins anew. A step that goes back while the clock does not is what
 * another node wrote to the same file, and left out. */
static void read_clock(struct logs *l, struct logs_clock *c, struct logs_record *r,
                       double s, double least_s, int64_t rank)
{
    double went_s = s - c->s;
    int64_t steps = r->step - c->step;
    if (!c->known || went_s < 0) {
        *c = (struct logs_clock) { r->step, s, true };
        return;
    }
    if (steps <= 0 || went_s <= 0 || went_s < least_s)
        return;
    r->time_s = went_s / (double)steps;
    logs_add(l, r, rank);
    *c = (struct logs_clock) { r->step, s, true };
}

/* "0:15:10", "2 days, 16:16:18"; NAN where it is no time. */
static double seconds_of(const char *at)
{
    double days = 0, part[3];
    const char *end;
    at += strspn(at, " :\"");
    if (line_number(at, false, &days, &end) == 0 && strncmp(end, " day", 4) == 0) {
        end += strcspn(end, ",");
        at = end + (*end == ',');
        at += strspn(at, " ");
    } else {
        days = 0;
    }
    for (int i = 0; i < 3; i++) {
        size_t n = strspn(at, "0123456789");
        if (n == 0 || n > 6 || (i < 2 && at[n] != ':'))
            return (double)NAN;
        part[i] = (double)strtol(at, NULL, 10);
        at += n + (i < 2);
    }
    return days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
}

static bool read_llama_factory(struct logs *l, const char *line, int64_t rank)
{
    static const double least_s = 20; /* of whole seconds, 5 % */
    const char *at = line_after(line, "\"elapsed_time\"");
    double step, of, s = at ? seconds_of(at) : (double)NAN;
    if (!isfinite(s) || line_value(line, "\"current_steps\"", false, &step) ||
        line_value(line, "\"total_steps\"", false, &of))
        return false;
    struct logs_record r = logs_record_new(FORMAT_LLAMA_FACTORY);
    r.step = (int64_t)step;
    r.of_steps = (int64_t)of;
    if (strstr(line, "\"eval_loss\""))
        l->events |= LOGS_EVALUATION;
    read_clock(l, &l->clocks[CLOCK_LLAMA_FACTORY], &r, s, least_s, rank);
    return true;
}

static bool read_speedrun(struct logs *l, const char *line, int64_t rank)
{
    double step, ms;
    if (!strstr(line, "step_avg:") || line_value(line, "step:", false, &step) ||
        line_value(line, "train_time:", false, &ms))
        return false;
    struct logs_record r = logs_record_new(FORMAT_SPEEDRUN);
    r.step = (int64_t)step;
    read_clock(l, &l->clocks[CLOCK_SPEEDRUN], &r, ms * 1e-3, 0, rank);
    return true;
}

/* Passes that were all said are summed. Of others, each represents those of its step. */
static bool read_litgpt(struct logs *l, const char *line, int64_t rank)
{
    double ms, pass, step;
    if (line_value(line, "iter time:", false, &ms) || ms <= 0 ||
        line_value(line, "iter", false, &pass) ||
        line_value(line, "step", false, &step))
        return false;
    struct logs_passes *p = &l->passes;
    struct logs_record r = logs_record_new(FORMAT_LITGPT);
    bool ends = strstr(line, "(step)") || strstr(line, "(optimizer.step)");
    bool next = (int64_t)pass == p->pass + 1;
    r.step = (int64_t)step;
    r.time_s = ms * 1e-3;
    p->s = next ? p->s + r.time_s : (double)NAN;
    p->pass = (int64_t)pass;
    if (isfinite(p->s) && ends)
        r.time_s = p->s;
    else
        r.of_pass = true;
    if (ends || !isfinite(p->s))
        logs_add(l, &r, rank);
    if (ends)
        p->s = 0;
    return true;
}

bool logs_read_clocks(struct logs *l, const char *line, int64_t rank)
{
    return read_llama_factory(l, line, rank) || read_speedrun(l, line, rank) ||
           read_litgpt(l, line, rank);
}

/* Of "[2023-04-18 02:33:49,749]", the seconds of the day; NAN: the line has no time. */
static double second_of_day(const char *line)
{
    const char *at = strchr(line, ',');
    int h, m, s, ms;
    char comma;
    for (; at; at = strchr(at + 1, ','))
        if (at - line >= 19 && /* NOLINTNEXTLINE(cert-err34-c): of so few digits */
            sscanf(at - 8, "%2d:%2d:%2d%c%3d", &h, &m, &s, &comma, &ms) == 5)
            return h * 3600 + m * 60 + s + ms * 1e-3;
    return (double)NAN;
}

void logs_clock_rate(struct logs *l, const struct logs_record *r, const char *line)
{
    static const double least_s = 1; /* of milliseconds */
    struct logs_clock *c = &l->clocks[CLOCK_RATES];
    double s = second_of_day(line), went_s = s - c->s;
    int64_t steps = r->step - c->step;
    if (r->rate_of != LOGS_SAMPLES || r->step < 0 || !isfinite(s) ||
        (c->known && steps == 0))
        return;
    if (c->known && steps > 0 && went_s >= least_s && l->n_clocked < LOGS_CLOCKED)
        l->clocked[l->n_clocked++] = r->rate * went_s / (double)steps;
    *c = (struct logs_clock) { r->step, s, true };
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void logs_clock_end(struct logs *l)
{
    enum { ENOUGH = 4 };
    bool of_part = l->formats[FORMAT_DEEPSPEED_CHAT].n_records > 0;
    if (l->global_batch > 0 || l->n_clocked < ENOUGH || of_part)
        return;
    qsort(l->clocked, (size_t)l->n_clocked, sizeof(l->clocked[0]), by_value);
    l->global_batch = fmax(1, round(l->clocked[l->n_clocked / 2]));
    l->batch_by_clock = true;
}
