#include "dialect/source/document.h"

#include "base/names.h"
#include "dialect/source/toml.h"

#include <inttypes.h>
#include <string.h>

static bool ends_with(const char *file, const char *ending)
{
    const char *dot = strrchr(file, '.');
    return dot && strcmp(dot, ending) == 0;
}

/* A template of one keeps its ending: "job.yaml-template", "job.yaml.tmpl". */
static bool is_yaml(const char *file)
{
    static const char *const endings[] = { ".yaml-template", ".yml-template", NULL },
                             *const more[] = { ".template", ".tmpl", ".tpl", NULL };
    const char *dot = strrchr(file, '.');
    size_t n = dot ? (size_t)(dot - file) : 0;
    bool template = dot && names_listed(more, dot);
    if (template)
        return (n >= 5 && strncmp(dot - 5, ".yaml", 5) == 0) ||
               (n >= 4 && strncmp(dot - 4, ".yml", 4) == 0);
    return ends_with(file, ".yaml") || ends_with(file, ".yml") ||
           (dot && names_listed(endings, dot));
}

bool document_is_json(const char *file)
{
    return ends_with(file, ".json");
}

bool document_is(const char *file)
{
    return document_is_json(file) || is_yaml(file) || ends_with(file, ".toml");
}

/* Kubernetes' manifests have $(NAME) and a shell's ${NAME}, no interpolations; so have
 * MODEL_ARGS of Megatron-LM's tests. */
static bool has_variables(const struct value *v)
{
    return (value_get(v, "apiVersion") && value_get(v, "kind")) ||
           value_get(v, "MODEL_ARGS");
}

static void read_yaml(struct document *d, struct arena *arena, const char *text,
                      size_t len, struct err *err)
{
    if (yaml_read(&d->yaml, arena, text, len, err))
        return;
    for (int64_t i = 0; i < d->yaml.documents.n; i++)
        if (!has_variables(d->yaml.documents.v[i]))
            yaml_interpolate(&d->yaml, d->yaml.documents.v[i]);
    if (d->yaml.documents.n == 0)
        err_set_at(err, 1, 1, "the file has no values");
    else
        d->root = d->yaml.documents.v[0];
}

void document_read(struct document *d, struct cfg_loader *loader, const char *file,
                   const char *text, size_t len, const char *what)
{
    struct err err = { 0 };
    *d = (struct document) { .root = NULL };
    if (document_is_json(file)) {
        d->json = cfg_parse(loader, file, text, len);
        if (d->json.json)
            d->root = value_of_json(d->json, DOCUMENT_JSON_VALUES_MAX, what);
        return;
    }
    if (is_yaml(file))
        read_yaml(d, &loader->arena, text, len, &err);
    else
        d->root = toml_read(&loader->arena, text, len, &err);
    if (err.set)
        diags_add(&loader->diags,
                  (struct diag) { .severity = DIAG_ERROR,
                                  .code = DIAG_SYNTAX,
                                  .file = file,
                                  .line = err.line,
                                  .column = err.column },
                  "%s", err.text);
}

void document_release(struct document *d)
{
    yaml_release(&d->yaml);
}
