#include "search/plan/variants.h"

bool plan_variants(const struct space_point *a, const struct space_point *b)
{
    for (int i = 0; i < SPACE_N; i++)
        if (i != SPACE_PLACEMENT && i != SPACE_BUCKET && a->at[i] != b->at[i])
            return false;
    return true;
}

static bool is_variant(const struct plan_entry *entries, int32_t n,
                       const struct plan_entry *e)
{
    for (int32_t i = 0; i < n; i++)
        if (plan_variants(&entries[i].point, &e->point))
            return true;
    return false;
}

int32_t plan_variants_kinds(const struct plan_entry *entries, int32_t n)
{
    int32_t kinds = 0;
    for (int32_t i = 0; i < n; i++)
        kinds += !is_variant(entries, i, &entries[i]);
    return kinds;
}

void plan_variants_drop(struct plan_outcome *out)
{
    int32_t n = 0;
    for (int32_t i = 0; i < out->n_entries; i++)
        if (!is_variant(out->entries, n, &out->entries[i]))
            out->entries[n++] = out->entries[i];
    out->n_variants += out->n_entries - n;
    out->n_entries = n;
}
