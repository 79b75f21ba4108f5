/* Documents: JSON, YAML and TOML by the dialect that has their keys, and Kubernetes'
 * manifests by the command of their container. */
#include "dialect/launch/launch_document.h"

#include "dialect/dialect.h"
#include "dialect/launch/launch_foreign.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/source/document.h"
#include "dialect/source/manifest.h"
#include "hardware/instance.h"

#include <inttypes.h>
#include <string.h>

enum { GIVEN_MAX = 80 };

/* Dialects ------------------------------------------------------------------------- */

static const struct dialect *dialect_of_document(const struct value *root)
{
    const struct dialect_input in = { .source = DIALECT_DOCUMENT, .root = root };
    return root && root->kind == VALUE_DICT ? dialect_of(&in) : NULL;
}

/* A JSON of other keys is a scenario, or something of its own. */
bool launch_is_document(const char *file)
{
    struct cfg_loader loader;
    if (!document_is(file))
        return false;
    if (!document_is_json(file))
        return true;
    cfg_loader_init(&loader);
    struct cfg root = cfg_load(&loader, file);
    bool known = root.json && dialect_of_document(value_keys_of_json(root));
    cfg_loader_release(&loader);
    return known;
}

bool launch_takes_variables(const char *file)
{
    return launch_is_shell(file) || launch_is_notebook(file) ||
           (document_is(file) && !document_is_json(file));
}

static void take_notes(struct launch *l, const struct document *d)
{
    for (int64_t i = 0; i < d->yaml.notes.n; i++)
        launch_note(l, d->yaml.notes.v[i].line, DIAG_ASSUMED, "%s",
                    d->yaml.notes.v[i].text);
    if (d->yaml.documents.n > 1)
        launch_note(l, d->yaml.documents.v[1]->line, DIAG_LEFT_OUT,
                    "this is the second of %" PRId64 " documents; the first alone is "
                    "taken",
                    d->yaml.documents.n);
}

/* What Weights & Biases keeps of a run (wandb/sdk/wandb_config.py): all arguments, the
 * library's and the model's, with their defaults. */
static bool is_logged(struct launch *l, const struct value *root)
{
    const struct value_item *it = value_get(root, "_wandb");
    it = it ? it : value_get(root, "wandb_version");
    if (it)
        diags_add(
            &l->loader->diags, launch_diag(l, DIAG_UNKNOWN_FORMAT, it->line, 0),
            "%s: this is what Weights & Biases kept of a run (give its script, or "
            "the file of arguments that it was started with)",
            it->key);
    return it != NULL;
}

/* A framework's that is known, and not read. */
static bool is_foreign(struct launch *l, const struct value *root)
{
    const char *what = NULL;
    const struct value_item *it = launch_foreign_document(root, &what);
    if (it)
        diags_add(&l->loader->diags, launch_diag(l, DIAG_NOT_SIMULATED, it->line, 0),
                  "%s: %s", it->key, what);
    return it != NULL;
}

static json_t *take_dialect(struct launch *l, const struct document *d)
{
    struct launch_context t = { .tree = NULL };
    if (is_logged(l, d->root) || is_foreign(l, d->root))
        return NULL;
    const struct dialect *dialect = dialect_of_document(d->root);
    const struct dialect_input in = { .source = DIALECT_DOCUMENT,
                                      .root = d->root,
                                      .estimator = l->named };
    if (!dialect) {
        diags_add(&l->loader->diags, launch_diag(l, DIAG_UNKNOWN_FORMAT, 0, 0),
                  "no dialect has these keys (smsim help dialects; a document of a "
                  "program's own is read with the program that is given it)");
        return NULL;
    }
    launch_begin(&t, l);
    dialect_read(dialect, &t, &in);
    take_notes(l, d);
    return t.tree;
}

/* Manifests ------------------------------------------------------------------------ */

/* Tasks of clouds, whose words a shell runs as they are: nothing else names
 * processes. */
static bool is_plain_task(const char *kind)
{
    static const char *const kinds[] = { "SkyPilot task", "dstack task", NULL };
    return names_listed(kinds, kind);
}

static const struct launch_resolved *resolved_at(const struct launch *l,
                                                 const char *pointer)
{
    for (int64_t i = 0; i < l->resolved.n; i++)
        if (strcmp(l->resolved.v[i].pointer, pointer) == 0)
            return &l->resolved.v[i];
    return NULL;
}

/* What was set for want of a word of the command, as torchrun's default is. */
static bool is_assumed(const struct launch *l, const char *pointer)
{
    const struct launch_resolved *f = resolved_at(l, pointer);
    return !f || strstr(f->from, "default") || strcmp(f->from, "no starter") == 0;
}

