/* smsim list: what there is to name in a scenario, a line each. */
#include "cmd/cmd.h"
#include "cmd/options.h"

#include "base/strbuf.h"
#include "base/terminal.h"
#include "base/units.h"
#include "config/datadir.h"
#include "hardware/instance.h"
#include "model/hub.h"
#include "model/model.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Appends the one-line summary of a name; -1 when its file has errors. */
typedef int summary_fn(struct strbuf *out, struct cfg_loader *loader, const char *name);

static const struct cfg NOWHERE = { NULL, NULL, "" };

static int gpu_summary(struct strbuf *out, struct cfg_loader *loader, const char *name)
{
    const struct gpu *g = gpu_get(loader, name, NOWHERE);
    char memory[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX], peak[UNITS_TEXT_MAX];

    if (!g)
        return -1;

    enum dtype t = g->peak_flops[DTYPE_FP16] > 0 ? DTYPE_FP16 : DTYPE_FP32;

    strbuf_printf(out, "%s at %s, %s %s", units_bytes_text(memory, (double)g->memory_B),
                  units_rate_text(rate, g->hbm_Bps), names_of(dtype_names, (int)t),
                  units_flops_text(peak, g->peak_flops[t]));
    if (g->by_rule)
        strbuf_addstr(out, "; by data sheet");
    else if (g->provenance_kind == PROVENANCE_INFERRED)
        strbuf_addstr(out, "; inferred");
    return 0;
}

static int instance_summary(struct strbuf *out, struct cfg_loader *loader,
                            const char *name)
{
    const struct instance *inst = instance_get(loader, name, NOWHERE);

    if (!inst)
        return -1;

    const struct instance_price *p = instance_price_newest(inst, "ec2");
    const double network = instance_network_Bps(inst);

    strbuf_printf(out, "%2d x %-16s", inst->n_gpus, inst->gpu->name);
    if (network > 0)
        strbuf_printf(out, "%5g Gb/s ", network * 8 / 1e9);
    else
        strbuf_printf(out, "%10s ", "alone");
    if (p)
        strbuf_printf(out, "%8.4f USD/h EC2 %.7s", p->usd_per_hour, p->date);
    else
        strbuf_addstr(out, "no price");
    return 0;
}

static int fabric_summary(struct strbuf *out, struct cfg_loader *loader,
                          const char *name)
{
    const struct fabric *f = fabric_get(loader, name, NOWHERE);

    if (!f)
        return -1;
    strbuf_printf(out, "%s, %s; %.0f %% of line rate",
                  names_of(fabric_kind_names, (int)f->kind),
                  f->software ? f->software : "any software", 100 * f->efficiency);
    return 0;
}

/* Of what model_read takes. */
static int named_model(struct strbuf *out, struct cfg_loader *loader, struct cfg value)
{
    static const struct name_value stacks[] = {
        { "encoder", MODEL_ENCODER },
        { "decoder", MODEL_DECODER },
        { "encoder-decoder", MODEL_ENCODER_DECODER },
        { NULL, 0 },
    };
    struct model m;

    if (!cfg_present(value) || model_read(&m, loader, value))
        return -1;

    const double n = (double)model_parameters(&m);

    strbuf_printf(out, "%s %s, %.4g%c parameters", m.family,
                  names_of(stacks, (int)m.arch), n < 1e9 ? n / 1e6 : n / 1e9,
                  n < 1e9 ? 'M' : 'B');
    return 0;
}

static int model_summary(struct strbuf *out, struct cfg_loader *loader,
                         const char *name)
{
    return named_model(out, loader, datadir_load(loader, "models", name, NOWHERE));
}

static int id_summary(struct strbuf *out, struct cfg_loader *loader, const char *name)
{
    json_t *word = json_string(name);
    return named_model(out, loader, cfg_from_tree(loader, "list", word));
}

static int summary_of(struct strbuf *out, struct cfg_loader *loader, const char *dir,
                      const char *name, const char *key)
{
    struct cfg file = datadir_load(loader, dir, name, NOWHERE);
    struct cfg c = cfg_get(file, key);
    const char *text;

    if (!cfg_is_object(file))
        return -1;
    if (cfg_is_string(c) && cfg_string(c, &text) == 0)
        strbuf_addstr(out, text);
    return 0;
}

static int scenario_summary(struct strbuf *out, struct cfg_loader *loader,
                            const char *name)
{
    return summary_of(out, loader, "scenarios", name, "comment");
}

static int sweep_summary(struct strbuf *out, struct cfg_loader *loader,
                         const char *name)
{
    return summary_of(out, loader, "scenarios/sweeps", name, "comment");
}

static int framework_summary(struct strbuf *out, struct cfg_loader *loader,
                             const char *name)
{
    return summary_of(out, loader, "models/frameworks", name, "summary");
}

/* Ids of the hub; NULL ends the list. */
static const char **list_ids(struct cfg_loader *loader)
{
    int64_t n, k = 0;
    const struct hub_id *ids = hub_ids(loader, &n);
    const char **names = ARENA_ARRAY(&loader->arena, n + 1, const char *);
    for (int64_t i = 0; i < n; i++)
        if (!ids[i].alias)
            names[k++] = ids[i].name;
    return names;
}

