/* Which tables a kind of file is read by: files are read, and the loader is watched.
 * What the files lack or have wrong does not matter here. */
#include "campaign/campaign.h"
#include "hardware/attention.h"
#include "hardware/experts.h"
#include "hardware/product.h"
#include "hardware/transfer.h"
#include "report/figure/sweep.h"
#include "schema/reference.h"

#include <string.h>

typedef void probe_fn(struct cfg_loader *loader, const char *kind, const json_t *probe);

static const struct cfg NOWHERE = { NULL, NULL, "" };

static void probe_scenario(struct cfg_loader *loader, const char *kind,
                           const json_t *probe)
{
    struct scenario s = { 0 };
    struct campaign c = { .storage = { .given = false } };
    struct cfg root = cfg_from_tree(loader, kind, json_deep_copy(probe));
    if (scenario_read(&s, loader, root) == 0)
        (void)campaign_read(&c, &s);
}

static void probe_sweep(struct cfg_loader *loader, const char *kind,
                        const json_t *probe)
{
    struct sweep sweep;
    (void)kind;
    if (sweep_load(&sweep, loader, json_string_value(probe)) == 0) {
        struct sweep_figures *figures = figure_sweep_new(&sweep);
        (void)figure_sweep_read(figures);
        figure_sweep_free(figures);
    }
    sweep_release(&sweep);
}

static void probe_gpu(struct cfg_loader *loader, const char *kind, const json_t *probe)
{
    (void)kind;
    (void)gpu_get(loader, json_string_value(probe), NOWHERE);
}

static void probe_products(struct cfg_loader *loader, const char *kind,
                           const json_t *probe)
{
    (void)kind;
    (void)products_get(loader, json_string_value(probe), NOWHERE);
}

static void probe_attention(struct cfg_loader *loader, const char *kind,
                            const json_t *probe)
{
    (void)kind;
    (void)attentions_get(loader, json_string_value(probe), NOWHERE);
}

static void probe_transfers(struct cfg_loader *loader, const char *kind,
                            const json_t *probe)
{
    (void)kind;
    (void)transfers_get(loader, json_string_value(probe), NOWHERE);
}

static void probe_experts(struct cfg_loader *loader, const char *kind,
                          const json_t *probe)
{
    (void)kind;
    (void)experts_get(loader, json_string_value(probe), NOWHERE);
}

static void probe_instance(struct cfg_loader *loader, const char *kind,
                           const json_t *probe)
{
    (void)kind;
    (void)instance_get(loader, json_string_value(probe), NOWHERE);
}

static void probe_fabric(struct cfg_loader *loader, const char *kind,
                         const json_t *probe)
{
    (void)kind;
    (void)fabric_get(loader, json_string_value(probe), NOWHERE);
}

static void probe_framework(struct cfg_loader *loader, const char *kind,
                            const json_t *probe)
{
    (void)kind;
    (void)framework_get(loader, json_string_value(probe), NOWHERE);
}

static const struct kind {
    const char *name;
    const char *documents; /* part of the names of the documents whose tables count */
    probe_fn *probe;
} kinds[] = {
    { "scenario", "scenario", probe_scenario },
    { "sweep", "scenarios/sweeps/", probe_sweep },
    { "gpu", "topologies/gpus/", probe_gpu },
    { "products", "topologies/products/", probe_products },
    { "attention", "topologies/attention/", probe_attention },
    { "transfers", "topologies/transfers/", probe_transfers },
    { "experts", "topologies/experts/", probe_experts },
    { "instance", "topologies/instances/", probe_instance },
    { "fabric", "topologies/fabrics/", probe_fabric },
    { "framework", "models/frameworks/", probe_framework },
};

struct watcher {
    struct reference *r;
    const char *documents;
};

static void note_table(void *arg, struct cfg object, const char *name,
                       const struct cfg_field *fields)
{
    const struct watcher *w = arg;
    if (strstr(name, w->documents))
        reference_add_table(w->r, reference_pointer(w->r, object.path), fields);
}

static const struct kind *kind_of(const char *name)
{
    const struct kind *k = kinds;
    while (strcmp(k->name, name) != 0)
        k++;
    return k;
}

void reference_probe(struct reference *r)
{
    const struct kind *kind = kind_of(r->kind);
    const json_t *probes = json_object_get(r->root, "probes"), *probe;
    struct watcher w = { r, kind->documents };
    const struct cfg_watch watch = { .table = note_table, .arg = &w };
    size_t i;
    json_array_foreach(probes, i, probe)
    {
        struct cfg_loader own;
        cfg_loader_init(&own);
        own.watch = &watch;
        kind->probe(&own, kind->name, probe);
        cfg_loader_release(&own);
    }
}