static void set_number(struct launch_context *t, const char *pointer, int64_t n,
                       const char *from, int64_t line)
{
    struct value v = { .kind = VALUE_INT, .line = line, .integer = n };
    const struct value_item it = { from, line, &v };
    launch_set(t, pointer, json_integer((json_int_t)n), &it);
}

/* A number that the manifest gives goes before one that the command only assumes. */
static void take_count(struct launch_context *t, const char *pointer, int64_t n,
                       const char *from, int64_t line)
{
    struct launch *l = t->l;
    if (n == 0 || !is_assumed(l, pointer))
        return;
    launch_forget(t, pointer);
    for (int64_t i = l->unresolved.n; i-- > 0;)
        if (strcmp(l->unresolved.v[i].pointer, pointer) == 0) {
            memmove(&l->unresolved.v[i], &l->unresolved.v[i + 1],
                    (size_t)(l->unresolved.n - i - 1) * sizeof(l->unresolved.v[0]));
            l->unresolved.n--;
        }
    set_number(t, pointer, n, from, line);
}

/* A template's number of pods is nobody's but the one's who starts it. */
static void ask_count(struct launch_context *t, const char *pointer, const char *key,
                      const struct manifest_count *c)
{
    if (is_assumed(t->l, pointer) && !launch_is_unresolved(t, pointer)) {
        json_object_del(json_object_get(t->tree, "cluster"), "count");
        launch_add_unresolved(t, pointer, c->line, "%s: \"%.60s\" is no number", key,
                              c->open);
    }
}

/* A pod's GPUs are those of the processes that a starter of the command makes; one process
 * that nothing starts may use one of them, or all. */
static void take_pod_gpus(struct launch_context *t, const struct manifest *m)
{
    static const char gpus_at[] = "/cluster/gpus_per_instance";
    /* Ray starts workers, and what a chart starts is not in its values */
    static const char *const starters[] = { "RayJob", "RayCluster", "Helm values",
                                            NULL };
    const struct launch_resolved *f = resolved_at(t->l, gpus_at);
    if (f && is_plain_task(m->kind) &&
        strcmp(f->from, "--nproc_per_node's default") == 0)
        return;
    if (m->gpus.n < 2 || !f || strcmp(f->from, "no starter") != 0 ||
        names_listed(starters, m->kind)) {
        take_count(t, gpus_at, m->gpus.n, "nvidia.com/gpu", m->gpus.line);
        return;
    }
    int64_t line = f->line;
    launch_forget(t, gpus_at);
    json_object_del(json_object_get(t->tree, "cluster"), "gpus_per_instance");
    launch_add_unresolved(t, gpus_at, line,
                          "no starter: of %" PRId64
                          " GPUs one process has one, unless the program starts "
                          "others (nn.DataParallel, layers on several: not simulated)",
                          m->gpus.n);
    launch_add_example(t, gpus_at, arena_printf(t->arena, "%" PRId64, m->gpus.n));
}

static void take_pods(struct launch *l, const struct manifest *m, json_t *tree)
{
    struct launch_context t = { .l = l, .arena = &l->loader->arena, .tree = tree };
    struct value v = { .kind = VALUE_STRING, .line = m->instance_line };
    const struct value_item it = { "instance-type", m->instance_line, &v };
    if (m->pods.open)
        ask_count(&t, "/cluster/count", "replicas", &m->pods);
    else if (m->pods.line || !launch_is_unresolved(&t, "/cluster/count"))
        take_count(&t, "/cluster/count", m->pods.n,
                   m->pods.line ? "replicas" : "one pod",
                   m->pods.line ? m->pods.line : m->line);
    take_pod_gpus(&t, m);
    if (m->instance && *m->instance != '$' && !launch_has(&t, "/cluster/instance"))
        launch_set(&t, "/cluster/instance", json_string(m->instance), &it);
}

/* Kinds of training operators (Kubeflow's, and that of HyperPod): what
 * they start trains. */
static bool is_operated(const char *kind)
{
    static const char *const kinds[] = { "PyTorchJob", "MPIJob", "TrainJob",
                                         "HyperPodPyTorchJob", NULL };
    return names_listed(kinds, kind);
}

/* Variables of the container, and those that the operator sets: torchrun takes its
 * options from PET_* (torch/distributed/argparse_util.py), which Kubeflow's training
 * operator gives each pod (pkg/controller.v1/pytorch/envvar.go). */
