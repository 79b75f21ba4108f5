/* Numbers in lines of logs. */
#ifndef LOGS_TEXT_H
#define LOGS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Colours of terminals are taken out, tabs become blanks and other control characters
 * '?'; the new length. */
size_t line_clean(char *text, size_t length);

/* The number at the begin of a text, after blanks, ':', '=' and quotes: "1,234.5", "7e3";
 * with `human`, "11.5K" too. -1 where there is none, or none that is finite and within
 * 1e18. *end, where not NULL, is what follows. */
int line_number(const char *at, bool human, double *v, const char **end);

/* The number that ends at a place of the line, as before its unit: "340.5" of "340.5 ms".
 * -1 where there is none that is positive. */
int line_before(const char *line, const char *end, double *v);

/* What follows a key that begins a word of the line; NULL: it is not there. */
const char *line_after(const char *line, const char *key);

/* The number after a key; -1 where the line has none. */
int line_value(const char *line, const char *key, bool human, double *v);

/* The rank that a launcher names before a line: "[rank3]:", "[default3]:", "3: ",
 * "[1,mpirank:3,algo-1]<stdout>:", "[1,3]<stdout>:". -1: none. */
int64_t line_rank(const char *line);

/* Copies a word or text of a log, cut and without control characters. */
void line_keep(char *out, size_t size, const char *from, size_t length);

#endif
