/* What rows are relative to the other rows of their group: healthy runs against the best
 * of their job, failures against larger runs that were no failures. */
#ifndef VALIDATION_GROUPS_H
#define VALIDATION_GROUPS_H

#include "validation/run.h"

/* Reads an array of the table's columns, or values made of them; -1 after reporting. */
int groups_read_columns(struct mapping_columns *columns, struct cfg list,
                        const struct csv *csv, struct arena *arena);

/* Reads "healthy" and "outdone", of which either may be absent; -1 after reporting. */
int groups_read_healthy(struct mapping_healthy *h, struct cfg value,
                        const struct csv *csv, struct arena *arena);
int groups_read_outdone(struct mapping_outdone *o, struct cfg value,
                        const struct csv *csv, struct arena *arena);

/* The cells of a row in some columns, and values made of them, joined by ", "; in the
 * arena. */
const char *groups_key(struct arena *arena, const struct csv *csv, int64_t row,
                       const struct mapping_columns *columns);

/* Marks the outcomes of a run that are outlier, and failures that a larger run outdoes.
 * O(rows log rows). */
void groups_judge(struct mapping_run *run, struct arena *arena);

#endif
