/* What a mapping says of a field, and what that comes to for one row of the table.
 *
 * A value is a literal, a string with {COLUMN} in it, or an object
 *     {"expr": "arithmetic over {COLUMN}s", "default": value, "unit": "GiB"}
 *     {"expr": "{machine}/{gpu}", "map": {"DGX-1/V100": value}, "default": value}
 * where the map is looked up by the text of "expr" with the cells filled in: by the
 * very text, else by the first key that is alike or that matches (map_key.h). "default"
 * applies where a cell is empty or the map has no such key; it and the map's values
 * may be any of these again. How cells write numbers is cell_read's. A string that is
 * one {COLUMN} and nothing else is null (absent) where the cell is empty. Objects and
 * arrays are resolved member by member. */
#ifndef VALIDATION_VALUE_H
#define VALIDATION_VALUE_H

#include "validation/column.h"

/* Reports unknown columns, bad arithmetic and misplaced keys within a value; -1
 * then. */
int mapping_check(struct cfg value, const struct csv *csv);

/* The same for a string that is a template (column_fill), or arithmetic. */
int mapping_check_text(struct cfg value, const struct csv *csv);
int mapping_check_number(struct cfg value, const struct csv *csv);

/* The value for a row, as a new reference; NULL with err set when a cell is empty or no
 * number where one is needed, or has no entry in a map. */
json_t *mapping_resolve(json_t *value, struct value_row row, struct err *err);

/* A number that was measured. Here a string is arithmetic, too; a cell that says "OOM"
 * makes it out of memory, and one that is empty makes it nothing. */
enum value_state { VALUE_GIVEN, VALUE_EMPTY, VALUE_OOM };

/* `number` counts where the state is VALUE_GIVEN. -1 with err set. */
int mapping_number(json_t *value, struct value_row row, enum value_state *state,
                   double *number, struct err *err);

#endif