static int32_t variables_of(struct arena *arena, const struct manifest *m,
                            const struct launch_given *given, struct shell_given *out)
{
    static const char *const nodes[] = { "PET_NNODES", "NNODES", "NUM_NODES" };
    static const char *const gpus[] = { "PET_NPROC_PER_NODE", "NPROC_PER_NODE",
                                        "NUM_GPUS" };
    int32_t n = 0;
    const int first = is_plain_task(m->kind) ? 1 : 0; /* PET_* are an operator's */
    for (int i = first; i < 3 && m->pods.line && m->pods.n; i++)
        out[n++] =
            (struct shell_given) { nodes[i], arena_printf(arena, "%" PRId64, m->pods.n),
                                   m->pods.line, false };
    for (int i = first; i < 3 && m->gpus.n; i++)
        out[n++] =
            (struct shell_given) { gpus[i], arena_printf(arena, "%" PRId64, m->gpus.n),
                                   m->gpus.line, false };
    for (int64_t i = 0; i < m->variables.n && n < GIVEN_MAX; i++)
        out[n++] =
            (struct shell_given) { m->variables.v[i].name, m->variables.v[i].value,
                                   m->variables.v[i].line, false };
    for (int32_t i = 0; i < given->n_shell && n < GIVEN_MAX; i++)
        out[n++] = given->shell[i];
    return n;
}

/* Instances and accelerators that are known and not simulated, unless others are given. */
static bool refuse_absent(struct launch *l, const struct manifest *m)
{
    const char *const names[] = { m->instance, m->device };
    for (size_t i = 0; i < 2 && !l->gpus; i++) {
        const char *plain = names[i] ? instance_plain_name(names[i]) : NULL,
                   *why = plain ? instance_absent(l->loader, plain) : NULL;
        if (!why)
            continue;
        diags_add(&l->loader->diags, launch_diag(l, DIAG_UNSUPPORTED, m->line, 0),
                  "%.60s is not simulated: %s (give --set /cluster/instance=NAME)",
                  plain, why);
        return true;
    }
    return false;
}

static json_t *take_manifest(struct launch *l, const struct manifest *m,
                             const struct launch_given *given)
{
    struct shell_given variables[GIVEN_MAX];
    struct launch_given with = *given;
    if (m->other) {
        diags_add(&l->loader->diags, launch_diag(l, DIAG_NOT_SIMULATED, m->line, 0),
                  "the container asks for %s, which is not simulated (give a job on "
                  "NVIDIA's GPUs)",
                  m->other);
        return NULL;
    }
    if (refuse_absent(l, m))
        return NULL;
    if (!m->shell) {
        diags_add(&l->loader->diags, launch_diag(l, DIAG_UNRESOLVED, m->line, 0),
                  "the container of this %s has no command (give its training script "
                  "instead)",
                  m->kind);
        return NULL;
    }
    l->operated = is_operated(m->kind);
    with.shell = variables;
    with.n_shell = variables_of(&l->loader->arena, m, given, variables);
    l->what = "the manifest";
    const char *where = l->where, *slash = strrchr(where, '/');
    if (m->within)
        l->where = arena_printf(&l->loader->arena, "%.*s%s/task",
                                (int)(slash ? slash - where + 1 : 0), where, m->within);
    json_t *tree = launch_read_shell(l, m->shell, strlen(m->shell), &with);
    l->where = where;
    if (tree)
        take_pods(l, m, tree);
    return tree;
}

/* Arguments of a command ----------------------------------------------------------- */

static json_t *take_script(struct launch *l, const struct document *d, const char *text,
                           const struct launch_given *given)
{
    const char *program = strstr(text, "srun ");
    l->what = "the file of arguments";
    l->title = "arguments of a command: read, not run";
    l->line = 1;
    json_t *tree = launch_read_shell(l, text, strlen(text), given);
    launch_note(
        l, 1, DIAG_ASSUMED,
        "the file names no program: its arguments are taken to be those of %.*s",
        (int)strcspn(program ? program : text, "\\\n"), program ? program : text);
    take_notes(l, d);
    return tree;
}

/* Any of them ---------------------------------------------------------------------- */

struct cfg launch_read_document(struct launch *l, const char *text, size_t len,
                                const struct launch_given *given)
{
    struct document d;
    struct manifest m = { .kind = NULL };
    json_t *tree = NULL;
    document_read(&d, l->loader, l->file, text, len, "what trains nothing");
    if (d.yaml.documents.n == 1)
        d.root = launch_compose(l, d.yaml.documents.v[0]);
    manifest_read(&m, &l->loader->arena, d.yaml.documents.v, d.yaml.documents.n);
    const char *script =
        d.root ? dialect_script_of(&l->loader->arena, d.root, l->file) : NULL;
    if (m.kind)
        tree = take_manifest(l, &m, given);
    else if (script)
        tree = take_script(l, &d, script, given);
    else if (d.root)
        tree = take_dialect(l, &d);
    manifest_release(&m);
    document_release(&d);
    return tree ? cfg_from_tree(l->loader, l->file, tree) : (struct cfg) { 0 };
}
