#include "cmd/validate_arena.h"

#include "cmd/cmd.h"
#include "report/arena.h"

void arena_keep_known(struct option_list *names)
{
    struct cfg_loader loader;
    int32_t n = 0;
    cfg_loader_init(&loader);
    for (int32_t i = 0; i < names->n; i++)
        if (rivals_known(&loader, names->values[i]))
            names->values[n++] = names->values[i];
    names->n = n;
    cmd_warn(&loader);
    cfg_loader_release(&loader);
}

/* Tables that are not held out served to fit constants. */
static const char *tuned(const struct mapping *m)
{
    return m->held_out ? NULL
                       : "constants were fitted to this table, or to others of "
                         "the same machine (docs/validation)";
}

int arena_table(struct cfg_loader *loader, const struct mapping_run *run,
                const struct summary *ours, const char *rival, double row_s, bool text,
                json_t *source)
{
    struct rivals r;
    int rc = rivals_load(&r, loader, &loader->arena, run);
    if (rc == 0 && rival)
        rc = rivals_add(&r, loader, &loader->arena, run, rival);
    if (rc)
        return -1;
    const struct arena_side side = { .mapping = run->mapping,
                                     .ours = ours,
                                     .rivals = &r,
                                     .tuned = tuned(run->mapping),
                                     .row_s = row_s };
    if (text)
        report_arena_text(stdout, &side);
    report_rivals_add(source, &r);
    return 0;
}

json_t *arena_claims(bool text)
{
    struct cfg_loader loader;
    struct rival_claims claims;
    cfg_loader_init(&loader);
    rivals_claims(&claims, &loader, &loader.arena);
    if (text)
        report_claims_text(stdout, &claims);
    json_t *list = report_claims_json(&claims);
    cmd_warn(&loader);
    cfg_loader_release(&loader);
    return list;
}
