/* Quantities as people write them ("400Gb/s", "40GiB", "17us") and as they are kept
 * inside: SI doubles (seconds, bytes, bytes/s, FLOP/s), sizes in int64_t bytes, and the
 * clock in int64_t picoseconds. All conversion is in this file. b is a bit and B a
 * byte, G is 1e9 and Gi is 2^30. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>

enum unit_kind {
    UNIT_NONE,    /* a plain number; no unit may be written */
    UNIT_BYTES,   /* B KB MB GB TB KiB MiB GiB TiB, and b Kb ... Kib ... */
    UNIT_SECONDS, /* ps ns us ms s min h d */
    UNIT_BYTES_PER_S,
    UNIT_FLOP_PER_S, /* FLOP/s ... PFLOP/s */
    UNIT_HERTZ,      /* Hz kHz MHz GHz */
    UNIT_WATTS,      /* W kW */
    UNIT_USD_PER_HOUR,
};

/* Reads `text` whole into *value, in SI; blanks may surround the number. On failure
 * returns -1, and *why is a predicate of the text that ends in an example that will do:
 * "has no unit (write for example \"40GiB\")". */
int units_parse(const char *text, enum unit_kind kind, double *value, const char **why);

/* A regular expression (POSIX extended, ECMAScript too) for what units_parse reads of a
 * kind; the caller frees it. */
char *units_pattern(enum unit_kind kind);

/* One example of a well-formed quantity of that kind. */
const char *units_example(enum unit_kind kind);

#define UNITS_HOUR_S 3600.0
#define UNITS_DAY_S 86400.0

/* Seconds to the engine's clock, rounded up; values beyond 2^62 ps are clamped. What is
 * a whole number of ps but for the last bits of the double counts as whole, so that
 * 17us is 17000000 ps and units_ps(units_s(t)) == t for |t| < 2^50. */
int64_t units_ps(double seconds);
double units_s(int64_t ps);

/* Short text for people: "1.92 s", "31.4 GiB", "12.5 GB/s", into buf; returns buf. */
#define UNITS_TEXT_MAX 32
char *units_time_text(char buf[UNITS_TEXT_MAX], double seconds);
char *units_bytes_text(char buf[UNITS_TEXT_MAX], double bytes);      /* binary: GiB */
char *units_rate_text(char buf[UNITS_TEXT_MAX], double bytes_per_s); /* decimal: GB/s */
char *units_flops_text(char buf[UNITS_TEXT_MAX], double flop_per_s); /* TFLOP/s */

/* "0.85-1.29": a range around a time, in the unit that its text has. */
#define UNITS_RANGE_MAX (2 * UNITS_TEXT_MAX)
char *units_time_range_text(char buf[UNITS_RANGE_MAX], const double range_s[2],
                            double seconds);

/* A number of so many digits, of more where it has them before its point, and never with
 * an exponent from 1e-6 to 1e15; in millions, billions or trillions. */
char *units_number_text(char buf[UNITS_TEXT_MAX], double value, int digits);
char *units_count_text(char buf[UNITS_TEXT_MAX], double value); /* "8.389 million" */

/* What follows the noun of so many: "" of 1, else "s". */
static inline const char *units_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* A buffer of the moment, for one of these in a call. */
#define UNITS_BUF ((char[UNITS_TEXT_MAX]) { 0 })

/* The same for any kind, as units_parse reads it: exact to six digits. */
char *units_text(char buf[UNITS_TEXT_MAX], enum unit_kind kind, double value);

#endif
