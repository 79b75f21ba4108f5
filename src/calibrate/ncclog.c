#include "calibrate/ncclog.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 64, HOSTS_MAX = 1024, LINE_MAX_B = 1 << 16 };

struct row {
    double size_B, time_s, bus_over_alg; /* the last is NAN where it is not told */
    int64_t line;
};

/* One run of one test program. */
struct nccl_run {
    const char *file;
    int op;          /* -1: not told yet */
    int64_t n_ranks; /* counted in the list of devices; 0: none listed */
    int64_t n_hosts;
    const char *hosts[HOSTS_MAX];
    const char *device; /* of rank 0; NULL */
    bool has_header, has_root;
    VEC(struct row) rows;
};

struct reader {
    struct samples *s;
    const struct samples_hints *hints;
    const char *file;
    int64_t line;
    struct nccl_run run;
};

static const char *const dtypes[] = {
    "int8",     "uint8",  "char",    "int32",    "int",      "uint32", "int64",
    "uint64",   "half",   "float16", "float",    "float32",  "double", "float64",
    "bfloat16", "f8e4m3", "f8e5m2",  "fp8_e4m3", "fp8_e5m2", NULL,
};

static int fail_at(struct reader *r, int64_t line, const char *what)
{
    diags_error(&r->s->loader->diags, "%s:%lld: %s", r->file, (long long)line, what);
    return -1;
}

/* --- what a run comes to ---------------------------------------------------------- */

static int op_of(const char *text)
{
    int best = -1;
    size_t longest = 0;
    for (const struct name_value *n = coll_op_names; n->name; n++) {
        char program[64];
        snprintf(program, sizeof(program), "%s_perf", n->name);
        if (strlen(program) > longest && strstr(text, program)) {
            longest = strlen(program);
            best = n->value;
        }
    }
    return best;
}

/* The file's name may say what its header does not: "p5-all_reduce.log". */
static int op_of_name(const char *file)
{
    int best = -1;
    size_t longest = 0;
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    for (const struct name_value *n = coll_op_names; n->name; n++)
        if (strlen(n->name) > longest && strstr(name, n->name)) {
            longest = strlen(n->name);
            best = n->value;
        }
    return best;
}

/* Ranks by bus over algorithm bandwidth of the largest size; 0 where that says
 * nothing. */
static int64_t ranks_by_factor(const struct nccl_run *run)
{
    double size = 0, f = (double)NAN, n = 0;
    for (int64_t i = 0; i < run->rows.n; i++)
        if (run->rows.v[i].size_B >= size) {
            size = run->rows.v[i].size_B;
            f = run->rows.v[i].bus_over_alg;
        }
    if (run->op == COLL_ALL_REDUCE)
        n = 2 / (2 - f);
    else if (run->op == COLL_ALL_GATHER || run->op == COLL_REDUCE_SCATTER ||
             run->op == COLL_ALLTOALL || run->op == COLL_SCATTER)
        n = 1 / (1 - f);
    return n >= 1 && n < 1e6 ? llround(n) : 0;
}

static int run_ranks(struct reader *r, int64_t *n_ranks, int64_t *n_nodes)
{
    const struct nccl_run *run = &r->run;
    int64_t listed = run->n_ranks, told = ranks_by_factor(run);
    *n_ranks = r->hints->n_ranks ? r->hints->n_ranks : listed > 1 ? listed : told;
    if (*n_ranks == 0)
        *n_ranks = listed;
    *n_nodes = r->hints->n_nodes ? r->hints->n_nodes : run->n_hosts ? run->n_hosts : 1;
    if (*n_ranks == 0)
        return fail_at(r, run->rows.v[0].line,
                       "nothing tells the number of ranks (give it by --ranks)");
    return 0;
}

/* Hands the rows of a run over to the samples, and clears it. */
static int run_end(struct reader *r)
{
    struct nccl_run *run = &r->run;
    int64_t n_ranks = 0, n_nodes = 0;
    int rc = 0, device = 1;
    if (run->rows.n) {
        if (run->op < 0)
            run->op = r->hints->op >= 0 ? r->hints->op : op_of_name(r->file);
        if (run->op < 0)
            rc = fail_at(r, run->rows.v[0].line,
                         "nothing tells the operation (give it by --op)");
        if (rc == 0)
            rc = run_ranks(r, &n_ranks, &n_nodes);
        if (rc == 0 && run->device)
            device = samples_device(r->s, run->device, r->file);
    }
    for (int64_t i = 0; rc == 0 && device > 0 && i < run->rows.n; i++)
        VEC_PUSH(&r->s->colls, ((struct sample_coll) { (enum coll_op)run->op, n_ranks,
                                                       n_nodes, run->rows.v[i].size_B,
                                                       run->rows.v[i].time_s }));
    VEC_RELEASE(&run->rows);
    *run = (struct nccl_run) { .op = -1 };
    return rc || device < 0 ? -1 : 0;
}

