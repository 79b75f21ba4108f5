/* smsim list: what there is to name in a scenario, a line each. */
#include "cmd/cmd.h"

#include "base/strbuf.h"
#include "config/datadir.h"
#include "hardware/instance.h"

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
    return 0;
}

static int instance_summary(struct strbuf *out, struct cfg_loader *loader,
                            const char *name)
{
    const struct instance *inst = instance_get(loader, name, NOWHERE);

    if (!inst)
        return -1;

    const struct instance_price *p = instance_price_newest(inst, "ec2");

    strbuf_addstr(out, inst->summary);
    if (p)
        strbuf_printf(out, "; %.2f USD/h (EC2, %s)", p->usd_per_hour, p->date);
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
                  f->era ? f->era : "any era", 100 * f->efficiency);
    return 0;
}

/* A text of the file itself, e.g. its model_type. */
static int text_summary(struct strbuf *out, struct cfg_loader *loader, const char *dir,
                        const char *name, const char *key)
{
    struct cfg file = datadir_load(loader, dir, name, NOWHERE);
    const char *text;

    if (!cfg_is_object(file))
        return -1;
    if (cfg_is_string(cfg_get(file, key)) && cfg_string(cfg_get(file, key), &text) == 0)
        strbuf_addstr(out, text);
    return 0;
}

/* The parameter count belongs here, from the model layer's own reader. */
static int model_summary(struct strbuf *out, struct cfg_loader *loader,
                         const char *name)
{
    return text_summary(out, loader, "models", name, "model_type");
}

static int scenario_summary(struct strbuf *out, struct cfg_loader *loader,
                            const char *name)
{
    return text_summary(out, loader, "scenarios", name, "comment");
}

static const struct kind {
    const char *name, *dir;
    summary_fn *summary;
} kinds[] = {
    { "models", "models", model_summary },
    { "gpus", "topologies/gpus", gpu_summary },
    { "instances", "topologies/instances", instance_summary },
    { "scenarios", "scenarios", scenario_summary },
    { "fabrics", "topologies/fabrics", fabric_summary },
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
    const char **names = datadir_list(&loader->arena, kind->dir);
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

int cmd_list(int argc, char **argv)
{
    const struct kind *kind = argc == 2 ? find_kind(argv[1]) : NULL;
    struct cfg_loader loader;
    struct strbuf out;
    int rc = EXIT_DONE;

    if (!kind) {
        fputs("usage: smsim list models|gpus|instances|scenarios|fabrics\n", stderr);
        return EXIT_USAGE;
    }
    cfg_loader_init(&loader);
    strbuf_init(&out);
    if (list(kind, &loader, &out)) {
        diags_print_errors(&loader.diags, stderr);
        rc = EXIT_BAD_INPUT;
    } else {
        fputs(strbuf_get(&out), stdout);
    }
    strbuf_release(&out);
    cfg_loader_release(&loader);
    return rc;
}
