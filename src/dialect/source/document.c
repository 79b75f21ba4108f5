#include "dialect/source/document.h"

#include "dialect/source/toml.h"

#include <inttypes.h>
#include <string.h>

static bool ends_with(const char *file, const char *ending)
{
    const char *dot = strrchr(file, '.');
    return dot && strcmp(dot, ending) == 0;
}

static bool is_yaml(const char *file)
{
    return ends_with(file, ".yaml") || ends_with(file, ".yml");
}

bool document_is_json(const char *file)
{
    return ends_with(file, ".json");
}

bool document_is(const char *file)
{
    return document_is_json(file) || is_yaml(file) || ends_with(file, ".toml");
}

/* Kubernetes' manifests have $(NAME) and a shell's ${NAME}, no interpolations. */
static bool is_manifest(const struct value *v)
{
    return value_get(v, "apiVersion") && value_get(v, "kind");
}

static void read_yaml(struct document *d, struct arena *arena, const char *text,
                      size_t len, struct err *err)
{
    if (yaml_read(&d->yaml, arena, text, len, err))
        return;
    for (int64_t i = 0; i < d->yaml.documents.n; i++)
        if (!is_manifest(d->yaml.documents.v[i]))
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
