/* Checks trees against JSON Schemas: the keywords that smsim's own schemas use (type,
 * enum, const, bounds, pattern, lengths, properties, required, additionalProperties,
 * items, anyOf, allOf, $ref into the same schema). Any other keyword is a fault. */
#ifndef UNIT_JSON_SCHEMA_H
#define UNIT_JSON_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

/* Whether the value is as the schema says; `root` is what "#" represents. Where it is
 * not, and `why` is given, what is wrong and where, in 200 bytes. */
bool json_schema_holds(const json_t *root, const json_t *schema, const json_t *value,
                       char why[200]);

#endif
