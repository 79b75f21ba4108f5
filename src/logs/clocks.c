/* Lines of which one alone does not say the time of a step:
 *
 *   LLaMA-Factory's trainer_log.jsonl (train/callbacks.py): the time since the begin, in
 *       whole seconds
 *   modded-nanogpt (train_gpt.py): the time of training so far
 *   litgpt (pretrain.py, finetune/): the time of a pass; "(step)" ends those of a step */
#include "logs/kinds.h"
#include "logs/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLOCK_LLAMA_FACTORY, CLOCK_SPEEDRUN };

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
