#include "base/units.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"

#include <assert.h>
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A unit is worth num / den in SI. Two factors, since 17 / 1e6 is the double nearest to
 * 17 us, and 17 * 1e-6 is not. */
struct unit {
    const char *name;
    double num, den;
};

/* clang-format off */
static const struct unit prefixes[] = {
    { "",  1, 1 },
    { "K",  1e3,  1 }, { "k", 1e3, 1 }, { "M",  1e6,  1 }, { "G",  1e9,  1 },
    { "T",  1e12, 1 }, { "P", 1e15, 1 }, { "E", 1e18, 1 },
    { "Ki", 1024.0, 1 },                 { "Mi", 1048576.0, 1 },
    { "Gi", 1073741824.0, 1 },           { "Ti", 1099511627776.0, 1 },
    { "Pi", 1125899906842624.0, 1 },
    { 0 },
};

static const struct unit times[] = {
    { "ps", 1, 1e12 }, { "ns", 1, 1e9 }, { "us", 1, 1e6 }, { "ms", 1, 1e3 },
    { "s",  1, 1 },    { "min", 60, 1 }, { "h", 3600, 1 }, { "d", 86400, 1 },
    { 0 },
};

/* What a prefix may precede. */
static const struct unit byte_stems[]  = { { "B", 1, 1 }, { "b", 1, 8 }, { 0 } };
static const struct unit rate_stems[]  = { { "B/s", 1, 1 }, { "b/s", 1, 8 },
                                           { "Bps", 1, 1 }, { "bps", 1, 8 }, { 0 } };
static const struct unit flop_stems[]  = { { "FLOP/s", 1, 1 }, { "FLOPS", 1, 1 },
                                           { 0 } };
static const struct unit hertz_stems[] = { { "Hz", 1, 1 }, { 0 } };
static const struct unit watt_stems[]  = { { "W", 1, 1 }, { 0 } };
static const struct unit usd_stems[]   = { { "USD/h", 1, 1 }, { "USD/hour", 1, 1 },
                                           { 0 } };

#define WHYS(EX)                                                            \
    .example = EX,                                                          \
    .no_number = "does not begin with a number (write for example \"" EX "\")", \
    .no_unit = "has no unit (write for example \"" EX "\")",                \
    .bad_unit = "has an unknown unit (write for example \"" EX "\")",       \
    .too_large = "is too large (write for example \"" EX "\")"

static const struct kind {
    const struct unit *stems;
    bool binary, decimal; /* which prefixes they may have */
    const char *example, *no_number, *no_unit, *bad_unit, *too_large;
} kinds[] = {
    [UNIT_NONE]         = { NULL, false, false, WHYS("8") },
    [UNIT_BYTES]        = { byte_stems, true, true, WHYS("40GiB") },
    [UNIT_SECONDS]      = { times, false, false, WHYS("17us") },
    [UNIT_BYTES_PER_S]  = { rate_stems, true, true, WHYS("400Gb/s") },
    [UNIT_FLOP_PER_S]   = { flop_stems, false, true, WHYS("312TFLOP/s") },
    [UNIT_HERTZ]        = { hertz_stems, false, true, WHYS("1410MHz") },
    [UNIT_WATTS]        = { watt_stems, false, true, WHYS("400W") },
    [UNIT_USD_PER_HOUR] = { usd_stems, false, false, WHYS("31.22USD/h") },
};
/* clang-format on */

const char *units_example(enum unit_kind kind)
{
    return kinds[kind].example;
}

static size_t digits(const char *s)
{
    size_t n = 0;
    while (isdigit((unsigned char)s[n]))
        n++;
    return n;
}

/* The length of the decimal number at s, 0 when there is none: strtod alone would also
 * take "inf", "nan" and hexadecimal. */
static size_t number_length(const char *s)
{
    size_t n = *s == '-' || *s == '+';
    size_t whole = digits(s + n), part = 0;
    n += whole;
    if (s[n] == '.') {
        part = digits(s + n + 1);
        n += 1 + part;
    }
    if (whole + part == 0)
        return 0;
    if (s[n] == 'e' || s[n] == 'E') {
        size_t sign = s[n + 1] == '-' || s[n + 1] == '+';
        size_t power = digits(s + n + 1 + sign);
        if (power)
            n += 1 + sign + power;
    }
    return n;
}

static bool prefix_allowed(const struct kind *kind, const struct unit *prefix)
{
    bool binary = strlen(prefix->name) == 2;
    return prefix->name[0] == '\0' || (binary ? kind->binary : kind->decimal);
}

static void add_names(struct strbuf *b, const struct unit *units,
                      const struct kind *kind, bool prefixed)
{
    const char *between = "";
    for (const struct unit *u = units; u->name; u++) {
        if (prefixed && (!u->name[0] || !prefix_allowed(kind, u)))
            continue;
        strbuf_printf(b, "%s%s", between, u->name);
        between = "|";
    }
}

