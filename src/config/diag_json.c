/* Findings as JSON, and back. */
#include "config/contract.h"
#include "config/diag.h"

#include <string.h>

static json_t *code(const void *d)
{
    return json_string(diag_codes[((const struct diag *)d)->code].name);
}

static json_t *severity(const void *d)
{
    return json_string(diag_severity_names[((const struct diag *)d)->severity]);
}

/* Each code with its meaning, but for the one of no code. */
static json_t *code_schema(void)
{
    json_t *list = json_array();
    for (int i = DIAG_INVALID + 1; i < DIAG_CODES; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "const", diag_codes[i].name,
                                              "description", diag_codes[i].meaning));
    return json_pack("{s:o}", "anyOf", list);
}

static json_t *severity_schema(void)
{
    json_t *list = json_array();
    for (int i = DIAG_ERROR; i <= DIAG_NOTE; i++)
        json_array_append_new(list, json_string(diag_severity_names[i]));
    return json_pack("{s:o}", "enum", list);
}

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_MADE("code", TEXT, code, "What it is about.", .schema = code_schema),
    CONTRACT_MADE("severity", TEXT, severity, "How bad it is.", .schema = severity_schema),
    CONTRACT_AT("pointer", TEXT, diag, pointer, "JSON pointer of the value.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("file", TEXT, diag, file, "The file that it is in.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("line", COUNT, diag, line, "From 1.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("column", COUNT, diag, column, "From 1.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("cell", COUNT, diag, cell, "Of a notebook, from 1.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("set", TEXT, diag, set, "Pointer of the --set that gave the value.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("text", TEXT, diag, text, "What is wrong; for people."),
    CONTRACT_AT("mend", TEXT, diag, mend, "What to do about it; for people.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_END,
};
/* clang-format on */
const struct contract_object diag_contract = { "finding", rows };

static void drop_empty(const char **text)
{
    if (*text && !**text)
        *text = NULL;
}

json_t *diag_json(const struct diag *d)
{
    struct diag x = *d;
    drop_empty(&x.pointer);
    drop_empty(&x.file);
    drop_empty(&x.set);
    drop_empty(&x.text);
    drop_empty(&x.mend);
    return contract_json(&diag_contract, &x);
}

json_t *diags_json(const struct diags *d)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < d->n; i++)
        if (d->v[i].severity == DIAG_WARNING)
            json_array_append_new(list, diag_json(&d->v[i]));
    return list;
}

static const char *text_at(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

struct diag diag_read_json(const json_t *o)
{
    const char *kind = text_at(o, "severity"), *text = text_at(o, "text");
    bool is_note = kind && strcmp(kind, diag_severity_names[DIAG_NOTE]) == 0;
    return (struct diag) {
        .severity = is_note ? DIAG_NOTE : DIAG_WARNING,
        .file = text_at(o, "file"),
        .line = (int64_t)json_integer_value(json_object_get(o, "line")),
        .column = (int64_t)json_integer_value(json_object_get(o, "column")),
        .cell = (int64_t)json_integer_value(json_object_get(o, "cell")),
        .set = text_at(o, "set"),
        .pointer = text_at(o, "pointer"),
        .text = text ? text : "",
        .mend = text_at(o, "mend"),
    };
}
