/* Meanings by the names that the page's scripts use, and their colours: those of
 * figures (draw/meaning.h). */
#ifndef PAGE_PALETTE_H
#define PAGE_PALETTE_H

#include "draw/meaning.h"

#include <jansson.h>

/* "gradient-comm"; NULL for MEANING_NONE. */
const char *page_meaning_name(enum meaning meaning);

/* A new string: "#rrggbb". */
json_t *page_colour(uint32_t colour);

/* A new object: "#rrggbb" of every meaning by its name. */
json_t *page_palette(void);

#endif
