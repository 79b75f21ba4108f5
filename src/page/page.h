/* Results as one page of HTML that needs nothing else: no network, no other file. Data
 * is JSON inside it, which the page's own script (web/) draws.
 *
 * Files of this folder:
 *     page, palette: the page around its data; colours by meaning
 *     step, timeline: the data of a simulated step
 *     web/: the style and the scripts, which the Makefile makes strings of
 *
 * All text of the data is inert: "<" is written as \u003c, and the scripts put text into
 * the page as text alone. Two equal runs give the same bytes. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "base/err.h"

#include <jansson.h>
#include <stdio.h>

#define PAGE_SCHEMA "urn:smsim:page:1"

/* The data of a page: `kind` is the command's name, `result` what its --json writes.
 * More members may be set; the caller releases it. */
json_t *page_data(const char *kind, const char *title, json_t *result);

/* What a command printed, as member "text". */
void page_set_text(json_t *data, const char *text);

/* The page; with `live` the scripts of smsim serve, too. */
void page_print(FILE *out, const json_t *data, bool live);

/* The same into a file; a path that ends in ".json" gets the data alone. Takes the
 * reference to data. */
int page_write(json_t *data, const char *path, struct err *err);

#endif
