#include "hardware/import_smi.h"

#include "base/file.h"
#include "config/lenient.h"
#include "config/place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 1 << 20,
    COLUMNS_MAX = INSTANCE_GPUS_MAX + INSTANCE_NICS_MAX,
    AFTER_MAX = 2, /* words behind the cells: CPUs, NUMA node */
};

struct word {
    size_t at, len;
};

/* NVLinks are the positive values. */
enum relation { SELF = 0, SYS = -1, NODE = -2, SWITCH = -3, NO_RELATION = -4 };

struct matrix {
    struct cfg_loader *loader;
    const char *file;
    char *text; /* escape sequences made blank */
    size_t len;
    int32_t n_gpus, n; /* columns: GPUs, then NICs */
    bool numa;         /* there is a column of NUMA nodes */
    struct word columns[COLUMNS_MAX];
    struct word cells[COLUMNS_MAX][COLUMNS_MAX];
    int relation[COLUMNS_MAX][COLUMNS_MAX];
    struct word after[COLUMNS_MAX][AFTER_MAX];
};

static const struct name_value relations[] = {
    { "X", SELF },   { "SYS", SYS },    { "SOC", SYS },    { "NODE", NODE },
    { "PHB", NODE }, { "PXB", SWITCH }, { "PIX", SWITCH }, { NULL, 0 },
};

