#include "logs/smi.h"
#include "logs/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Quantities by the names of fields that dcgm-exporter answers with, and by the short
 * ones above the columns of dcgmi dmon: DCGM, dcgmlib/src/dcgm_fields.cpp. */
static const struct {
    const char *field, *brief;
    enum logs_smi_column column;
} names[] = {
    { "DCGM_FI_DEV_SM_CLOCK", "SMCLK", SMI_CLOCK },
    { "DCGM_FI_DEV_MAX_SM_CLOCK", "SMMAX", SMI_MAX_CLOCK },
    { "DCGM_FI_DEV_POWER_USAGE", "POWER", SMI_POWER },
    { "DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "EPLMT", SMI_POWER_LIMIT },
    { "DCGM_FI_DEV_POWER_MGMT_LIMIT", "PMLMT", SMI_POWER_LIMIT },
    { "DCGM_FI_DEV_GPU_TEMP", "TMPTR", SMI_TEMPERATURE },
    { "DCGM_FI_DEV_GPU_UTIL", "GPUTL", SMI_BUSY },
    { "DCGM_FI_DEV_FB_USED", "FBUSD", SMI_MEMORY },
    { "DCGM_FI_DEV_PCIE_LINK_WIDTH", "PCILW", SMI_WIDTH },
    { "DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH", "PCIMW", SMI_MAX_WIDTH },
    { "DCGM_FI_DEV_PCIE_LINK_GEN", "PCILG", SMI_GENERATION },
    { "DCGM_FI_DEV_PCIE_MAX_LINK_GEN", "PCIMG", SMI_MAX_GENERATION },
    { "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "EDVTL", SMI_ECC },
    { "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "RPCTR", SMI_REPLAYS },
    { "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DVCCTR", SMI_THROTTLES },
    { "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DVCCTR", SMI_THROTTLES },
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static bool is_word(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(at, word, n) == 0;
}

static void keep(struct logs_smi_sample *x, int column, const char *at)
{
    double v;
    if (column < 0 || line_number(at, false, &v, NULL) || v < 0 || v >= 1e12)
        return;
    x->has[column] = true;
    x->v[column] = v;
}

/* dcgmi dmon and nvidia-smi dmon ----------------------------------------------------- */

/* Columns of nvidia-smi dmon (nvidia-smi(1), "dmon"). */
static const struct {
    const char *brief;
    enum logs_smi_column column;
} monitor_names[] = {
    { "gpu", SMI_INDEX }, { "pwr", SMI_POWER },  { "gtemp", SMI_TEMPERATURE },
    { "sm", SMI_BUSY },   { "pclk", SMI_CLOCK }, { "fb", SMI_MEMORY },
};

enum { MONITOR_NAMES = sizeof(monitor_names) / sizeof(monitor_names[0]) };

static int8_t column_of(const char *at, size_t n)
{
    for (int i = 0; i < NAMES; i++)
        if (is_word(at, n, names[i].brief))
            return (int8_t)names[i].column;
    for (int i = 0; i < MONITOR_NAMES; i++)
        if (is_word(at, n, monitor_names[i].brief))
            return (int8_t)monitor_names[i].column;
    return -1;
}

/* "#Entity   SMCLK   POWER", or "# gpu    pwr  gtemp     sm   pclk", before which there
 * may be a date and a time; columns of other fields are passed over. */
static bool read_header(struct logs_smi *s, const char *line)
{
    static const char begin[] = "#Entity";
    bool dcgm = strncmp(line, begin, sizeof(begin) - 1) == 0;
    if (!dcgm && (line[0] != '#' || !strstr(line, " gpu ")))
        return false;
    const char *at = line + (dcgm ? sizeof(begin) - 1 : 1);
    int32_t n = 0;
    for (at += strspn(at, " "); *at && n < LOGS_SMI_WORDS; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        s->columns[n++] = column_of(at, length);
        at += length;
    }
    s->n_columns = n;
    s->entities = true;
    return true;
}

/* "GPU 0   1980   650.120   N/A", or "0   650   61   99   1980" where the index is a
 * column. */
static bool read_row(struct logs_smi *s, const char *line)
{
    struct logs_smi_sample x = { .has = { false } };
    const char *at = line + strspn(line, " ");
    bool named = strncmp(at, "GPU ", 4) == 0 && isdigit((unsigned char)at[4]);
    if (!s->entities || (!named && !isdigit((unsigned char)*at)))
        return false;
    if (named) {
        keep(&x, SMI_INDEX, at + 4);
        at += 4 + strcspn(at + 4, " ");
    }
    for (int32_t n = 0; n < s->n_columns; n++) {
        at += strspn(at, " ");
        if (!*at)
            return false;
        keep(&x, s->columns[n], at);
        at += strcspn(at, " ");
    }
    if (!x.has[SMI_INDEX] || (!named && at[strspn(at, " ")]))
        return false;
    struct logs_gpu *g = logs_smi_gpu(s, &x);
    if (g)
        logs_smi_add(g, &x);
    return true;
}

/* dcgm-exporter --------------------------------------------------------------------- */

/* The value of a label: name="value". */
static bool read_label(char *out, size_t size, const char *labels, const char *name)
{
    const char *at = strstr(labels, name);
    size_t n = strlen(name);
    if (!at || (at[-1] != '{' && at[-1] != ',') || strncmp(at + n, "=\"", 2) != 0)
        return false;
    at += n + 2;
    line_keep(out, size, at, strcspn(at, "\""));
    return true;
}

/* Whether a quantity comes anew: what came before was a sample. */
static void begin_anew(struct logs_gpu *g, int column)
{
    if (!g->open.has[column])
        return;
    logs_smi_add(g, &g->open);
    g->open = (struct logs_smi_sample) { .has = { false } };
}

/* 'DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-1",Hostname="n1"} 1980' */
static bool read_metric(struct logs_smi *s, const char *line)
{
    const char *at = strstr(line, "DCGM_FI_"), *labels = at ? strchr(at, '{') : NULL,
               *end = labels ? strrchr(labels, '}') : NULL;
    struct logs_smi_sample x = { .has = { false } };
    char index[16];
    if (!end || !read_label(index, sizeof(index), labels, "gpu"))
        return false;
    if (!read_label(x.host, sizeof(x.host), labels, "Hostname"))
        read_label(x.host, sizeof(x.host), labels, "hostname");
    keep(&x, SMI_INDEX, index);
    struct logs_gpu *g = x.has[SMI_INDEX] ? logs_smi_gpu(s, &x) : NULL;
    for (int i = 0; i < NAMES && g; i++)
        if (is_word(at, (size_t)(labels - at), names[i].field)) {
            begin_anew(g, (int)names[i].column);
            keep(&g->open, (int)names[i].column, end + 1);
        }
    return true;
}

bool logs_dcgm_read(struct logs_smi *s, const char *line)
{
    return read_header(s, line) || read_row(s, line) || read_metric(s, line);
}

void logs_dcgm_end(struct logs_smi *s)
{
    for (int32_t i = 0; i < s->n; i++)
        for (int c = 0; c < SMI_COLUMNS; c++)
            begin_anew(&s->gpus[i], c);
}
