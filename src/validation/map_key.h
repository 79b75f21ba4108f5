/* Keys of a mapping's "map" objects: a text, or a POSIX extended regular expression
 * between slashes, "/^pytorch:19/", in either case of letters. */
#ifndef VALIDATION_MAP_KEY_H
#define VALIDATION_MAP_KEY_H

#include "config/cfg.h"

/* Reports keys that are no regular expression though they are between slashes; -1
 * then. */
int map_key_check(struct cfg map);

/* What a map has for a text: under the very text, else under the first key that is
 * alike (cell_alike) or whose pattern matches; NULL where none is. Borrowed. */
json_t *map_key_find(json_t *map, const char *text);

#endif
