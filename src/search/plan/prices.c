#include "search/plan/prices.h"

#include "base/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char own_date[] = "yours";

static const char *service_of(const struct space_instance *i)
{
    return instance_is_sagemaker(i->name) ? "sagemaker" : "ec2";
}

/* "32.77" or "32.77USD/h" */
static int read_price(const char *text, double *usd)
{
    const char *why;
    char *end;
    errno = 0;
    *usd = strtod(text, &end);
    if (end != text && !*end && !errno && *usd >= 0 && *usd < 1e9)
        return 0;
    if (units_parse(text, UNIT_USD_PER_HOUR, usd, &why))
        return -1;
    return *usd >= 0 && *usd < 1e9 ? 0 : -1;
}

static int own_price(struct plan_job *job, const char *word)
{
    struct space *s = &job->space;
    const char *eq = strchr(word, '=');
    double usd = 0;
    int found = 0;
    if (!eq || read_price(eq + 1, &usd)) {
        diags_error(&job->loader->diags, DIAG_OUT_OF_RANGE,
                    "--price %s: is no price (write \"p4d.24xlarge=21.96\")", word);
        return -1;
    }
    char *name = arena_strndup(&job->loader->arena, word, (size_t)(eq - word));
    for (int32_t i = 0; i < s->n_instances; i++) {
        struct space_instance *x = &s->instances[i];
        if (strcmp(x->name, name) != 0 &&
            strcmp(instance_plain_name(x->name), instance_plain_name(name)) != 0)
            continue;
        x->usd_per_hour = usd;
        x->has_price = true;
        x->price_date = own_date;
        found++;
    }
    if (found)
        return 0;
    diags_error(&job->loader->diags, DIAG_UNKNOWN_NAME,
                "--price %s: no instance of this plan is called %s", word, name);
    return -1;
}

static const struct instance_price *price_of(const struct space_instance *x,
                                             const char *date)
{
    for (int32_t i = 0; i < x->instance->n_prices; i++) {
        const struct instance_price *p = &x->instance->prices[i];
        if (strcmp(p->service, service_of(x)) == 0 && strcmp(p->date, date) == 0)
            return p;
    }
    return NULL;
}

static bool all_priced(const struct space *s, const char *date)
{
    for (int32_t i = 0; i < s->n_instances; i++)
        if (!s->instances[i].has_price && !price_of(&s->instances[i], date))
            return false;
    return true;
}

/* The newest date of which every instance without a price has one; NULL: none. */
static const char *common_date(const struct space *s)
{
    const char *best = NULL;
    for (int32_t i = 0; i < s->n_instances; i++)
        for (int32_t j = 0; j < s->instances[i].instance->n_prices; j++) {
            const char *date = s->instances[i].instance->prices[j].date;
            if ((!best || strcmp(date, best) > 0) && all_priced(s, date))
                best = date;
        }
    return best;
}

/* Says with which dates prices are compared, when they are several. */
static void note(struct plan_job *job)
{
    struct space *s = &job->space;
    struct strbuf b;
    bool differ = false;
    strbuf_init(&b);
    const char *first = NULL;
    for (int32_t i = 0; i < s->n_instances; i++) {
        const struct space_instance *x = &s->instances[i];
        const char *date = x->has_price ? x->price_date : "unknown";
        strbuf_printf(&b, "%s%s %s", i ? ", " : "", x->name, date);
        differ |= first && strcmp(first, date) != 0;
        first = first ? first : date;
    }
    if (differ)
        job->price_note = arena_printf(
            &job->loader->arena,
            "prices are not of one date (%s): costs of different instances do not "
            "compare; give --price for each",
            strbuf_get(&b));
    strbuf_release(&b);
}

int plan_prices(struct plan_job *job, const struct raw_plan *own)
{
    struct space *s = &job->space;
    for (int32_t i = 0; i < own->n; i++)
        if (own_price(job, own->v[i]))
            return -1;
    const char *date = common_date(s);
    for (int32_t i = 0; i < s->n_instances; i++) {
        struct space_instance *x = &s->instances[i];
        if (x->has_price)
            continue;
        const struct instance_price *p =
            date ? price_of(x, date)
                 : instance_price_newest(x->instance, service_of(x));
        x->has_price = p != NULL;
        if (p) {
            x->usd_per_hour = p->usd_per_hour;
            x->price_date = p->date;
        }
    }
    note(job);
    return 0;
}
