#include "draw/axis_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct axis_step plain[]   = { { "", 1 }, { NULL, 0 } };
static const struct axis_step percent[] = { { "%", 0.01 }, { NULL, 0 } };
static const struct axis_step usd[]     = { { "USD", 1 }, { NULL, 0 } };
static const struct axis_step bytes[]   = { { "B", 1 }, { "KiB", 1024.0 }, { "MiB", 1048576.0 },
                                       { "GiB", 1073741824.0 }, { "TiB", 1099511627776.0 },
                                       { NULL, 0 } };
static const struct axis_step seconds[] = { { "ns", 1e-9 }, { "µs", 1e-6 }, { "ms", 1e-3 },
                                       { "s", 1 }, { "min", 60 },
                                       { "h", 3600 }, { "d", 86400 },
                                       { NULL, 0 } };
static const struct axis_step rate[]    = { { "B/s", 1 }, { "KB/s", 1e3 }, { "MB/s", 1e6 },
                                       { "GB/s", 1e9 }, { "TB/s", 1e12 }, { NULL, 0 } };
static const struct axis_step flops[]   = { { "FLOP/s", 1 }, { "KFLOP/s", 1e3 }, { "MFLOP/s", 1e6 },
                                       { "GFLOP/s", 1e9 }, { "TFLOP/s", 1e12 },
                                       { "PFLOP/s", 1e15 }, { "EFLOP/s", 1e18 }, { NULL, 0 } };

static const struct axis_step *const units[] = {
    [AXIS_PLAIN] = plain,        [AXIS_BYTES] = bytes,          [AXIS_SECONDS] = seconds,
    [AXIS_BYTES_PER_S] = rate,   [AXIS_FLOP_PER_S] = flops,     [AXIS_FRACTION] = percent,
    [AXIS_USD] = usd,
};
/* clang-format on */

/* Minutes and more begin at five of them; log scales have none, being round in
 * powers. */
const struct axis_step *axis_unit_of(const struct axis *axis, double magnitude)
{
    const struct axis_step *s = units[axis->unit];
    bool log = axis->scale == AXIS_LOG2 || axis->scale == AXIS_LOG10;

    for (; s[1].name; s++) {
        bool clock = axis->unit == AXIS_SECONDS && s[1].worth >= 60;
        double from = s[1].worth * (clock ? 5 : 1);
        if ((clock && log) || magnitude < from * (1 - 1e-9))
            break;
    }
    return s;
}

bool axis_is_clock(const struct axis *axis, double lo, double hi)
{
    bool log = axis->scale == AXIS_LOG2 || axis->scale == AXIS_LOG10;

    return axis->unit == AXIS_SECONDS && log && lo >= 0.5 && hi >= 120;
}

bool axis_has_steps(const struct axis *axis)
{
    return units[axis->unit][1].name != NULL;
}

/* Thousands apart by commas. */
static void group_digits(char *s, size_t size)
{
    size_t start = *s == '-', n = strspn(s + start, "0123456789"), len = strlen(s);

    if (n < 4 || len + n / 3 + 1 > size)
        return;
    for (size_t i = start + n - 3; i > start; i = i > start + 3 ? i - 3 : start) {
        memmove(s + i + 1, s + i, strlen(s + i) + 1);
        s[i] = ',';
    }
}

static void plain_text(char buf[AXIS_TEXT_MAX], double v, int decimals)
{
    static const struct axis_step big[] = { { "", 1 },     { "M", 1e6 },  { "G", 1e9 },
                                            { "T", 1e12 }, { "P", 1e15 }, { NULL, 0 } };
    const struct axis_step *s = big;

    while (s[1].name && fabs(v) >= s[1].worth)
        s++;
    if (fabs(v) >= 1e18 || (fabs(v) < 1e-4 && fabs(v) > 0)) {
        snprintf(buf, AXIS_TEXT_MAX, "%.3g", v);
        return;
    }
    if (s == big && decimals >= 0)
        snprintf(buf, AXIS_TEXT_MAX - 8, "%.*f", decimals, v);
    else if (fabs(v / s->worth) >= 1000)
        snprintf(buf, AXIS_TEXT_MAX - 8, "%.0f", v / s->worth);
    else
        snprintf(buf, AXIS_TEXT_MAX - 8, "%.4g", v / s->worth);
    if (strtod(buf, NULL) >= 0 && *buf == '-')
        memmove(buf, buf + 1, strlen(buf)); /* no -0 */
    group_digits(buf, AXIS_TEXT_MAX);
    strcat(buf, s->name);
}

char *axis_value_text(char buf[AXIS_TEXT_MAX], const struct axis *axis, double value)
{
    const struct axis_step *unit = axis_unit_of(axis, fabs(value) * 1.0005);
    double v = value / unit->worth;

    if (axis->unit == AXIS_PLAIN) {
        if (fabs(v) >= 1000 && fabs(v) < 1e6)
            plain_text(buf, v, 0);
        else
            plain_text(
                buf, strtod((snprintf(buf, AXIS_TEXT_MAX, "%.3g", v), buf), NULL), -1);
        return buf;
    }
    snprintf(buf, AXIS_TEXT_MAX, fabs(v) >= 999.5 ? "%.0f %s" : "%.3g %s", v,
             unit->name);
    return buf;
}

char *axis_tick_text(const struct axis_view *view, double value, int decimals)
{
    const struct axis_step *own = axis_unit_of(view->axis, fabs(value));
    double v = value / (view->unit ? view->worth : own->worth);
    char buf[AXIS_TEXT_MAX];

    plain_text(buf, v, decimals);
    if (!(fabs(value) > 0))
        return xstrdup(buf);
    return view->unit ? xstrdup(buf) : xasprintf("%s %s", buf, own->name);
}
