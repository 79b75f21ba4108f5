#include "hardware/import/smi_matrix.h"

#include "base/file.h"
#include "config/lenient.h"
#include "config/place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

static const struct name_value relations[] = {
    { "X", SMI_SELF },     { "SYS", SMI_SYS },  { "SOC", SMI_SYS },
    { "NODE", SMI_NODE },  { "PHB", SMI_NODE }, { "PXB", SMI_SWITCH },
    { "PIX", SMI_SWITCH }, { NULL, 0 },
};

int smi_error(const struct smi_matrix *m, size_t at, enum diag_code code,
              const char *fmt, ...)
{
    char what[256];
    struct place p = place_of(m->text, at);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    diags_add(&m->loader->diags,
              (struct diag) {
                  .code = code, .file = m->file, .line = p.line, .column = p.column },
              "%s", what);
    return -1;
}

/* Words ---------------------------------------------------------------------------- */

/* The next word of the line that *at is in; false at the line's end. */
static bool next_word(const struct smi_matrix *m, size_t *at, struct smi_word *w)
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

static size_t next_line(const struct smi_matrix *m, size_t at)
{
    const char *nl = memchr(m->text + at, '\n', m->len - at);
    return nl ? (size_t)(nl - m->text) + 1 : m->len;
}

static bool word_is(const struct smi_matrix *m, struct smi_word w, const char *s)
{
    return w.len == strlen(s) && memcmp(m->text + w.at, s, w.len) == 0;
}

bool smi_same_word(const struct smi_matrix *m, struct smi_word a, struct smi_word b)
{
    return a.len == b.len && memcmp(m->text + a.at, m->text + b.at, a.len) == 0;
}

/* "GPU12" is 12; -1 for anything else. */
static int gpu_number(const struct smi_matrix *m, struct smi_word w)
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

/* The header ----------------------------------------------------------------------- */

static bool is_header(const struct smi_matrix *m, size_t at)
{
    struct smi_word w;
    if (!next_word(m, &at, &w) || gpu_number(m, w) < 0)
        return false;
    while (next_word(m, &at, &w))
        if (word_is(m, w, "X"))
            return false;
    return true;
}

static int read_header(struct smi_matrix *m, size_t at)
{
    struct smi_word w;
    while (next_word(m, &at, &w) && !word_is(m, w, "CPU")) {
        const int gpu = gpu_number(m, w);
        if (gpu >= INSTANCE_HOST_GPUS_MAX)
            return smi_error(m, w.at, DIAG_NOT_SIMULATED,
                             "more than %d GPUs in one machine are not simulated",
                             INSTANCE_HOST_GPUS_MAX);
        if (gpu >= 0 && (gpu != m->n_gpus || m->n != m->n_gpus))
            return smi_error(m, w.at, DIAG_SYNTAX, "found GPU%d where GPU%d should be",
                             gpu, m->n_gpus);
        if (m->n - m->n_gpus == INSTANCE_HOST_NICS_MAX)
            return smi_error(m, w.at, DIAG_NOT_SIMULATED,
                             "more than %d NICs in one machine are not simulated",
                             INSTANCE_HOST_NICS_MAX);
        m->n_gpus += gpu >= 0;
        m->columns[m->n++] = w;
    }
    while (next_word(m, &at, &w))
        m->numa |= word_is(m, w, "NUMA");
    return 0;
}

/* Rows ----------------------------------------------------------------------------- */

static int relation_of(const struct smi_matrix *m, struct smi_word w)
{
    char text[8];
    int v;
    if (w.len >= sizeof(text))
        return SMI_NONE;
    memcpy(text, m->text + w.at, w.len);
    text[w.len] = '\0';
    if (names_find(relations, text, &v) == 0)
        return v;
    if (strncmp(text, "NV", 2) != 0 || !isdigit((unsigned char)text[2]))
        return SMI_NONE;
    char *end;
    long n = strtol(text + 2, &end, 10);
    return *end || n < 1 || n > 64 ? SMI_NONE : (int)n;
}

