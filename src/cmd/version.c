#include "cmd/version.h"

#include "base/fnv.h"
#include "base/release.h"
#include "config/data_version.h"
#include "config/datadir.h"
#include "hardware/instance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The first and the last date of on-demand prices, as text orders them; NULL: none. */
struct price_dates {
    const char *first, *last;
    int32_t instances;
};

static void add_prices(struct price_dates *d, const struct instance *inst)
{
    for (int32_t i = 0; i < inst->n_prices; i++) {
        const char *date = inst->prices[i].date;
        if (!d->first || strcmp(date, d->first) < 0)
            d->first = date;
        if (!d->last || strcmp(date, d->last) > 0)
            d->last = date;
    }
    d->instances++;
}

static void print_prices(void)
{
    struct price_dates d = { NULL, NULL, 0 };
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const char **names = datadir_list(&loader.arena, "topologies/instances");
    for (; *names; names++) { /* without the GPUs and fabrics that they name */
        struct instance inst;
        struct cfg file = datadir_load(&loader, "topologies/instances", *names,
                                       (struct cfg) { NULL, NULL, "" });
        if (cfg_present(file) && instance_read_prices(&inst, file) == 0)
            add_prices(&d, &inst);
    }
    if (d.first)
        printf("prices  newest of %s, oldest of %s (%" PRId32 " instances)\n", d.last,
               d.first, d.instances);
    cfg_loader_release(&loader);
}

void version_print(void)
{
    struct data_version v;
    struct arena arena;
    arena_init(&arena);
    data_version_get(&v, &arena);
    printf("smsim " VERSION_TEXT "\n");
    if (v.files) {
        printf("data    %s\n", v.root);
        printf("        %" PRId64 " files, hash %016" PRIx64 "\n", v.files, v.hash);
        print_prices();
        printf("tables  %" PRId64 " of published measurements\n", v.tables);
    } else {
        printf("data    none in %s (is SMSIM_DATA set rightly?)\n", v.root);
    }
    arena_release(&arena);
}
