#include "report/provenance.h"

#include "base/strbuf.h"
#include "scenario/libraries.h"

#include <inttypes.h>
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

static void add_prices(struct provenance *p, const struct cluster *c)
{
    double usd_per_hour;
    const char *date, *missing;
    if (cluster_price(c, &usd_per_hour, &date, &missing)) {
        keep(p, &p->service, "");
        return;
    }
    keep(p, &p->service, c->sagemaker ? "SageMaker" : "EC2");
    if (!p->dates)
        p->dates = arena_strdup(p->arena, date);
    else if (!strstr(p->dates, date))
        p->dates = arena_printf(p->arena, "%s, %s", p->dates, date);
}

void provenance_add(struct provenance *p, const struct scenario *s)
{
    const struct training *t = &s->training;
    const char *backend = names_of(backend_names, (int)s->parallel.reduce.backend);
    const char *library = library_word(&s->parallel);
    keep(p, &p->library,
         t->framework ? arena_printf(p->arena, "%s over %s (%s)", library, backend,
                                     t->framework->name)
                      : arena_printf(p->arena, "%s over %s", library, backend));
    keep(p, &p->micro_batch,
         arena_printf(p->arena, "micro-batch %" PRId64, (int64_t)t->micro_batch_size));
    keep(p, &p->precision, names_of(op_precision_names, (int)t->precision));
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
    bool has_prices = priced && p->service && *p->service;
    if (*parts)
        parts = arena_printf(p->arena, "Simulated: %s", parts);
    return !has_prices
               ? parts
               : arena_printf(p->arena, "%s%s of %s, %s", parts,
                              *parts ? "; prices" : "Prices", p->service, p->dates);
}

const char *provenance_of(const struct scenario *s, struct arena *arena)
{
    struct provenance p;
    provenance_init(&p, arena);
    provenance_add(&p, s);
    return parts_text(&p);
}
