/* Text of others on a terminal: control characters (C0, DEL, and C1 in UTF-8) could move
 * the cursor, change colours or forge lines. */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Where the first control character is, or the length; with `lines`, tabs and the ends
 * of lines are none. */
size_t plain_length(const char *text, bool lines);

/* Each byte of a control character becomes '?'. */
void plain_make(char *text);

#endif
