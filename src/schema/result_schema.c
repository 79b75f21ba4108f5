/* What a command writes, as a JSON Schema: schemas/results/NAME.json, and what all
 * results share, from the tables of codes and categories. */
#include "config/datadir.h"
#include "run/breakdown.h"
#include "schema/reference.h"

static json_t *closed(json_t *members)
{
    const char *key;
    json_t *member, *required = json_array();
    json_object_foreach(members, key, member)
    {
        json_array_append_new(required, json_string(key));
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", members,
                     "required", required, "additionalProperties", 0);
}

static json_t *either(const char *type)
{
    return json_pack("{s:[s,s]}", "type", "null", type);
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

static json_t *finding_schema(void)
{
    json_t *severities = json_array();
    for (int i = DIAG_ERROR; i <= DIAG_NOTE; i++)
        json_array_append_new(severities, json_string(diag_severity_names[i]));
    return closed(json_pack(
        "{s:o, s:{s:o}, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:s}, s:o}", "code",
        code_schema(), "severity", "enum", severities, "pointer", either("string"),
        "file", either("string"), "line", either("integer"), "column",
        either("integer"), "cell", either("integer"), "set", either("string"), "text",
        "type", "string", "mend", either("string")));
}

static json_t *breakdown_schema(void)
{
    json_t *members = json_object();
    for (const struct name_value *n = category_names; n->name; n++)
        json_object_set_new(members, n->name, either("number"));
    json_t *o = closed(members);
    json_object_set_new(o, "description",
                        json_string("Where the step's time goes; the parts sum to it "
                                    "but for data_comm_hidden."));
    return o;
}

static json_t *assumed_schema(void)
{
    json_t *one =
        closed(json_pack("{s:{s:s}, s:{s:s}, s:o}", "pointer", "type", "string",
                         "value", "type", "string", "why", either("string")));
    return json_pack("{s:s, s:s, s:o}", "type", "array", "description",
                     "What the input leaves open, as it was decided.", "items", one);
}

json_t *result_schema(struct cfg_loader *loader, const char *name)
{
    struct cfg file = datadir_load(loader, "schemas/results", name, (struct cfg) { 0 });
    if (!cfg_present(file))
        return NULL;
    json_t *o = json_deep_copy(file.json), *own = json_object_get(o, "$defs");
    json_t *all = own ? json_incref(own) : json_object();
    json_object_set_new(all, "finding", finding_schema());
    json_object_set_new(all, "breakdown", breakdown_schema());
    json_object_set_new(all, "assumed", assumed_schema());
    json_object_set_new(o, "$defs", all);
    return o;
}
