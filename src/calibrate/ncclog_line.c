#include "calibrate/ncclog_line.h"

#include "cost/collective.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 96, NUMBERS_MAX = 24 };

static const double size_max_B = 1e18;

/* Number formats, as the programs name them, and their bytes. */
static const struct {
    const char *name;
    int bytes;
} dtypes[] = {
    { "int8", 1 },    { "uint8", 1 },    { "char", 1 },     { "f8e4m3", 1 },
    { "f8e5m2", 1 },  { "fp8_e4m3", 1 }, { "fp8_e5m2", 1 }, { "half", 2 },
    { "float16", 2 }, { "bfloat16", 2 }, { "int32", 4 },    { "uint32", 4 },
    { "int", 4 },     { "float", 4 },    { "float32", 4 },  { "int64", 8 },
    { "uint64", 8 },  { "double", 8 },   { "float64", 8 },
};

static const char *const foreign_programs[] = { "gather", "hypercube", "alltoallv" };

/* Words ---------------------------------------------------------------------------- */

static bool is_whole(const char *w)
{
    return *w && w[strspn(w, "0123456789")] == '\0';
}

static bool is_absent(const char *w)
{
    return strcmp(w, "N/A") == 0;
}

static bool is_number(const char *w)
{
    char *end;
    strtod(w, &end);
    return end != w && *end == '\0';
}

int ncclog_dtype_bytes(const char *dtype)
{
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (strcmp(dtype, dtypes[i].name) == 0)
            return dtypes[i].bytes;
    return 0;
}

/* Colours of terminals become blanks, and so do ranks in brackets, which some launchers
 * put before each piece of a line: "sum -1[0] 1626.5". */
static void blank_marks(char *text)
{
    for (char *at = text; *at; at++) {
        size_t n = 0;
        if (*at == '\033' && at[1] == '[') {
            n = 2 + strspn(at + 2, "0123456789;");
            n += at[n] != '\0';
        } else if (*at == '[') {
            n = 1 + strspn(at + 1, "0123456789");
            n = n > 1 && at[n] == ']' ? n + 1 : 0;
        }
        if (n)
            memset(at, ' ', n);
    }
}

static int split(char *text, char **words)
{
    int n = 0;
    char *save = NULL;
    for (char *w = strtok_r(text, " \t\r", &save); w && n < WORDS_MAX;
         w = strtok_r(NULL, " \t\r", &save))
        words[n++] = w;
    return n;
}