char *units_pattern(enum unit_kind kind)
{
    const struct kind *k = &kinds[kind];
    struct strbuf b;
    strbuf_init(&b);
    strbuf_addstr(&b, "^ *[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?");
    if (k->stems) {
        strbuf_addstr(&b, " *(");
        if (k->binary || k->decimal) {
            add_names(&b, prefixes, k, true);
            strbuf_addstr(&b, ")?(");
        }
        add_names(&b, k->stems, k, false);
        strbuf_addstr(&b, ")");
    }
    strbuf_addstr(&b, " *$");
    char *text = xstrdup(strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

/* Finds the unit of n bytes at s as a prefix and a stem. */
static int unit_find(const struct kind *kind, const char *s, size_t n, double *num,
                     double *den)
{
    for (const struct unit *stem = kind->stems; stem && stem->name; stem++) {
        size_t m = strlen(stem->name);
        if (m > n || strncmp(s + n - m, stem->name, m) != 0)
            continue;
        for (const struct unit *p = prefixes; p->name; p++) {
            if (strlen(p->name) != n - m || strncmp(s, p->name, n - m) != 0 ||
                !prefix_allowed(kind, p))
                continue;
            *num = stem->num * p->num;
            *den = stem->den * p->den;
            return 0;
        }
    }
    return -1;
}

int units_parse(const char *text, enum unit_kind kind, double *value, const char **why)
{
    const struct kind *k = &kinds[kind];
    const char *s = text + strspn(text, " \t");
    size_t n = number_length(s);
    if (n == 0) {
        *why = k->no_number;
        return -1;
    }
    const char *unit = s + n + strspn(s + n, " \t");
    size_t m = strlen(unit);
    while (m > 0 && (unit[m - 1] == ' ' || unit[m - 1] == '\t'))
        m--;
    double num = 1, den = 1;
    if (m == 0 && kind != UNIT_NONE) {
        *why = k->no_unit;
        return -1;
    }
    if (m > 0 && unit_find(k, unit, m, &num, &den)) {
        *why =
            kind == UNIT_NONE ? "takes no unit (write for example \"8\")" : k->bad_unit;
        return -1;
    }
    double v = strtod(s, NULL) * num / den;
    if (!isfinite(v)) {
        *why = k->too_large;
        return -1;
    }
    *value = v;
    return 0;
}

/* To the nearest integer, to even ones in the middle; of what is an integer already,
 * itself. No call: steps round millions of times. */
static double nearest(double x)
{
    static const double shift = 0x1.8p52, exact = 0x1p51;
    if (fabs(x) >= exact)
        return nearbyint(x);
    return (x + shift) - shift;
}

int64_t units_ps(double seconds)
{
    assert(!isnan(seconds));
    if (seconds == 0) /* most of what is asked for */
        return 0;
    const double most = 4611686018427387904.0; /* 2^62 */
    double ps = seconds * 1e12, whole = nearest(ps);
    if (whole < ps && ps - whole > 4 * DBL_EPSILON * fabs(ps))
        whole += 1; /* its ceiling: ps has a fraction */
    return (int64_t)(whole > most ? most : whole < -most ? -most : whole);
}

double units_s(int64_t ps)
{
    return (double)ps / 1e12;
}

/* clang-format off */
static const struct unit bytes_steps[] = {
    { "B", 1, 1 }, { "KiB", 1024.0, 1 }, { "MiB", 1048576.0, 1 },
    { "GiB", 1073741824.0, 1 }, { "TiB", 1099511627776.0, 1 },
    { "PiB", 1125899906842624.0, 1 }, { 0 },
};
static const struct unit rate_steps[] = {
    { "B/s", 1, 1 }, { "KB/s", 1e3, 1 }, { "MB/s", 1e6, 1 }, { "GB/s", 1e9, 1 },
    { "TB/s", 1e12, 1 }, { "PB/s", 1e15, 1 }, { 0 },
};
static const struct unit flop_steps[] = {
    { "FLOP/s", 1, 1 }, { "KFLOP/s", 1e3, 1 }, { "MFLOP/s", 1e6, 1 },
    { "GFLOP/s", 1e9, 1 }, { "TFLOP/s", 1e12, 1 }, { "PFLOP/s", 1e15, 1 },
    { "EFLOP/s", 1e18, 1 }, { 0 },
};
static const struct unit hertz_steps[] = {
    { "Hz", 1, 1 }, { "kHz", 1e3, 1 }, { "MHz", 1e6, 1 }, { "GHz", 1e9, 1 }, { 0 },
};
static const struct unit watt_steps[] = { { "W", 1, 1 }, { "kW", 1e3, 1 }, { 0 } };
static const struct unit usd_steps[]  = { { "USD/h", 1, 1 }, { 0 } };
static const struct unit none_steps[] = { { "", 1, 1 }, { 0 } };
/* clang-format on */

static double worth(const struct unit *u)
{
    return u->num / u->den;
}

static char *number_text(char *buf, double v, const struct unit *u, int kept)
{
    double shown = v * u->den / u->num;
    bool whole = fabs(shown) >= pow(10, kept - 1) && fabs(shown) < 1e6;
    const char *space = u->name[0] ? " " : "";
    if (whole)
        snprintf(buf, UNITS_TEXT_MAX, "%.0f%s%s", shown, space, u->name);
    else
        snprintf(buf, UNITS_TEXT_MAX, "%.*g%s%s", kept, shown, space, u->name);
    return buf;
}

/* In the largest of the rising steps that leaves a number of 1 or above, also where
 * rounding to the digits kept is what lifts it there (999.9 us is 1 ms). */
static char *steps_text(char *buf, double v, const struct unit *steps, int kept)
{
    const struct unit *u = steps;
    if (v == 0)
        while (worth(u) < 1)
            u++;
    while (u[1].name && fabs(v) >= worth(&u[1]))
        u++;
    number_text(buf, v, u, kept);
    if (u[1].name && fabs(strtod(buf, NULL)) * worth(u) >= worth(&u[1]))
        number_text(buf, v, u + 1, kept);
    return buf;
}

/* Three digits of seconds say more than those of a minute. */
#define MINUTES_FROM 120

char *units_time_text(char buf[UNITS_TEXT_MAX], double seconds)
{
    const struct unit *u = times;
    while (strcmp(u->name, "s") != 0)
        u++;
    if (fabs(seconds) >= 1 && fabs(seconds) < MINUTES_FROM)
        return number_text(buf, seconds, u, 3);
    return steps_text(buf, seconds, times, 3);
}

char *units_time_range_text(char buf[UNITS_RANGE_MAX], const double range_s[2],
                            double seconds)
{
    char text[UNITS_TEXT_MAX], low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];
    const char *name = strchr(units_time_text(text, seconds), ' ');
    const struct unit *u = times;
    while (name && u[1].name && strcmp(u->name, name + 1) != 0)
        u++;
    *strchr(number_text(low, range_s[0], u, 3), ' ') = '\0';
    *strchr(number_text(high, range_s[1], u, 3), ' ') = '\0';
    snprintf(buf, UNITS_RANGE_MAX, "%s-%s", low, high);
    return buf;
}

char *units_bytes_text(char buf[UNITS_TEXT_MAX], double bytes)
{
    return steps_text(buf, bytes, bytes_steps, 3);
}

char *units_rate_text(char buf[UNITS_TEXT_MAX], double bytes_per_s)
{
    return steps_text(buf, bytes_per_s, rate_steps, 3);
}

char *units_flops_text(char buf[UNITS_TEXT_MAX], double flop_per_s)
{
    return steps_text(buf, flop_per_s, flop_steps, 3);
}

char *units_number_text(char buf[UNITS_TEXT_MAX], double value, int digits)
{
    double size = fabs(value);
    int after = size > 0 ? digits - 1 - (int)floor(log10(size)) : 0; /* the point */
    bool is_plain = size < 1e15 && (size >= 1e-6 || size == 0);
    if (!is_plain || (size < pow(10, digits) && size >= 1e-4) || size == 0)
        snprintf(buf, UNITS_TEXT_MAX, "%.*g", digits, value);
    else
        snprintf(buf, UNITS_TEXT_MAX, "%.*f", after > 0 ? after : 0, value);
    return buf;
}

char *units_count_text(char buf[UNITS_TEXT_MAX], double value)
{
    static const char *const names[] = { "", " million", " billion", " trillion" };
    static const double sizes[] = { 1, 1e6, 1e9, 1e12 };
    int i = 0;
    while (i < 3 && fabs(value) >= sizes[i + 1])
        i++;
    if (i == 0)
        return units_number_text(buf, value, 6);
    snprintf(buf, UNITS_TEXT_MAX, "%.4g%s", value / sizes[i], names[i]);
    return buf;
}

char *units_text(char buf[UNITS_TEXT_MAX], enum unit_kind kind, double value)
{
    static const struct unit *const steps[] = {
        [UNIT_NONE] = none_steps,       [UNIT_BYTES] = bytes_steps,
        [UNIT_SECONDS] = times,         [UNIT_BYTES_PER_S] = rate_steps,
        [UNIT_FLOP_PER_S] = flop_steps, [UNIT_HERTZ] = hertz_steps,
        [UNIT_WATTS] = watt_steps,      [UNIT_USD_PER_HOUR] = usd_steps,
    };
    return steps_text(buf, value, steps[kind], 6);
}