static int wrong(const struct matrix *m, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int wrong(const struct matrix *m, size_t at, const char *fmt, ...)
{
    char what[256];
    struct place p = place_of(m->text, at);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    diags_error(&m->loader->diags, "%s:%" PRId64 ":%" PRId64 ": %s", m->file, p.line,
                p.column, what);
    return -1;
}

/* --- words ------------------------------------------------------------------- */

/* The next word of the line that *at is in; false at the line's end. */
static bool next_word(const struct matrix *m, size_t *at, struct word *w)
{
    while (*at < m->len &&
           (m->text[*at] == ' ' || m->text[*at] == '\t' || m->text[*at] == '\r'))
        ++*at;
    w->at = *at;
    while (*at < m->len && !isspace((unsigned char)m->text[*at]))
        ++*at;
    w->len = *at - w->at;
    return w->len > 0;
}

static size_t next_line(const struct matrix *m, size_t at)
{
    const char *nl = memchr(m->text + at, '\n', m->len - at);
    return nl ? (size_t)(nl - m->text) + 1 : m->len;
}

static bool word_is(const struct matrix *m, struct word w, const char *s)
{
    return w.len == strlen(s) && memcmp(m->text + w.at, s, w.len) == 0;
}

static bool same_word(const struct matrix *m, struct word a, struct word b)
{
    return a.len == b.len && memcmp(m->text + a.at, m->text + b.at, a.len) == 0;
}

/* "GPU12" is 12; -1 for anything else. */
static int gpu_number(const struct matrix *m, struct word w)
{
    if (w.len < 4 || w.len > 6 || memcmp(m->text + w.at, "GPU", 3) != 0)
        return -1;
    int n = 0;
    for (size_t i = 3; i < w.len; i++) {
        char c = m->text[w.at + i];
        if (c < '0' || c > '9')
            return -1;
        n = 10 * n + (c - '0');
    }
    return n;
}

/* nvidia-smi underlines its header. Blanks keep the columns of messages true. */
static void blank_escapes(char *text)
{
    for (char *c = text; *c; c++) {
        if (*c != '\033')
            continue;
        *c = ' ';
        if (c[1] != '[')
            continue;
        *++c = ' ';
        while (c[1] && !isalpha((unsigned char)c[1]) && c[1] != '\n')
            *++c = ' ';
        if (isalpha((unsigned char)c[1]))
            *++c = ' ';
    }
}

/* --- the header --------------------------------------------------------------- */

static bool is_header(const struct matrix *m, size_t at)
{
    struct word w;
    if (!next_word(m, &at, &w) || gpu_number(m, w) < 0)
        return false;
    while (next_word(m, &at, &w))
        if (word_is(m, w, "X"))
            return false;
    return true;
}

static int read_header(struct matrix *m, size_t at)
{
    struct word w;
    while (next_word(m, &at, &w) && !word_is(m, w, "CPU")) {
        const int gpu = gpu_number(m, w);
        if (gpu >= INSTANCE_GPUS_MAX)
            return wrong(m, w.at, "more than %d GPUs in one machine are not simulated",
                         INSTANCE_GPUS_MAX);
        if (gpu >= 0 && (gpu != m->n_gpus || m->n != m->n_gpus))
            return wrong(m, w.at, "GPU%d stands where GPU%d should", gpu, m->n_gpus);
        if (m->n - m->n_gpus == INSTANCE_NICS_MAX)
            return wrong(m, w.at, "more than %d NICs in one machine are not simulated",
                         INSTANCE_NICS_MAX);
        m->n_gpus += gpu >= 0;
        m->columns[m->n++] = w;
    }
    while (next_word(m, &at, &w))
        m->numa |= word_is(m, w, "NUMA");
    return 0;
}

/* --- rows --------------------------------------------------------------------- */

static int relation_of(const struct matrix *m, struct word w)
{
    char text[8];
    int v;
    if (w.len >= sizeof(text))
        return NO_RELATION;
    memcpy(text, m->text + w.at, w.len);
    text[w.len] = '\0';
    if (names_find(relations, text, &v) == 0)
        return v;
    if (strncmp(text, "NV", 2) != 0 || !isdigit((unsigned char)text[2]))
        return NO_RELATION;
    char *end;
    long n = strtol(text + 2, &end, 10);
    return *end || n < 1 || n > 64 ? NO_RELATION : (int)n;
}

static int read_row(struct matrix *m, int32_t i, size_t at)
{
    const struct word name = m->columns[i];
    struct word w;
    if (!next_word(m, &at, &w) || !same_word(m, w, name))
        return wrong(m, w.at, "here the row of %.*s should begin (is the text cut?)",
                     (int)name.len, m->text + name.at);
    for (int32_t j = 0; j < m->n; j++) {
        if (!next_word(m, &at, &w))
            return wrong(m, w.at, "the row ends before the column of %.*s",
                         (int)m->columns[j].len, m->text + m->columns[j].at);
        m->cells[i][j] = w;
        m->relation[i][j] = relation_of(m, w);
        if (m->relation[i][j] == NO_RELATION)
            return wrong(m, w.at,
                         "\"%.*s\" is none of X, NV#, PIX, PXB, PHB, NODE and SYS",
                         (int)(w.len < 40 ? w.len : 40), m->text + w.at);
        if ((m->relation[i][j] == SELF) != (i == j))
            return wrong(m, w.at, "X stands for the device itself, and only for it");
        if (m->relation[i][j] > 0 && (i >= m->n_gpus || j >= m->n_gpus))
            return wrong(m, w.at, "NVLinks join GPUs, not NICs");
    }
    for (int k = 0; k < AFTER_MAX && next_word(m, &at, &w); k++)
        m->after[i][k] = w;
    return 0;
}

static int check_symmetry(const struct matrix *m)
{
    for (int32_t i = 0; i < m->n; i++)
        for (int32_t j = 0; j < i; j++)
            if (m->relation[i][j] != m->relation[j][i])
                return wrong(m, m->cells[i][j].at,
                             "%.*s here, but %.*s the other way round",
                             (int)m->cells[i][j].len, m->text + m->cells[i][j].at,
                             (int)m->cells[j][i].len, m->text + m->cells[j][i].at);
    return 0;
}

static int read_matrix(struct matrix *m)
{
    size_t at = 0;
    while (at < m->len && !is_header(m, at))
        at = next_line(m, at);
    if (at >= m->len) {
        const bool amd = strstr(m->text, "ROCm") || strstr(m->text, "XGMI");
        return wrong(m, 0,
                     "no matrix of \"nvidia-smi topo -m\", which begins with GPU0%s",
                     amd ? " (AMD's tools show GPUs that are not known here)" : "");
    }
    if (read_header(m, at))
        return -1;
    for (int32_t i = 0; i < m->n; i++) {
        at = next_line(m, at);
        if (read_row(m, i, at))
            return -1;
    }
    return check_symmetry(m);
}

/* --- what it means -------------------------------------------------------------- */

/* The NUMA node of a GPU's row; -1 where it is not one number ("N/A", "0-1"). */
static int64_t row_numa(const struct matrix *m, int32_t gpu)
{
    const struct word w = m->after[gpu][1];
    char text[8], *end;
    if (!m->numa || w.len == 0 || w.len >= sizeof(text))
        return -1;
    memcpy(text, m->text + w.at, w.len);
    text[w.len] = '\0';
    long v = strtol(text, &end, 10);
    return end == text || *end || v < 0 ? -1 : v;
}

/* CPUs in "0-23,48-71"; 0 when it is no such list. */
static int64_t count_cpus(const struct matrix *m, struct word w)
{
    int64_t n = 0;
    const char *s = m->text + w.at, *end = s + w.len;
    while (s < end) {
        char *after;
        long a = strtol(s, &after, 10), b = a;
        if (after == s || a < 0 || a > 65535)
            return 0;
        if (*after == '-')
            b = strtol(after + 1, &after, 10);
        if (b < a || b > 65535 || (after < end && *after != ','))
            return 0;
        n += b - a + 1;
        s = after + 1;
    }
    return n;
}

/* Of which earlier GPU this one shares the NUMA node; itself where of none. */
static int32_t numa_first(const struct matrix *m, int32_t gpu, bool numbered)
{
    int32_t j = 0;
    while (j < gpu && (numbered ? row_numa(m, gpu) != row_numa(m, j)
                                : !same_word(m, m->after[gpu][0], m->after[j][0])))
        j++;
    return j;
}

/* GPUs near the same CPUs are on the same NUMA node. Nodes keep the order of the text's
 * own numbers, or without such that in which they appear. */
static int place_on_numa(const struct matrix *m, struct import *im)
{
    bool numbered = true, told = true;
    for (int32_t i = 0; i < m->n_gpus; i++) {
        numbered &= row_numa(m, i) >= 0;
        told &= count_cpus(m, m->after[i][0]) > 0;
    }
    for (int32_t i = 0; i < m->n_gpus && (numbered || told); i++) {
        if (numa_first(m, i, numbered) < i)
            continue;
        if (im->n_numa++ == INSTANCE_NUMA_MAX)
            return wrong(m, m->columns[i].at,
                         "more than %d NUMA nodes are not simulated",
                         INSTANCE_NUMA_MAX);
        im->vcpus += told ? count_cpus(m, m->after[i][0]) : 0;
    }
    for (int32_t i = 0; i < m->n_gpus && im->n_numa > 0; i++) {
        const int32_t first = numa_first(m, i, numbered);
        for (int32_t j = 0; j < m->n_gpus; j++)
            if (numa_first(m, j, numbered) == j &&
                (numbered ? row_numa(m, j) < row_numa(m, i) : j < first))
                im->gpu_numa[i]++;
    }
    return 0;
}

/* Whether the text shows which GPUs share a switch: NVLinks hide that, NICs show it. */
static bool shows_pcie(const struct matrix *m)
{
    for (int32_t i = 0; i < m->n_gpus; i++)
        for (int32_t j = 0; j < m->n_gpus; j++)
            if (m->relation[i][j] > 0)
                return m->n > m->n_gpus;
    return true;
}

/* Gives each switch that has a GPU below it a number, by its first GPU. */
static void place_under_switches(const struct matrix *m, struct import *im)
{
    int32_t group[COLUMNS_MAX], number[COLUMNS_MAX];
    for (int32_t i = 0; i < m->n; i++) {
        group[i] = i;
        number[i] = -1;
    }
    for (int32_t i = 0; i < m->n; i++)
        for (int32_t j = 0; j < i; j++)
            if (m->relation[i][j] == SWITCH && group[i] != group[j])
                for (int32_t k = 0, from = group[i], to = group[j]; k < m->n; k++)
                    group[k] = group[k] == from ? to : group[k];
    for (int32_t i = 0; i < m->n_gpus; i++) {
        bool shared = false;
        for (int32_t j = 0; j < m->n; j++)
            shared |= j != i && group[j] == group[i];
        if (shared && number[group[i]] < 0) {
            number[group[i]] = im->n_pcie;
            im->pcie_numa[im->n_pcie++] = im->gpu_numa[i];
        }
        im->gpu_pcie[i] = number[group[i]];
    }
    for (int32_t k = m->n_gpus; k < m->n; k++)
        im->nics[k - m->n_gpus] =
            (struct instance_nic) { .rails = 1, .pcie = number[group[k]], .numa = -1 };
}

/* A NIC beside no GPU's switch: on the node of a GPU that reaches it within one, else
 * on one that has no GPU, else on the last. */
static int32_t nic_numa(const struct matrix *m, const struct import *im, int32_t nic)
{
    const int32_t k = m->n_gpus + nic;
    uint32_t taken = 0;
    if (im->nics[nic].pcie >= 0)
        return im->pcie_numa[im->nics[nic].pcie];
    for (int32_t i = 0; i < m->n_gpus; i++) {
        if (m->relation[i][k] == NODE)
            return im->gpu_numa[i];
        taken |= 1u << im->gpu_numa[i];
    }
    for (int32_t i = 0; i < im->n_numa; i++)
        if (!(taken & 1u << i))
            return i;
    return im->n_numa > 0 ? im->n_numa - 1 : 0;
}

static void describe_network(const struct matrix *m, struct import *im)
{
    im->n_nics = m->n - m->n_gpus;
    for (int32_t i = 0; i < im->n_nics; i++)
        im->nics[i].numa = nic_numa(m, im, i);
    if (im->n_nics > 0 && strstr(m->text, "rdmap"))
        im->network = IMPORT_ETHERNET; /* what EFA devices are called */
    else if (im->n_nics > 0 && strstr(m->text, "mlx"))
        im->network = IMPORT_INFINIBAND;
}

/* Links to each of the others, or all to switches: whoever completes the description
 * knows how many a GPU has. */
static void describe_nvlinks(const struct matrix *m, struct import *im)
{
    im->joint = m->n_gpus > 1 ? IMPORT_PCIE : IMPORT_UNTOLD;
    for (int32_t i = 0; i < m->n_gpus; i++)
        for (int32_t j = 0; j < m->n_gpus; j++) {
            const int links = m->relation[i][j];
            if (i == j || links <= 0)
                continue;
            im->joint = IMPORT_NVLINK;
            im->nvlinks[i][j] = (uint8_t)links;
            im->port_links = links > im->port_links ? links : im->port_links;
        }
}

static int describe(const struct matrix *m, struct import *im)
{
    im->n_gpus = m->n_gpus;
    if (place_on_numa(m, im))
        return -1;
    im->pcie_told = shows_pcie(m);
    place_under_switches(m, im);
    describe_network(m, im);
    describe_nvlinks(m, im);
    return 0;
}

int import_smi(struct import *im, struct cfg_loader *loader, const char *file)
{
    struct err err = { 0 };
    struct matrix *m = ARENA_NEW(&loader->arena, struct matrix);
    *im = (struct import) { .file = file, .format = "nvidia-smi topo -m" };
    m->loader = loader;
    m->file = file;
    char *text = file_read(file, TEXT_MAX, &m->len, &err);
    if (!text) {
        diags_error(&loader->diags, "%s", err.text);
        return -1;
    }
    m->text = arena_strndup(&loader->arena, text, m->len);
    free(text);
    const size_t bad = lenient_bad_byte(m->text, m->len);
    if (bad < m->len)
        return wrong(m, bad, "not a text file (a NUL byte, or no UTF-8)");
    blank_escapes(m->text);
    return read_matrix(m) ? -1 : describe(m, im);
}
