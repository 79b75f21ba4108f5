/* Lines of tqdm: "  3%|#   | 12/345 [00:07<06:50,  1.23s/it]"; of Lightning's rich bar
 * (progress/rich_progress.py): "Epoch 0/9 --- 12/345 0:00:07 \u2022 0:06:50 1.23it/s". */
#include "logs/kinds.h"
#include "logs/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Words before the percentage of bars that are none of training. */
static const char *const others[] = {
    "Map",       "Load",    "load",   "Token",   "token",    "Eval",        "eval",
    "Valid",     "valid",   "Sanity", "Filter",  "Download", "Generat",     "Sav",
    "Pack",      "Predict", "Test",   "Fetch",   "Prepar",   "Extract",     "Group",
    "Convert",   "Run",     "Comput", "Quantiz", "Shard",    "Build",       "Process",
    "Adding",    "Drop",    "val_",   "Writing", "Upload",   "train_small", "Captur",
    "Rendering", "Infer",   "Decod",  "Encod",   "Embed",    "Scor",        "Rollout",
    "Collect",   "Reading", "Pars",   "Merg",    "Indexing", "Sampling",    "Splitting",
    "Search",    "Batches",
};

static bool is_training(const char *line, const char *percent)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const char *at = strstr(line, others[i]);
        if (at && at < percent)
            return false;
    }
    return true;
}

/* "12/345 " that ends at a bracket. */
static bool read_counts(const char *line, const char *bracket, struct logs_record *r)
{
    const char *at = bracket;
    while (at > line && strchr("0123456789/ ", at[-1]))
        at--;
    double n, of;
    const char *end;
    if (line_number(at, false, &n, &end) || *end != '/' ||
        line_number(end + 1, false, &of, NULL))
        return false;
    r->step = (int64_t)n;
    r->of_steps = (int64_t)of;
    return n >= 0 && of >= n;
}

/* "17:04<", "1:02:03<", to a character that ends it; NAN where it is no time. */
static double elapsed_at(const char *at, char ends)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        size_t n = strspn(at, "0123456789");
        if (n == 0 || n > 6)
            return (double)NAN;
        sum = sum * 60 + (double)strtol(at, NULL, 10);
        at += n;
        if (*at == ends)
            return i > 0 ? sum : (double)NAN;
        if (*at++ != ':')
            return (double)NAN;
    }
    return (double)NAN;
}

/* Two decimals are written. Where they say a slow rate to no better than 2 %, as
 * Lightning's bars do ("0.01it/s"), the bar's own time over its steps is taken. */
static double time_of_rate(double per_second, double elapsed, int64_t step)
{
    static const double exact = 0.25;
    return per_second < exact && elapsed > 0 && step > 0 ? elapsed / (double)step
                                                         : 1 / per_second;
}

/* Lightning's bar counts batches, of which accumulation makes a step; that of NeMo, which
 * has its step, counts steps. */
static bool is_lightning(const char *unit)
{
    return strstr(unit, "v_num") && !strstr(unit, "global_step");
}

/* Ranks that write to one line tear it: what follows of a bar has lost its words, and is
 * of the bar that was left out a line or two before. */
static bool is_torn(const struct logs *l, const struct logs_record *r)
{
    enum { NEAR = 4 };
    int64_t line = l->files.v[l->files.n - 1].n_lines;
    return l->other_bar.of_steps == r->of_steps && line >= l->other_bar.line &&
           line - l->other_bar.line < NEAR;
}

/* The begin of what is written with some characters before a place, and spaces after. */
static const char *before(const char *line, const char *at, const char *of)
{
    while (at > line && at[-1] == ' ')
        at--;
    while (at > line && strchr(of, at[-1]))
        at--;
    return at;
}

/* Counts, the time that passed, a bullet, the time that is left, and a rate. */
static bool read_rich(struct logs *l, const char *line, int64_t rank)
{
    const char *bullet = strstr(line, "\xe2\x80\xa2"),
               *unit = bullet ? strstr(bullet, "it/s") : NULL;
    struct logs_record r = logs_record_new(FORMAT_PROGRESS);
    double v;
    if (!unit || line_before(line, unit, &v) || v <= 0)
        return false;
    const char *passed = before(line, bullet, "0123456789:"),
               *counts = before(line, passed, "0123456789/");
    if (!read_counts(line, passed, &r) || !is_training(line, counts))
        return false;
    r.time_s = time_of_rate(v, elapsed_at(passed, ' '), r.step);
    r.of_pass = is_lightning(unit);
    logs_add(l, &r, rank);
    return true;
}

bool logs_read_progress(struct logs *l, const char *line, int64_t rank)
{
    const char *per_step = strstr(line, "s/it"), *per_second = strstr(line, "it/s"),
               *unit = per_step ? per_step : per_second;
    const char *percent = strstr(line, "%|"), *bracket = NULL;
    struct logs_record r = logs_record_new(FORMAT_PROGRESS);
    double v;
    if (!unit || !percent || percent > unit)
        return read_rich(l, line, rank);
    for (const char *at = percent; at < unit; at++)
        if (*at == '[')
            bracket = at;
    if (!bracket || !read_counts(percent, bracket, &r) || line_before(line, unit, &v))
        return false;
    if (!is_training(line, percent) || is_torn(l, &r)) {
        l->other_bar =
            (struct logs_bar) { l->files.v[l->files.n - 1].n_lines, r.of_steps };
        return false;
    }
    r.time_s = per_step ? v : time_of_rate(v, elapsed_at(bracket + 1, '<'), r.step);
    r.of_pass = is_lightning(unit);
    logs_add(l, &r, rank);
    return true;
}