/* The index of a word; -1. */
static int find(char **words, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* The whole number after a word; `otherwise` where there is none. */
static int64_t number_after(char **words, int n, const char *word, int64_t otherwise)
{
    int at = find(words, n, word);
    if (at < 0 || at + 1 >= n || !is_whole(words[at + 1]) || strlen(words[at + 1]) > 9)
        return otherwise;
    return strtoll(words[at + 1], NULL, 10);
}

/* Programs ------------------------------------------------------------------------- */

/* The operation whose name ends right before `end`. */
static int op_before(const char *text, const char *end)
{
    const char *from = end;
    while (from > text && (isalnum((unsigned char)from[-1]) || from[-1] == '_'))
        from--;
    size_t length = (size_t)(end - from);
    for (const struct name_value *n = coll_op_names; n->name; n++)
        if (strlen(n->name) == length && strncmp(from, n->name, length) == 0)
            return n->value;
    for (size_t i = 0; i < sizeof(foreign_programs) / sizeof(foreign_programs[0]); i++)
        if (strlen(foreign_programs[i]) == length &&
            strncmp(from, foreign_programs[i], length) == 0)
            return NCCLOG_OP_FOREIGN;
    return NCCLOG_OP_NONE;
}

int ncclog_op_of(const char *text)
{
    int found = NCCLOG_OP_NONE;
    for (const char *at = text; (at = strstr(at, "_perf")); at++) {
        int op = op_before(text, at);
        if (op == NCCLOG_OP_NONE || op == found)
            continue;
        if (found != NCCLOG_OP_NONE)
            return NCCLOG_OP_NONE; /* a list of programs */
        found = op;
    }
    return found;
}

/* Rows ----------------------------------------------------------------------------- */

/* A word's last digits, where the rest is a prefix that was glued to them. */
static const char *whole_tail(const char *w)
{
    size_t at = strlen(w);
    while (at > 0 && isdigit((unsigned char)w[at - 1]))
        at--;
    if (w[at] == '\0' || (at > 0 && !strchr(":>|)", w[at - 1])))
        return NULL;
    return w + at;
}

/* The index of a row's size: before a count and a number format; -1. */
static int find_row(char **words, int n)
{
    for (int i = 0; i + 2 < n; i++)
        if (ncclog_dtype_bytes(words[i + 2]) && is_whole(words[i + 1]) &&
            whole_tail(words[i]))
            return i;
    return -1;
}

/* Whether a word is a reduction, or the "none" that represents one. */
static bool is_reduction(const char *w)
{
    return isalpha((unsigned char)*w) && !is_number(w) && !is_absent(w) &&
           w[strspn(w, "abcdefghijklmnopqrstuvwxyz")] == '\0';
}

/* Values that came out wrong, of a word of such a column. */
static double wrong_of(const char *word)
{
    double n = is_number(word) ? strtod(word, NULL) : 0;
    return n > 0 ? n : 0;
}

/* Time, bandwidths and check from the numbers on; false where they are not there. */
static bool take_numbers(struct ncclog_row *row, char **at, int n)
{
    if (n < 4)
        return false;
    bool in_place = is_absent(at[0]) && n >= 8; /* there is nothing else */
    char **from = at + 4 * in_place;
    if (!is_number(from[0]) || !is_number(from[1]) || !is_number(from[2]))
        return false;
    row->time = strtod(from[0], NULL);
    row->alg = strtod(from[1], NULL);
    row->bus = strtod(from[2], NULL);
    row->checked = !is_absent(at[3]);
    row->in_place_checked = n < 8 || !is_absent(at[7]);
    row->n_wrong = wrong_of(at[3]) + (n < 8 ? 0 : wrong_of(at[7]));
    return true;
}

double ncclog_row_unit_s(const struct ncclog_row *row, double *base_B)
{
    const double sizes[] = { row->size_B, row->count_B }, units[] = { 1e-6, 1e-3 };
    *base_B = row->size_B;
    if (!(row->alg >= 0.02))
        return 0;
    for (int u = 0; u < 2; u++)
        for (int s = 0; s < 2; s++) {
            double ratio = row->alg * 1e9 * row->time * units[u] / sizes[s];
            double digits = 0.006 / row->alg + 0.0006 / row->time;
            if (fabs(ratio - 1) < 0.015 + digits) {
                *base_B = sizes[s];
                return units[u];
            }
        }
    return -1;
}

static bool read_row(struct ncclog_row *row, char **words, int n,
                     const struct ncclog_columns *columns)
{
    double base_B;
    int at = 3, n_numbers = 0;
    row->size_B = strtod(whole_tail(words[0]), NULL);
    row->count_B = strtod(words[1], NULL) * ncclog_dtype_bytes(words[2]);
    if (at < n && is_reduction(words[at]))
        row->reduces = strcmp(words[at++], "none") != 0;
    while (at + n_numbers < n && n_numbers < NUMBERS_MAX &&
           (is_number(words[at + n_numbers]) || is_absent(words[at + n_numbers])))
        n_numbers++;
    bool root = columns->known ? columns->has_root : n_numbers % 2 == 1;
    if (n_numbers < 1 || !take_numbers(row, words + at + root, n_numbers - root) ||
        row->size_B > size_max_B || row->count_B > size_max_B)
        return false;
    row->has_root = root && is_whole(words[at]);
    if (!columns->has_wrong)
        row->n_wrong = 0; /* in old programs the error of the values */
    return row->size_B == 0 || ncclog_row_unit_s(row, &base_B) >= 0;
}

/* Rows in pieces ------------------------------------------------------------------- */

void ncclog_head_keep(char head[NCCLOG_HEAD], const char *text,
                      const struct ncclog_columns *columns)
{
    static const char inserted[] = " NCCL INFO ";
    char copy[2 * NCCLOG_HEAD], *words[WORDS_MAX];
    head[0] = '\0';
    if (!columns->known || !columns->has_root || !strstr(text, inserted))
        return;
    snprintf(copy, sizeof(copy), "%s", text);
    blank_marks(copy);
    int n = split(copy, words), at = find_row(words, n);
    if (at < 0 || at + 4 >= n || !is_reduction(words[at + 3]))
        return;
    const char *root = words[at + 4]; /* "-1host:41:41" */
    bool is_root = *root != '-';
    if (!isdigit((unsigned char)root[!is_root]))
        return;
    int length =
        snprintf(head, NCCLOG_HEAD, "%s %s %s %s %s", whole_tail(words[at]),
                 words[at + 1], words[at + 2], words[at + 3], is_root ? "0" : "-1");
    if (length >= NCCLOG_HEAD)
        head[0] = '\0';
}

bool ncclog_head_join(struct ncclog_row *row, const char *head, const char *text,
                      const struct ncclog_columns *columns)
{
    enum { NUMBERS = 3 };
    char copy[2 * NCCLOG_HEAD], line[4 * NCCLOG_HEAD], *words[WORDS_MAX];
    snprintf(copy, sizeof(copy), "%s", text);
    blank_marks(copy);
    int n = split(copy, words);
    for (int i = 0; i < NUMBERS; i++)
        if (i >= n || !is_number(words[i]) || !isdigit((unsigned char)*words[i]))
            return false;
    snprintf(line, sizeof(line), "%s %s %s %s 0", head, words[0], words[1], words[2]);
    n = split(line, words);
    return find_row(words, n) == 0 && read_row(row, words, n, columns);
}

/* Lines ---------------------------------------------------------------------------- */

/* "#  Rank  3 Group  0 Pid 41 on host-2 device  3 [0x10] NVIDIA A100-SXM4-40GB", in the
 * oldest programs "#   Device  0 ->  0 [0x0a] GeForce GTX TITAN X". */
static bool read_rank(struct ncclog_line *line, char **words, int n)
{
    int device = find(words, n, "device"), on = find(words, n, "on");
    int oldest = find(words, n, "->");
    line->rank = number_after(words, n, "Rank", -1);
    line->group = number_after(words, n, "Group", 0);
    if (line->rank < 0 && oldest > 1 && strcmp(words[oldest - 2], "Device") == 0) {
        line->rank = number_after(words, n, "Device", -1);
        device = oldest;
    }
    if (line->rank < 0 || device < 0)
        return false;
    if (on >= 0 && on + 1 < device)
        line->host = words[on + 1];
    for (int i = device; i < n; i++) {
        size_t length = strlen(words[i]);
        if (words[i][length - 1] != ']' || i + 1 >= n)
            continue;
        for (char *c = words[i + 1]; c < words[n - 1]; c++)
            if (*c == '\0')
                *c = ' '; /* the name's words together again */
        line->device = words[i + 1];
        break;
    }
    return true;
}

static bool read_header(struct ncclog_columns *columns, char **words, int n)
{
    if (find(words, n, "type") < 0 || find(words, n, "algbw") < 0)
        return false;
    *columns = (struct ncclog_columns) {
        .known = true,
        .has_root = find(words, n, "root") >= 0,
        .host_times = find(words, n, "cputime") >= 0,
        .milliseconds = find(words, n, "bytes") >= 0,
        .has_wrong = find(words, n, "#wrong") >= 0,
    };
    return true;
}

struct ncclog_line ncclog_line_read(char *text, const struct ncclog_columns *columns)
{
    struct ncclog_line line = { .op = ncclog_op_of(text) };
    char *words[WORDS_MAX];
    bool starts = (strstr(text, "nThread") && strstr(text, "minBytes")) ||
                  strstr(text, "Collective test starting") ||
                  strstr(text, "Using devices");
    blank_marks(text);
    int n = split(text, words), row = find_row(words, n);
    line.n_ranks =
        number_after(words, n, "nranks", number_after(words, n, "nRanks", 0));
    line.n_nodes = number_after(words, n, "nNodes", 0);
    int bounds = find(words, n, "bounds"); /* "# Out of bounds values : 3 FAILED" */
    if (bounds >= 0 && bounds + 1 < n && strcmp(words[bounds + 1], "values") == 0)
        line.n_wrong = number_after(words + bounds, n - bounds, ":", 0);
    if (row >= 0) {
        bool good = read_row(&line.row, words + row, n - row, columns);
        line.kind = good ? NCCLOG_ROW : NCCLOG_CUT;
    } else if (starts) {
        line.kind = NCCLOG_START;
        line.gpus_per_thread = number_after(words, n, "nGpus", 0);
    } else if (read_rank(&line, words, n)) {
        line.kind = NCCLOG_RANK;
    } else if (read_header(&line.columns, words, n)) {
        line.kind = NCCLOG_HEADER;
    }
    return line;
}