static int read_row(struct smi_matrix *m, int32_t i, size_t at)
{
    const struct smi_word name = m->columns[i];
    struct smi_word w;
    if (!next_word(m, &at, &w) || !smi_same_word(m, w, name))
        return smi_error(m, w.at, DIAG_SYNTAX,
                         "here the row of %.*s should begin (is the text cut?)",
                         (int)name.len, m->text + name.at);
    for (int32_t j = 0; j < m->n; j++) {
        if (!next_word(m, &at, &w))
            return smi_error(m, w.at, DIAG_SYNTAX,
                             "the row ends before the column of %.*s",
                             (int)m->columns[j].len, m->text + m->columns[j].at);
        m->cells[i][j] = w;
        m->relation[i][j] = relation_of(m, w);
        if (m->relation[i][j] == SMI_NONE)
            return smi_error(m, w.at, DIAG_SYNTAX,
                             "\"%.*s\" is none of X, NV#, PIX, PXB, PHB, NODE and SYS",
                             (int)(w.len < 40 ? w.len : 40), m->text + w.at);
        if ((m->relation[i][j] == SMI_SELF) != (i == j))
            return smi_error(m, w.at, DIAG_SYNTAX,
                             "X marks the device itself, and only it");
        if (m->relation[i][j] > 0 && (i >= m->n_gpus || j >= m->n_gpus))
            return smi_error(m, w.at, DIAG_SYNTAX, "NVLinks join GPUs, not NICs");
    }
    for (int k = 0; k < SMI_AFTER_MAX && next_word(m, &at, &w); k++)
        m->after[i][k] = w;
    return 0;
}

static int check_symmetry(const struct smi_matrix *m)
{
    for (int32_t i = 0; i < m->n; i++)
        for (int32_t j = 0; j < i; j++)
            if (m->relation[i][j] != m->relation[j][i])
                return smi_error(m, m->cells[i][j].at, DIAG_SYNTAX,
                                 "%.*s here, but %.*s the other way round",
                                 (int)m->cells[i][j].len, m->text + m->cells[i][j].at,
                                 (int)m->cells[j][i].len, m->text + m->cells[j][i].at);
    return 0;
}

static int read_matrix(struct smi_matrix *m)
{
    size_t at = 0;
    const char *rocm = strstr(m->text, "ROCm"),
               *amd = rocm ? rocm : strstr(m->text, "XGMI");
    if (amd)
        return smi_error(
            m, (size_t)(amd - m->text), DIAG_UNKNOWN_FORMAT,
            "AMD's GPUs, of which nothing is known here (only NVIDIA's are)");
    while (at < m->len && !is_header(m, at))
        at = next_line(m, at);
    if (at >= m->len)
        return smi_error(m, 0, DIAG_UNKNOWN_FORMAT,
                         "no matrix of \"nvidia-smi topo -m\", which begins with GPU0");
    if (read_header(m, at))
        return -1;
    for (int32_t i = 0; i < m->n; i++) {
        at = next_line(m, at);
        if (read_row(m, i, at))
            return -1;
    }
    return check_symmetry(m);
}

int smi_matrix_read(struct smi_matrix *m, struct cfg_loader *loader, const char *file)
{
    struct err err = { 0 };
    m->loader = loader;
    m->file = file;
    char *text = file_read(file, TEXT_MAX, &m->len, &err);
    if (!text) {
        diags_unreadable(&loader->diags, file, &err);
        return -1;
    }
    m->text = arena_strndup(&loader->arena, text, m->len);
    free(text);
    const size_t bad = lenient_bad_byte(m->text, m->len);
    if (bad < m->len)
        return smi_error(m, bad, DIAG_UNREADABLE,
                         "not a text file (a NUL byte, or no UTF-8)");
    blank_escapes(m->text);
    return read_matrix(m);
}
