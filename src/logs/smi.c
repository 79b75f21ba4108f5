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
    { "clocks_throttle_reasons.sw_power_cap", SMI_CAPPED },
    { "clocks_throttle_reasons.hw_power_brake_slowdown", SMI_CAPPED },
    { "clocks_throttle_reasons.sw_thermal_slowdown", SMI_HOT },
    { "clocks_throttle_reasons.hw_thermal_slowdown", SMI_HOT },
    { "clocks_event_reasons.sw_power_cap", SMI_CAPPED },
    { "clocks_event_reasons.hw_power_brake_slowdown", SMI_CAPPED },
    { "clocks_event_reasons.sw_thermal_slowdown", SMI_HOT },
    { "clocks_event_reasons.hw_thermal_slowdown", SMI_HOT },
    { "pci.bus_id", SMI_ID },
    { "gpu_bus_id", SMI_ID },
    { "uuid", SMI_ID },
    { "gpu_uuid", SMI_ID },
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
    s->entities = false;
    s->n_columns = n;
    return true;
}

struct logs_gpu *logs_smi_gpu(struct logs_smi *s, const struct logs_smi_sample *x)
{
    int64_t index = x->has[SMI_INDEX] ? (int64_t)x->v[SMI_INDEX] : 0;
    const char *host = x->has[SMI_INDEX] || !x->id[0] ? x->host : x->id;
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

/* Several columns may be of one reason. */
static void read_word(struct logs_smi_sample *x, int column, const char *word,
                      size_t length)
{
    char text[LOGS_SMI_HOST];
    char *end;
    if (column < 0)
        return;
    line_keep(text, sizeof(text), word, length);
    if (column == SMI_HOST || column == SMI_ID) {
        memcpy(column == SMI_ID ? x->id : x->host, text, sizeof(text));
    } else if (column == SMI_THROTTLES) {
        x->v[column] = (double)strtoull(text, &end, 16);
        x->has[column] = strncmp(text, "0x", 2) == 0 && end > text + 2;
    } else if (column == SMI_CAPPED || column == SMI_HOT) {
        bool active = strcmp(text, "Active") == 0;
        x->has[column] = x->has[column] || active || strcmp(text, "Not Active") == 0;
        x->v[column] = active ? 1 : x->v[column];
    } else {
        double v;
        x->has[column] = line_number(text, false, &v, NULL) == 0 && v >= 0 && v < 1e9;
        x->v[column] = x->has[column] ? v : 0;
    }
}

static void keep_most(double *most, const struct logs_smi_sample *x,
                      enum logs_smi_column c)
{
    if (x->has[c] && x->v[c] > *most)
        *most = x->v[c];
}

static void add_used(struct logs_gpu *g, double percent)
{
    if (percent > 0) {
        g->n_used += g->n_unused + 1;
        g->n_unused = 0;
        g->used += percent;
    } else {
        g->n_unused += g->n_used > 0;
    }
}

void logs_smi_add(struct logs_gpu *g, const struct logs_smi_sample *x)
{
    g->n++;
    if (x->has[SMI_BUSY])
        add_used(g, x->v[SMI_BUSY]);
    keep_most(&g->max_clock, x, SMI_MAX_CLOCK);
    keep_most(&g->limit, x, SMI_POWER_LIMIT);
    keep_most(&g->memory, x, SMI_MEMORY);
    keep_most(&g->width, x, SMI_WIDTH);
    keep_most(&g->max_width, x, SMI_MAX_WIDTH);
    keep_most(&g->generation, x, SMI_GENERATION);
    keep_most(&g->max_generation, x, SMI_MAX_GENERATION);
    keep_most(&g->ecc, x, SMI_ECC);
    g->has_ecc = g->has_ecc || x->has[SMI_ECC];
    if (x->has[SMI_REPLAYS] && !g->has_replays)
        g->first_replays = x->v[SMI_REPLAYS];
    g->has_replays = g->has_replays || x->has[SMI_REPLAYS];
    keep_most(&g->replays, x, SMI_REPLAYS);
    if (x->has[SMI_BUSY] && x->v[SMI_BUSY] < 50)
        return;
    g->n_busy++;
    g->n_clock += x->has[SMI_CLOCK];
    g->n_draw += x->has[SMI_POWER];
    g->clock += x->v[SMI_CLOCK];
    g->power += x->v[SMI_POWER];
    g->temperature += x->v[SMI_TEMPERATURE];
    uint64_t reasons = x->has[SMI_THROTTLES] && x->v[SMI_THROTTLES] < 0x1p32
                           ? (uint64_t)x->v[SMI_THROTTLES]
                           : 0;
    g->has_throttles = g->has_throttles || x->has[SMI_THROTTLES] ||
                       x->has[SMI_CAPPED] || x->has[SMI_HOT];
    g->n_power += (reasons & THROTTLE_POWER) != 0 || x->v[SMI_CAPPED] > 0;
    g->n_heat += (reasons & THROTTLE_HEAT) != 0 || x->v[SMI_HOT] > 0;
}

bool logs_smi_read(struct logs_smi *s, const char *line)
{
    if (strchr(line, ',') && strchr(line, '.') && read_header(s, line))
        return true;
    if (s->n_columns == 0 || s->entities || !strchr(line, ','))
        return false;
    struct logs_smi_sample x = { .has = { false } };
    const char *at = line, *word;
    size_t length;
    int32_t n = 0;
    for (; next_word(&at, &word, &length); n++)
        if (n < s->n_columns)
            read_word(&x, s->columns[n], word, length);
    if (n != s->n_columns)
        return false;
    struct logs_gpu *g = logs_smi_gpu(s, &x);
    if (g)
        logs_smi_add(g, &x);
    return true;
}
