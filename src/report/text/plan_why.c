/* Why the best plan is the best: where its step goes, and what is one change away. */
#include "report/text/plan.h"

#include "base/units.h"
#include "base/xmalloc.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

enum { ALTERNATIVES_SHOWN = 5 };

static void print_parts(FILE *out, const struct plan_entry *e)
{
    char time[UNITS_TEXT_MAX];
    for (int i = 0; i < CATEGORY_N; i++)
        if (i != CATEGORY_DATA_COMM_HIDDEN && e->result.parts_s[i] > 0)
            fprintf(out, "  %-31s %10s %5.1f %%\n", report_part_texts[i],
                    units_time_text(time, e->result.parts_s[i]),
                    100 * e->result.parts_s[i] / e->result.step_time_s);
}

static void print_sensitivities(FILE *out, const struct plan_report *r)
{
    const struct plan_why *w = r->why;
    fprintf(out, "\nWith more of it, a sample takes\n");
    for (int i = 0; i < PLAN_SENSITIVITIES; i++)
        if (w->sensitivities[i].known)
            fprintf(out, "  %-31s %+6.1f %%\n", w->sensitivities[i].what,
                    100 * (w->sensitivities[i].per_sample - 1));
    if (w->memory < 0)
        return;
    const struct plan_entry *e = &w->alternatives[w->memory].entry;
    char text[300], need[UNITS_TEXT_MAX], first[64];
    snprintf(
        first, sizeof(first), "  %-31s %+6.1f %% ", "GPU memory, enough of it",
        100 * (e->result.step_time_s / r->outcome->entries[0].result.step_time_s - 1));
    char *with =
        xasprintf("(needs %s: %s %s)", units_bytes_text(need, (double)e->result.peak_B),
                  names_of(space_field_names, (int)w->alternatives[w->memory].field),
                  space_value_text(&r->job->space, w->alternatives[w->memory].field,
                                   e->point.v[w->alternatives[w->memory].field], text,
                                   sizeof(text)));
    report_wrap(out, first, "    ", with);
    free(with);
}

static void print_alternative(FILE *out, const struct plan_report *r,
                              const struct plan_alternative *a)
{
    char v[64], time[UNITS_TEXT_MAX], more[UNITS_TEXT_MAX], first[160], text[96];
    const struct plan_result *x = &a->entry.result;
    snprintf(first, sizeof(first), "  %-25s %-11s %10s  ",
             names_of(space_field_names, (int)a->field),
             space_value_text(&r->job->space, a->field, a->entry.point.v[a->field], v,
                              sizeof(v)),
             units_time_text(time, x->step_time_s));
    if (!x->fits)
        snprintf(text, sizeof(text), "needs %s",
                 units_bytes_text(more, (double)x->peak_B));
    else if (x->near_limit && !r->outcome->entries[0].result.near_limit)
        snprintf(text, sizeof(text), "%s may not fit",
                 units_bytes_text(more, (double)x->peak_B));
    else if (a->worse_s > 0)
        snprintf(text, sizeof(text), "%s more %s", units_time_text(more, a->worse_s),
                 report_part_texts[a->worse]);
    else
        snprintf(text, sizeof(text), "no slower");
    report_wrap(out, first, "                              ", text);
}

void plan_why_print(FILE *out, const struct plan_report *r)
{
    const struct plan_why *w = r->why;
    const struct plan_entry *best = &r->outcome->entries[0];
    fprintf(out, "\nWhere the best plan's step goes\n");
    print_parts(out, best);
    fprintf(out, "  what holds it back most: %s\n", report_part_texts[w->bottleneck]);
    print_sensitivities(out, r);
    if (w->n_alternatives)
        fprintf(out, "\nOne change away\n");
    int32_t shown = 0;
    for (int32_t i = 0; i < w->n_alternatives; i++) {
        bool fits = w->alternatives[i].entry.result.fits;
        if (shown < ALTERNATIVES_SHOWN || (!fits && shown < 2 * ALTERNATIVES_SHOWN)) {
            print_alternative(out, r, &w->alternatives[i]);
            shown++;
        }
    }
}
