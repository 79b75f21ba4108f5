/* Which plans trade time against cost or memory: the rows below plan's list. */
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xmalloc.h"
#include "report/report.h"
#include "report/text/plan.h"
#include "search/plan/front.h"

#include <stdlib.h>
#include <string.h>

enum { FRONT_SHOWN = 8 };

/* A plan's text, and what it says between ", ". */
struct front_text {
    char text[364];
};

/* Whether the text has that part, of n characters, between commas. */
static bool has_part(const char *text, const char *part, size_t n)
{
    for (const char *at = text; at; at = strstr(at, ", ")) {
        at += at == text ? 0 : 2;
        if (strncmp(at, part, n) == 0 &&
            (at[n] == '\0' || strncmp(at + n, ", ", 2) == 0))
            return true;
    }
    return false;
}

/* Appends the parts of rows[at] that all rows have, or those that some lack. */
static void add_parts(struct strbuf *b, const struct front_text *rows, int n, int at,
                      bool shared)
{
    const char *part = rows[at].text, *next;
    for (; part; part = next) {
        size_t length = strcspn(part, ",");
        while (part[length] && strncmp(part + length, ", ", 2) != 0)
            length += 1 + strcspn(part + length + 1, ",");
        next = part[length] ? part + length + 2 : NULL;
        bool in_all = true;
        for (int i = 0; i < n; i++)
            in_all = in_all && has_part(rows[i].text, part, length);
        if (in_all == shared)
            strbuf_printf(b, "%s%.*s", strbuf_get(b)[0] ? ", " : "", (int)length, part);
    }
}

static void print_front_row(FILE *out, const struct plan_report *r,
                            const struct plan_entry *e, enum plan_axis axis,
                            const char *text)
{
    char first[64], time[UNITS_TEXT_MAX], value[UNITS_TEXT_MAX];
    double usd = plan_usd_per_million(r, e);
    if (axis != PLAN_AXIS_COST)
        units_bytes_text(value, (double)e->result.peak_B);
    else
        snprintf(value, sizeof(value), usd < 100 ? "%.2f" : "%.0f", usd);
    snprintf(first, sizeof(first), "  %10s %9s  ",
             units_time_text(time, e->result.step_time_s), value);
    report_wrap(out, first, "                          ", text);
}

static void write_text(struct front_text *row, const struct plan_report *r,
                       const struct space_point *point)
{
    char cluster[64];
    int at = snprintf(row->text, sizeof(row->text), "%s, ",
                      plan_point_cluster_text(r->job, point, cluster, sizeof(cluster)));
    plan_point_text(r->job, point, row->text + at, sizeof(row->text) - (size_t)at);
}

static void print_front_head(FILE *out, const struct front_text *rows, int n,
                             enum plan_axis axis)
{
    struct strbuf shared;
    strbuf_init(&shared);
    add_parts(&shared, rows, n, 0, true);
    fprintf(out, "\nTime against %s\n",
            axis == PLAN_AXIS_COST ? "cost (USD per million samples)" : "memory");
    if (strbuf_get(&shared)[0])
        report_wrap(out, "  all: ", "       ", strbuf_get(&shared));
    strbuf_release(&shared);
}

void plan_front_print(FILE *out, const struct plan_report *r, enum plan_axis axis)
{
    const struct plan_outcome *o = r->outcome;
    int32_t *front = xcalloc((size_t)o->n_entries + 1, sizeof(*front));
    int32_t n = plan_front(front, r->job, o, axis);
    int shown = n < 2 ? 0 : n < FRONT_SHOWN ? (int)n : FRONT_SHOWN;
    struct front_text rows[FRONT_SHOWN];
    for (int i = 0; i < shown; i++)
        write_text(&rows[i], r, &o->entries[front[i]].point);
    if (shown)
        print_front_head(out, rows, shown, axis);
    for (int i = 0; i < shown; i++) {
        struct strbuf own;
        strbuf_init(&own);
        add_parts(&own, rows, shown, i, false);
        print_front_row(out, r, &o->entries[front[i]], axis, strbuf_get(&own));
        strbuf_release(&own);
    }
    free(front);
}
