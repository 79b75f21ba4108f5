/* Reading a journal's file: what it holds, or why it is none of ours. */
#ifndef SWEEP_SWEEP_SCAN_H
#define SWEEP_SWEEP_SCAN_H

#include "sweep/sweep_journal.h"

/* The JSON of a journal's first line; the caller frees it. */
char *sweep_scan_header(const struct sweep *s);

/* Where a record is that begins at that byte; file is 1 + index. */
struct journal_place sweep_scan_place(const char *line, size_t len, int64_t at,
                                      int32_t file);

/* How far a file is read: up to its first record, or to its end. */
enum scan_extent { SCAN_INPUTS, SCAN_ALL };

/* Notes every whole line of the file that was opened last; *end is where they end.
 * Records of points that are not the shard's are passed over. */
int sweep_scan(struct sweep_journal *j, const char *path, const char *header,
               enum scan_extent extent, int64_t *end, struct err *err);

#endif
