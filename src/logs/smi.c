#include "logs/smi.h"

#include "base/xmalloc.h"
#include "logs/text.h"

#include <stdlib.h>
#include <string.h>

/* Names of nvidia-smi --help-query-gpu; units follow in brackets. */
static const struct {
    const char *name;
    enum logs_smi_column column;
} names[] = {
    { "index", SMI_INDEX },
    { "clocks.current.sm", SMI_CLOCK },
    { "clocks.sm", SMI_CLOCK },
    { "clocks.current.graphics", SMI_CLOCK },
    { "clocks.gr", SMI_CLOCK },
    { "clocks.max.sm", SMI_MAX_CLOCK },
    { "power.draw", SMI_POWER },
    { "power.draw.instant", SMI_POWER },
    { "power.limit", SMI_POWER_LIMIT },
    { "enforced.power.limit", SMI_POWER_LIMIT },
    { "temperature.gpu", SMI_TEMPERATURE },
    { "utilization.gpu", SMI_BUSY },
    { "memory.used", SMI_MEMORY },
    { "pcie.link.width.current", SMI_WIDTH },
    { "pcie.link.width.max", SMI_MAX_WIDTH },
    { "pcie.link.gen.current", SMI_GENERATION },
    { "pcie.link.gen.max", SMI_MAX_GENERATION },
    { "ecc.errors.uncorrected.volatile.total", SMI_ECC },
    { "clocks_throttle_reasons.active", SMI_THROTTLES },
    { "clocks_event_reasons.active", SMI_THROTTLES },
    { "hostname", SMI_HOST },
    { "host", SMI_HOST },
};

void logs_smi_release(struct logs_smi *s)
{
    free(s->gpus);
    s->gpus = NULL;
}

/* The next word of a row, without blanks around it; false at the end. */
static bool next_word(const char **at, const char **word, size_t *length)
{
    if (!*at)
        return false;
    const char *comma = strchr(*at, ','), *begin = *at + strspn(*at, " ");
    size_t n = comma ? (size_t)(comma - *at) : strlen(*at);
    n -= (size_t)(begin - *at) < n ? (size_t)(begin - *at) : n;
    while (n && begin[n - 1] == ' ')
        n--;
    *word = begin;
    *length = n;
    *at = comma ? comma + 1 : NULL;
    return true;
}

static int column_of(const char *word, size_t length)
{
    const char *unit = memchr(word, ' ', length);
    size_t n = unit ? (size_t)(unit - word) : length;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i].name) == n && memcmp(names[i].name, word, n) == 0)
            return (int)names[i].column;
    return -1;
}

static bool read_header(struct logs_smi *s, const char *line)
{
    int8_t columns[LOGS_SMI_WORDS];
    const char *at = line, *word;
    size_t length;
    int32_t n = 0, known = 0;
    while (n < LOGS_SMI_WORDS && next_word(&at, &word, &length)) {
        columns[n] = (int8_t)column_of(word, length);
        known += columns[n++] >= 0;
    }
    if (known < 2)
        return false;
    memcpy(s->columns, columns, sizeof(columns));
    s->n_columns = n;
    return true;
}

static struct logs_gpu *gpu_of(struct logs_smi *s, const char *host, int64_t index)
{
    for (int32_t i = 0; i < s->n; i++)
        if (s->gpus[i].index == index && strcmp(s->gpus[i].host, host) == 0)
            return &s->gpus[i];
    if (s->n == LOGS_SMI_GPUS)
        return NULL;
    if (!s->gpus)
        s->gpus = xmalloc(LOGS_SMI_GPUS * sizeof(*s->gpus));
    struct logs_gpu *g = &s->gpus[s->n++];
    *g = (struct logs_gpu) { .index = index };
    memcpy(g->host, host, sizeof(g->host));
    return g;
}

struct sample {
    bool has[SMI_COLUMNS];
    double v[SMI_COLUMNS];
    char host[LOGS_SMI_HOST];
};

static void read_word(struct sample *x, int column, const char *word, size_t length)
{
    char text[LOGS_SMI_HOST];
    char *end;
    if (column < 0)
        return;
    line_keep(text, sizeof(text), word, length);
    if (column == SMI_HOST) {
        memcpy(x->host, text, sizeof(text));
    } else if (column == SMI_THROTTLES) {
        x->v[column] = (double)strtoull(text, &end, 16);
        x->has[column] = strncmp(text, "0x", 2) == 0 && end > text + 2;
    } else {
        double v;
        x->has[column] = line_number(text, false, &v, NULL) == 0 && v >= 0 && v < 1e9;
        x->v[column] = x->has[column] ? v : 0;
    }
}

static void keep_most(double *most, const struct sample *x, enum logs_smi_column c)
{
    if (x->has[c] && x->v[c] > *most)
        *most = x->v[c];
}

static void add_sample(struct logs_gpu *g, const struct sample *x)
{
    g->n++;
    keep_most(&g->max_clock, x, SMI_MAX_CLOCK);
    keep_most(&g->limit, x, SMI_POWER_LIMIT);
    keep_most(&g->memory, x, SMI_MEMORY);
    keep_most(&g->width, x, SMI_WIDTH);
    keep_most(&g->max_width, x, SMI_MAX_WIDTH);
    keep_most(&g->generation, x, SMI_GENERATION);
    keep_most(&g->max_generation, x, SMI_MAX_GENERATION);
    keep_most(&g->ecc, x, SMI_ECC);
    if (x->has[SMI_BUSY] && x->v[SMI_BUSY] < 50)
        return;
    g->n_busy++;
    g->clock += x->v[SMI_CLOCK];
    g->power += x->v[SMI_POWER];
    g->temperature += x->v[SMI_TEMPERATURE];
    uint64_t reasons = x->has[SMI_THROTTLES] && x->v[SMI_THROTTLES] < 0x1p32
                           ? (uint64_t)x->v[SMI_THROTTLES]
                           : 0;
    g->has_throttles = g->has_throttles || x->has[SMI_THROTTLES];
    g->n_power += (reasons & THROTTLE_POWER) != 0;
    g->n_heat += (reasons & THROTTLE_HEAT) != 0;
}

bool logs_smi_read(struct logs_smi *s, const char *line)
{
    if (strchr(line, ',') && strchr(line, '.') && read_header(s, line))
        return true;
    if (s->n_columns == 0 || !strchr(line, ','))
        return false;
    struct sample x = { .has = { false } };
    const char *at = line, *word;
    size_t length;
    int32_t n = 0;
    for (; next_word(&at, &word, &length); n++)
        if (n < s->n_columns)
            read_word(&x, s->columns[n], word, length);
    if (n != s->n_columns)
        return false;
    struct logs_gpu *g =
        gpu_of(s, x.host, x.has[SMI_INDEX] ? (int64_t)x.v[SMI_INDEX] : 0);
    if (g)
        add_sample(g, &x);
    return true;
}
