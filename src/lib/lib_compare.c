#include "lib/lib.h"

#include "base/xmalloc.h"
#include "compare/difference.h"
#include "report/difference.h"

#include <stdlib.h>

static struct smsim_difference *make(const struct difference_view *view)
{
    const struct difference *d = view->d;
    struct smsim_difference *out = xcalloc(1, sizeof(*out));
    struct smsim_cause *causes = xcalloc((size_t)d->n_causes, sizeof(*causes));
    json_t *pairs = json_array();
    json_array_append_new(pairs, report_difference_json(view));
    const struct report_differences x = { pairs };
    json_t *tree = contract_result(&report_differences_contract, &x);
    double before_s = d->a.step_s;
    for (int32_t i = 0; i < d->n_causes; i++) {
        causes[i].name = xstrdup(d->causes[i].name);
        causes[i].step_time_s = d->causes[i].after.step_s - before_s;
        before_s = d->causes[i].after.step_s;
    }
    *out = (struct smsim_difference) { d->a.step_s, d->b.step_s, d->n_causes, causes,
                                       lib_json(tree) };
    json_decref(tree);
    json_decref(pairs);
    return out;
}

static struct smsim_difference *run(struct lib_call *c, const struct smsim_job *from,
                                    const struct smsim_job *to)
{
    struct smsim_difference *out = NULL;
    struct difference d = { .own = NULL };
    if (difference_make(&d, &c->loader.arena, &c->loader, from->tree, to->tree,
                        &c->err) == 0) {
        const struct difference_view view = { from->name, to->name, DIFFERENCE_STEP,
                                              &d,         { 0, 0 }, { NULL, NULL } };
        out = make(&view);
    }
    difference_release(&d);
    if (!out)
        return lib_call_fail(c);
    lib_call_end(c);
    return out;
}

struct smsim_difference *smsim_compare(const struct smsim_job *from,
                                       const struct smsim_job *to,
                                       struct smsim_error *error)
{
    struct lib_call c;
    LIB_BEGIN(&c, error, LIB_ALONE)
    return run(&c, from, to);
}

void smsim_difference_free(struct smsim_difference *d)
{
    for (int32_t i = 0; d && i < d->n_causes; i++)
        free((char *)(uintptr_t)d->causes[i].name);
    if (d) {
        free((struct smsim_cause *)(uintptr_t)d->causes);
        free((char *)(uintptr_t)d->json);
    }
    free(d);
}
