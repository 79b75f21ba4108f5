#include "simulate/judge.h"

#include "base/finite.h"

/* clang-format off */
#define R struct simulate_result
static const struct finite_field numbers[] = {
    FINITE_ROW(R, step_time_s), FINITE_ROW(R, samples_per_s), FINITE_ROW(R, tokens_per_s),
    FINITE_ROW(R, model_flops_per_gpu_s), FINITE_ROW(R, mfu), FINITE_ROW(R, hfu),
    FINITE_ROW(R, cost.usd_per_hour), FINITE_ROW(R, cost.usd_per_step),
    FINITE_ROW(R, cost.usd_per_million_samples), FINITE_ROW(R, cost.usd_per_job),
    FINITE_ROW(R, cost.hours_per_job),
    FINITE_ROW(R, layer.forward_s), FINITE_ROW(R, layer.backward_s),
    FINITE_ROW(R, util_gpu), FINITE_ROW(R, util_host), FINITE_ROW(R, util_nic),
    FINITE_ROW(R, util_nvlink),
    FINITE_ROW(R, range_s[0]), FINITE_ROW(R, range_s[1]),
    { NULL, 0, false },
};
#undef R
/* clang-format on */

int judge_numbers(const struct simulate_result *r, struct err *err)
{
    for (int i = 0; i < CATEGORY_N; i++)
        if (finite_one("breakdown_s/", names_of(category_names, i), r->parts_s[i], err))
            return -1;
    return finite_check(numbers, r, "", err);
}

static struct diag copy(struct arena *arena, const struct diag *d)
{
    struct diag to = *d;
    const char **texts[] = { &to.file, &to.set, &to.pointer, &to.text, &to.mend };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (*texts[i])
            *texts[i] = arena_strdup(arena, *texts[i]);
    return to;
}

/* What reading the scenario warned of comes before what simulating it did. */
static void add_warnings(struct simulate_result *r, struct arena *arena,
                         const struct diags *d)
{
    struct diag *all =
        ARENA_ARRAY(arena, d->n_warnings + r->n_warnings + 1, struct diag);
    int32_t n = 0;
    for (int64_t i = 0; i < d->n; i++)
        if (d->v[i].severity == DIAG_WARNING)
            all[n++] = copy(arena, &d->v[i]);
    for (int32_t i = 0; i < r->n_warnings; i++)
        all[n++] = r->warnings[i];
    r->warnings = all;
    r->n_warnings = n;
}

int judge(struct simulate_result *r, struct arena *arena,
          const struct interval_table *table, const struct diags *diags,
          const struct scenario *s, struct err *err)
{
    struct memory_result *m = &r->memory;
    interval_judge(r, table, diags, s);
    interval_range(&r->interval, r->step_time_s, r->range_s);
    interval_memory_range(m->peak_B, m->range_B);
    m->near_limit = interval_memory_is_near(m->peak_B, m->capacity_B);
    add_warnings(r, arena, diags);
    return judge_numbers(r, err);
}