/* --- lines ------------------------------------------------------------------------ */

/* Beyond what mpirun or a parallel shell puts before a line. */
static const char *skip_prefix(const char *line)
{
    const char *at = strstr(line, ">:");
    if (at && line[strspn(line, " \t")] == '[')
        return at + 2;
    at = line + strspn(line, " \t");
    size_t word = strcspn(at, " \t:#");
    if (word && at[word] == ':') {
        const char *rest = at + word + 1;
        const char *next = rest + strspn(rest, " \t");
        if (next > rest && (*next == '#' || isdigit((unsigned char)*next)))
            return rest;
    }
    return line;
}

static bool is_whole(const char *w)
{
    if (*w == '-')
        w++;
    return *w && w[strspn(w, "0123456789")] == '\0';
}

static bool is_dtype(const char *w)
{
    for (int i = 0; dtypes[i]; i++)
        if (strcmp(w, dtypes[i]) == 0)
            return true;
    return false;
}

static bool is_number(const char *w)
{
    char *end;
    strtod(w, &end);
    return end != w && *end == '\0';
}

static int split(char *line, char **words)
{
    int n = 0;
    char *save = NULL;
    for (char *w = strtok_r(line, " \t\r", &save); w && n < WORDS_MAX;
         w = strtok_r(NULL, " \t\r", &save))
        words[n++] = w;
    return n;
}

/* "#  Rank  3 Group  0 Pid 41 on host-2 device  3 [0x10] NVIDIA A100-SXM4-40GB" */
static void read_rank(struct reader *r, char **words, int n)
{
    struct nccl_run *run = &r->run;
    int on = 0, bracket = 0;
    for (int i = 0; i < n; i++) {
        if (strcmp(words[i], "on") == 0)
            on = i;
        if (strchr(words[i], ']') && !bracket)
            bracket = i;
    }
    run->n_ranks++;
    if (!on || on + 1 >= n)
        return;
    bool known = false;
    for (int64_t i = 0; i < run->n_hosts && !known; i++)
        known = strcmp(run->hosts[i], words[on + 1]) == 0;
    if (!known && run->n_hosts < HOSTS_MAX)
        run->hosts[run->n_hosts++] = arena_strdup(&r->s->loader->arena, words[on + 1]);
    if (run->device || !bracket)
        return;
    struct strbuf name;
    strbuf_init(&name);
    for (int i = bracket + 1; i < n; i++)
        strbuf_printf(&name, "%s%s", i > bracket + 1 ? " " : "", words[i]);
    if (name.len)
        run->device = arena_strdup(&r->s->loader->arena, name.s);
    strbuf_release(&name);
}

