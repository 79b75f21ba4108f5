/* A scanner of JSON that our own programs wrote and that every run reads: no tree, no
 * places. What a user writes goes through cfg.h.
 *
 *     struct scan s = { text };
 *     if (scan_take(&s, '['))
 *         do sum += scan_number(&s); while (scan_take(&s, ','));
 *     scan_need(&s, ']');
 *
 * Blanks before each thing are skipped. The first thing that is another than asked for
 * sets `bad`; from there on nothing is taken. Strings end in place: the text is changed.
 * O(length). */
#ifndef CONFIG_SCAN_H
#define CONFIG_SCAN_H

#include <stdbool.h>

struct scan {
    char *at; /* ends with NUL */
    bool bad;
};

/* Takes that character if it is next. */
bool scan_take(struct scan *s, char c);

/* The same; bad where it is not next. */
void scan_need(struct scan *s, char c);

/* A number as strtod reads it; 0 where it is none. */
double scan_number(struct scan *s);

/* A string, whose escapes are of one character each; "" where it is none. */
char *scan_string(struct scan *s);

/* A string or null, which is NULL. */
char *scan_string_or_null(struct scan *s);

/* Whether all was taken, and nothing was bad. */
bool scan_is_done(struct scan *s);

#endif
