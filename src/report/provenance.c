#include "report/provenance.h"

#include "base/strbuf.h"
#include "report/figure/written.h"
#include "scenario/libraries.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void provenance_init(struct provenance *p, struct arena *arena)
{
    *p = (struct provenance) { .arena = arena };
}

/* Keeps a text that all have, else none. */
static void keep(const struct provenance *p, const char **kept, const char *text)
{
    if (p->n == 0)
        *kept = arena_strdup(p->arena, text);
    else if (*kept && strcmp(*kept, text) != 0)
        *kept = NULL;
}

/* First and last year of "2021-2025"; false: it is no such span. */
static bool span_of(const char *date, int year[2])
{
    int n = 0;
    return date && sscanf(date, "%4d-%4d%n", &year[0], &year[1], &n) == 2 && n == 9 &&
           !date[n];
}

/* Whether a list "a, b" has that item. */
static bool lists(const char *list, const char *item)
{
    size_t n = strlen(item);
    for (const char *at = list; at; at = strstr(at, ", ")) {
        at += at == list ? 0 : 2;
        if (strncmp(at, item, n) == 0 && (!at[n] || at[n] == ','))
            return true;
    }
    return false;
}

static const char *added(struct arena *arena, const char *list, const char *item)
{
    if (lists(list, item))
        return list;
    return list ? arena_printf(arena, "%s, %s", list, item) : arena_strdup(arena, item);
}

void provenance_add_prices(struct provenance *p, bool sagemaker, const char *date)
{
    int have[2], more[2];
    if (strcmp(date, "yours") == 0 || date[0] == '/') { /* --price, /cluster/price */
        p->services = added(p->arena, p->services, "your own");
        return;
    }
    p->services = added(p->arena, p->services, sagemaker ? "SageMaker" : "EC2");
    if (span_of(p->dates, have) && span_of(date, more) && have[0] <= more[1] &&
        more[0] <= have[1]) /* spans that overlap are one */
        p->dates =
            arena_printf(p->arena, "%d-%d", have[0] < more[0] ? have[0] : more[0],
                         have[1] > more[1] ? have[1] : more[1]);
    else
        p->dates = added(p->arena, p->dates, date);
}

static void add_prices(struct provenance *p, const struct cluster *c)
{
    double usd_per_hour;
    const char *date, *missing;
    if (!cluster_price(c, &usd_per_hour, &date, &missing))
        provenance_add_prices(p, c->sagemaker, date);
}

void provenance_add(struct provenance *p, const struct scenario *s)
{
    const struct training *t = &s->training;
    const char *backend =
        written_word(names_of(backend_names, (int)s->parallel.reduce.backend));
    const char *library = written_word(library_word(&s->parallel));
    keep(p, &p->library,
         t->framework ? arena_printf(p->arena, "%s over %s (%s)", library, backend,
                                     t->framework->name)
                      : arena_printf(p->arena, "%s over %s", library, backend));
    keep(p, &p->micro_batch,
         arena_printf(p->arena, "micro-batch %" PRId64, (int64_t)t->micro_batch_size));
    keep(p, &p->precision,
         written_word(names_of(op_precision_names, (int)t->precision)));
    add_prices(p, &s->cluster);
    p->n++;
}

static void add_part(struct strbuf *out, const char *text)
{
    if (text && *text)
        strbuf_printf(out, "%s%s", out->len ? ", " : "", text);
}

static const char *parts_text(const struct provenance *p)
{
    struct strbuf out;
    strbuf_init(&out);
    add_part(&out, p->library);
    add_part(&out, p->micro_batch);
    add_part(&out, p->precision);
    const char *text = arena_strdup(p->arena, strbuf_get(&out));
    strbuf_release(&out);
    return text;
}

const char *provenance_text(const struct provenance *p, bool priced)
{
    const char *parts = parts_text(p);
    bool has_prices = priced && p->services;
    if (*parts)
        parts = arena_printf(p->arena, "Simulated: %s", parts);
    return !has_prices ? parts
                       : arena_printf(p->arena, "%s%s of %s%s%s", parts,
                                      *parts ? "; prices" : "Prices", p->services,
                                      p->dates ? ", " : "", p->dates ? p->dates : "");
}

const char *provenance_of(const struct scenario *s, struct arena *arena)
{
    struct provenance p;
    provenance_init(&p, arena);
    provenance_add(&p, s);
    return parts_text(&p);
}