static bool has_word(char **words, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static int read_comment(struct reader *r, const char *text, char **words, int n)
{
    if (strstr(text, "nThread") || strstr(text, "Collective test starting"))
        if (r->run.rows.n && run_end(r))
            return -1;
    if (strstr(text, "Using devices") && r->run.rows.n && run_end(r))
        return -1;
    if (has_word(words, n, "Rank") && has_word(words, n, "Pid"))
        read_rank(r, words, n);
    if (has_word(words, n, "type") && has_word(words, n, "algbw")) {
        r->run.has_header = true;
        r->run.has_root = has_word(words, n, "root");
    }
    int op = op_of(text);
    if (op >= 0)
        r->run.op = op;
    return 0;
}

/* words[0] is the size, words[2] the number format. */
static int read_row(struct reader *r, char **words, int n)
{
    int at = 3;
    while (at < n && !is_number(words[at]) && strcmp(words[at], "N/A") != 0)
        at++; /* the reduction */
    int rest = n - at;
    bool root = r->run.has_header ? r->run.has_root : rest % 2 == 1;
    at += root;
    if (n - at < 4)
        return fail_at(r, r->line, "the row is cut short");
    double size = strtod(words[0], NULL), time = strtod(words[at], NULL);
    double alg = strtod(words[at + 1], NULL), bus = strtod(words[at + 2], NULL);
    if (size == 0)
        return 0;
    if (!is_number(words[at]) || !isfinite(time) || time <= 0)
        return fail_at(r, r->line, "the time is not a positive number");
    double factor = alg > 0 ? bus / alg : (double)NAN;
    VEC_PUSH(&r->run.rows, ((struct row) { size, time * 1e-6, factor, r->line }));
    return 0;
}

static int read_line(struct reader *r, const char *text, size_t len)
{
    char copy[LINE_MAX_B], *words[WORDS_MAX];
    if (len >= sizeof(copy))
        return fail_at(r, r->line, "the line is too long for a log of nccl-tests");
    memcpy(copy, text, len);
    copy[len] = '\0';
    const char *from = skip_prefix(copy);
    int op = op_of(from);
    size_t offset = (size_t)(from - copy);
    int n = split(copy + offset, words);
    if (n == 0)
        return 0;
    if (words[0][0] == '#') {
        char again[LINE_MAX_B];
        memcpy(again, text + offset, len - offset);
        again[len - offset] = '\0';
        return read_comment(r, again, words, n);
    }
    if (n >= 3 && is_whole(words[0]) && is_whole(words[1]) && is_dtype(words[2]))
        return read_row(r, words, n);
    if (op >= 0 && r->run.rows.n == 0)
        r->run.op = op; /* the command, as a script echoed it */
    return 0;
}

int ncclog_read(struct samples *s, const char *file, const char *text,
                const struct samples_hints *hints)
{
    struct reader r = { .s = s, .hints = hints, .file = file, .run = { .op = -1 } };
    int64_t before = s->colls.n;
    int rc = 0;
    for (const char *at = text; *at && rc == 0;) {
        size_t len = strcspn(at, "\n");
        r.line++;
        rc = read_line(&r, at, len);
        at += len + (at[len] == '\n');
    }
    if (rc == 0)
        rc = run_end(&r);
    VEC_RELEASE(&r.run.rows);
    if (rc == 0 && s->colls.n == before && !s->filter) {
        diags_error(
            &s->loader->diags,
            "%s: no measurement is in it (it should be output of smsim-measure, "
            "a log of nccl-tests, or a table of kernels as CSV)",
            file);
        rc = -1;
    }
    return rc;
}

/* --- JSON ------------------------------------------------------------------------- */

static int read_result(struct reader *r, struct cfg result)
{
    struct cfg timed = cfg_get(result, "out_of_place");
    struct row row = { .bus_over_alg = (double)NAN, .line = 1 };
    double alg = 0, bus = 0, time_us = 0;
    if (!cfg_present(timed))
        timed = cfg_get(result, "in_place");
    if (cfg_real(cfg_get(result, "size"), &row.size_B, 0, 1e18) ||
        cfg_real(cfg_get(timed, "time"), &time_us, 0, 1e12))
        return -1;
    if (row.size_B == 0)
        return 0;
    if (time_us <= 0)
        return cfg_error(cfg_get(timed, "time"), "is not a positive time");
    row.time_s = time_us * 1e-6;
    if (cfg_is_number(cfg_get(timed, "alg_bw")) &&
        cfg_is_number(cfg_get(timed, "bus_bw")) &&
        cfg_real(cfg_get(timed, "alg_bw"), &alg, 0, 1e9) == 0 &&
        cfg_real(cfg_get(timed, "bus_bw"), &bus, 0, 1e9) == 0 && alg > 0)
        row.bus_over_alg = bus / alg;
    VEC_PUSH(&r->run.rows, row);
    return 0;
}

static void read_devices(struct reader *r, struct cfg devices)
{
    for (int64_t i = 0; i < cfg_len(devices); i++) {
        struct cfg d = cfg_at(devices, i);
        const char *host = NULL, *name = NULL;
        r->run.n_ranks++;
        if (cfg_is_string(cfg_get(d, "hostname")))
            cfg_string(cfg_get(d, "hostname"), &host);
        if (cfg_is_string(cfg_get(d, "device_info")))
            cfg_string(cfg_get(d, "device_info"), &name);
        bool known = host == NULL;
        for (int64_t h = 0; h < r->run.n_hosts && !known; h++)
            known = strcmp(r->run.hosts[h], host) == 0;
        if (!known && r->run.n_hosts < HOSTS_MAX)
            r->run.hosts[r->run.n_hosts++] = host;
        if (!r->run.device)
            r->run.device = name;
    }
}

int ncclog_read_json(struct samples *s, struct cfg root,
                     const struct samples_hints *hints)
{
    struct reader r = { .s = s, .hints = hints, .file = s->file, .run = { .op = -1 } };
    struct cfg results = cfg_get(root, "results");
    const char *program = NULL;
    if (!cfg_is_array(results))
        return cfg_error(results, "is not a list of results");
    if (cfg_is_string(cfg_at(cfg_get(root, "args"), 0)) &&
        cfg_string(cfg_at(cfg_get(root, "args"), 0), &program) == 0)
        r.run.op = op_of(program);
    read_devices(&r, cfg_get(cfg_get(root, "config"), "devices"));
    int rc = 0;
    for (int64_t i = 0; i < cfg_len(results) && rc == 0; i++)
        rc = read_result(&r, cfg_at(results, i));
    if (rc == 0)
        rc = run_end(&r);
    VEC_RELEASE(&r.run.rows);
    return rc;
}