static const char **list_families(struct cfg_loader *loader)
{
    const char *why;
    int64_t n = 0, refused = 0;
    while (model_family(n))
        n++;
    while (model_refused(refused, &why))
        refused++;
    const char **names = ARENA_ARRAY(&loader->arena, n + refused + 1, const char *);
    for (int64_t i = 0; i < n; i++)
        names[i] = model_family(i);
    for (int64_t i = 0; i < refused; i++)
        names[n + i] = model_refused(i, &why);
    return names;
}

/* How many ids are of it, with the first; or why it is refused. */
static int family_summary(struct strbuf *out, struct cfg_loader *loader,
                          const char *name)
{
    int64_t n, count = 0;
    const struct hub_id *ids = hub_ids(loader, &n), *first = NULL;
    const char *refused, *why;
    for (int64_t i = 0; (refused = model_refused(i, &why)); i++)
        if (strcmp(refused, name) == 0) {
            strbuf_printf(out, "refused: %s", why);
            return 0;
        }
    for (int64_t i = 0; i < n; i++)
        if (ids[i].family && !ids[i].alias && strcmp(ids[i].family, name) == 0) {
            first = first ? first : &ids[i];
            count++;
        }
    if (first)
        strbuf_printf(out, "%" PRId64 " id%s: %s%s", count, units_plural(count),
                      first->name, count == 1 ? "" : ", ...");
    else
        strbuf_addstr(out, "by its config.json");
    return 0;
}

static const struct kind {
    const char *name, *dir;
    summary_fn *summary;
    const char **(*names)(struct cfg_loader *loader); /* NULL: files of dir */
} kinds[] = {
    { "models", "models", model_summary, NULL },
    { "ids", "models/hub", id_summary, list_ids },
    { "families", "models/hub", family_summary, list_families },
    { "gpus", "topologies/gpus", gpu_summary, NULL },
    { "instances", "topologies/instances", instance_summary, NULL },
    { "scenarios", "scenarios", scenario_summary, NULL },
    { "fabrics", "topologies/fabrics", fabric_summary, NULL },
    { "frameworks", "models/frameworks", framework_summary, NULL },
    { "sweeps", "scenarios/sweeps", sweep_summary, NULL },
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const struct kind *find_kind(const char *name)
{
    for (int i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

/* All lines, or none when any file has errors. */
static int list(const struct kind *kind, struct cfg_loader *loader, struct strbuf *out)
{
    const char **names =
        kind->names ? kind->names(loader) : datadir_list(&loader->arena, kind->dir);
    int width = 0, rc = 0;

    for (int i = 0; names[i]; i++)
        width = (int)strlen(names[i]) > width ? (int)strlen(names[i]) : width;
    for (int i = 0; names[i]; i++) {
        strbuf_printf(out, "%-*s  ", width, names[i]);
        rc |= kind->summary(out, loader, names[i]);
        strbuf_addch(out, '\n');
    }
    return rc;
}

/* clang-format off */
static const struct option no_options[] = { { .name = NULL } };

static const struct usage usage = {
    .command = "list",
    .arguments = "models|ids|families|gpus|instances|scenarios|fabrics|frameworks|sweeps",
    .summary = "What there is to name in a scenario, a line each. Users add to it by adding "
               "files.",
    .details = "  smsim list instances\n"
               "  smsim list scenarios\n"
               "  smsim list models\n",
    .options = no_options,
    .min_positional = 1,
    .max_positional = 1,
};
/* clang-format on */

static int unknown_kind(const char *word)
{
    struct name_value names[N_KINDS + 1] = { { NULL, 0 } };
    for (int i = 0; i < N_KINDS; i++)
        names[i] = (struct name_value) { kinds[i].name, i };

    const char *near = names_nearest(names, word);

    report_linef(
        stderr,
        "smsim list: \"%.40s\" is none of models, ids, families, gpus, instances, "
        "scenarios, "
        "fabrics, frameworks and sweeps%s%s%s",
        word, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    return EXIT_USAGE;
}

int cmd_list(int argc, char **argv)
{
    struct option_list words = { 0 };
    struct cfg_loader loader;
    struct strbuf out;
    char none;
    int done = options_parse(&usage, argc, argv, &none, &words);

    if (done != OPTIONS_GO_ON)
        return done;

    const struct kind *kind = find_kind(words.values[0]);

    if (!kind)
        return unknown_kind(words.values[0]);
    cfg_loader_init(&loader);
    strbuf_init(&out);

    struct err err = { 0 };
    int rc = datadir_check(&loader.arena, kind->dir, &err);
    if (rc == 0)
        rc = list(kind, &loader, &out);

    if (rc == 0 && terminal_is(stdout)) /* a file has a line each, for grep */
        report_lines(stdout, strbuf_get(&out));
    else if (rc == 0)
        fputs(strbuf_get(&out), stdout);
    strbuf_release(&out);
    if (rc)
        return cmd_fail(&loader, &err);
    cfg_loader_release(&loader);
    return EXIT_DONE;
}
