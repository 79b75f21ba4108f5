#include "calibrate/ncclog.h"

#include "calibrate/ncclog_run.h"

#include <inttypes.h>
#include <string.h>

enum { LINE_MAX_B = 1 << 14 };

/* Text ----------------------------------------------------------------------------- */

struct reader {
    struct samples *s;
    const struct samples_hints *hints;
    const char *file;
    int64_t line;
    int64_t n_cut;          /* in all runs */
    char head[NCCLOG_HEAD]; /* of the row that was cut in two; "" */
    struct ncclog_run run;
};

static int end_run(struct reader *r)
{
    r->n_cut += r->run.n_cut;
    return ncclog_run_end(&r->run, r->s, r->file, r->hints);
}

/* A run begins: one that has rows ends with that; of one that has none, as it failed,
 * nothing is kept. */
static int start_run(struct reader *r)
{
    int op = r->run.op;
    bool listed = r->run.n_listed > 0, rows = r->run.rows.n > 0;
    if ((listed || rows || r->run.n_cut) && end_run(r))
        return -1;
    if (!rows)
        r->run.op = op; /* the command precedes what it prints */
    return 0;
}

static void add_rank(struct reader *r, const struct ncclog_line *line)
{
    r->run.has_groups = r->run.has_groups || line->group != 0;
    ncclog_run_rank(&r->run, r->s, line->rank, line->host, line->device);
}

static void add_row(struct reader *r, struct ncclog_line *line)
{
    line->row.line = r->line;
    if (line->kind == NCCLOG_CUT) {
        if (!r->run.n_cut++)
            r->run.cut_line = r->line;
    } else if (line->row.size_B > 0) {
        VEC_PUSH(&r->run.rows, line->row);
    }
}

static int take_line(struct reader *r, struct ncclog_line *line)
{
    if (line->kind == NCCLOG_START && start_run(r))
        return -1;
    if (line->kind == NCCLOG_RANK && r->run.rows.n && end_run(r))
        return -1;
    if (line->gpus_per_thread)
        r->run.gpus_per_thread = line->gpus_per_thread;
    if (line->kind == NCCLOG_RANK)
        add_rank(r, line);
    else if (line->kind == NCCLOG_HEADER)
        r->run.columns = line->columns;
    else if (line->kind == NCCLOG_ROW || line->kind == NCCLOG_CUT)
        add_row(r, line);
    if (line->n_ranks)
        r->run.n_ranks = line->n_ranks;
    if (line->n_nodes)
        r->run.n_nodes = line->n_nodes;
    if (line->n_wrong > 0)
        r->run.wrong_line = r->line;
    return 0;
}

/* A command, or the name in the header; after rows, of the next run. */
static int take_op(struct reader *r, int op)
{
    if (op == NCCLOG_OP_NONE)
        return 0;
    if (r->run.rows.n && r->run.op != op && end_run(r))
        return -1;
    r->run.op = op;
    return 0;
}

/* The numbers of a row that was cut in two make it a whole one. */
static void join_pieces(struct reader *r, struct ncclog_line *line, const char *text,
                        size_t len)
{
    char copy[2 * NCCLOG_HEAD];
    size_t n = len < sizeof(copy) - 1 ? len : sizeof(copy) - 1;
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (line->kind == NCCLOG_CUT)
        ncclog_head_keep(r->head, copy, &r->run.columns);
    if (line->kind != NCCLOG_OTHER || !r->head[0] ||
        !ncclog_head_join(&line->row, r->head, copy, &r->run.columns))
        return;
    line->kind = NCCLOG_ROW;
    r->head[0] = '\0';
    r->run.n_cut--;
}

/* Lines too long for a row are of the debugging output. */
static int read_line(struct reader *r, const char *text, size_t len)
{
    char copy[LINE_MAX_B];
    if (len >= sizeof(copy))
        return 0;
    memcpy(copy, text, len);
    copy[len] = '\0';
    struct ncclog_line line = ncclog_line_read(copy, &r->run.columns);
    join_pieces(r, &line, text, len);
    return take_line(r, &line) || take_op(r, line.op) ? -1 : 0;
}

static int nothing_read(const struct reader *r)
{
    if (r->n_cut)
        diags_add(&r->s->loader->diags,
                  diag_at_line(DIAG_ERROR, DIAG_NO_DATA, r->file, 0),
                  "no row of it can be read, of %" PRId64 ": cut short, or time, size "
                  "and algbw do not agree",
                  (int64_t)r->n_cut);
    else
        diags_add(&r->s->loader->diags,
                  diag_at_line(DIAG_ERROR, DIAG_UNKNOWN_FORMAT, r->file, 0),
                  "no measurement is in it (it should be output of "
                  "smsim-measure, a log of nccl-tests, or a table of kernels as CSV)");
    return -1;
}

int ncclog_read(struct samples *s, const char *file, const char *text,
                const struct samples_hints *hints)
{
    struct reader *r = xmalloc(sizeof(*r)); /* its list of hosts is long */
    int64_t before = s->colls.n, warned = s->loader->diags.n_warnings;
    int rc = 0;
    memset(r, 0, sizeof(*r));
    r->s = s;
    r->hints = hints;
    r->file = file;
    ncclog_run_init(&r->run);
    for (const char *at = text; *at && rc == 0;) {
        size_t len = strcspn(at, "\n");
        r->line++;
        rc = read_line(r, at, len);
        at += len + (at[len] == '\n');
    }
    if (rc == 0)
        rc = end_run(r);
    bool said = s->loader->diags.n_warnings > warned && !r->n_cut;
    if (rc == 0 && s->colls.n == before && !s->filter && !said)
        rc = nothing_read(r);
    ncclog_run_release(&r->run);
    free(r);
    return rc;
}

/* JSON ----------------------------------------------------------------------------- */

/* The placement that was timed, out of place where both were; host times are absent. */
static int read_timed(struct cfg result, struct cfg *timed)
{
    *timed = cfg_get(result, "out_of_place");
    if (!cfg_present(*timed))
        *timed = cfg_get(result, "in_place");
    if (cfg_present(cfg_get(*timed, "cpu_time")) &&
        !cfg_present(cfg_get(*timed, "time")))
        return cfg_error(
            cfg_get(*timed, "cpu_time"), DIAG_NO_DATA,
            "is the host's time (-C), not the collective's: run without -C");
    return 0;
}

static int read_plain(struct cfg timed, const char *key, double *v)
{
    struct cfg c = cfg_get(timed, key);
    *v = 0; /* written as a word where it is no number, null where none was counted */
    return cfg_is_number(c) ? cfg_real(c, v, 0, 1e12) : 0;
}

static int read_result(struct ncclog_run *run, struct cfg result)
{
    struct cfg timed;
    struct ncclog_row row = { .line = cfg_line(result) };
    const char *redop = "none", *root = "-1", *type = "";
    if (read_timed(result, &timed) ||
        cfg_real(cfg_get(result, "size"), &row.size_B, 0, 1e18) ||
        cfg_real(cfg_get(result, "count"), &row.count_B, 0, 1e18) ||
        cfg_string(cfg_get(result, "type"), &type) ||
        cfg_real(cfg_get(timed, "time"), &row.time, 0, 1e12) ||
        read_plain(timed, "alg_bw", &row.alg) ||
        read_plain(timed, "bus_bw", &row.bus) ||
        read_plain(timed, "nwrong", &row.n_wrong))
        return -1;
    if (row.size_B == 0)
        return 0;
    if (row.time <= 0)
        return cfg_error(cfg_get(timed, "time"), DIAG_OUT_OF_RANGE,
                         "is not a positive time");
    if (cfg_is_string(cfg_get(result, "redop")))
        cfg_string(cfg_get(result, "redop"), &redop);
    if (cfg_is_string(cfg_get(result, "root")))
        cfg_string(cfg_get(result, "root"), &root);
    row.count_B *= ncclog_dtype_bytes(type);
    row.reduces = strcmp(redop, "none") != 0;
    row.has_root = strchr(root, '-') == NULL;
    row.checked = row.in_place_checked = true;
    VEC_PUSH(&run->rows, row);
    return 0;
}

/* One device is listed a process, which may have several, in threads or not. */
static int read_devices(struct ncclog_run *run, struct samples *s, struct cfg config)
{
    struct cfg devices = cfg_get(config, "devices");
    int64_t n_gpus = 1, n_threads = 1;
    if (cfg_present(cfg_get(config, "ngpus")) &&
        cfg_int(cfg_get(config, "ngpus"), &n_gpus, 1, 1024))
        return -1;
    if (cfg_present(cfg_get(config, "nthreads")) &&
        cfg_int(cfg_get(config, "nthreads"), &n_threads, 1, 1024))
        return -1;
    for (int64_t i = 0; i < cfg_len(devices); i++) {
        struct cfg d = cfg_at(devices, i);
        const char *host = NULL, *name = NULL;
        if (cfg_is_string(cfg_get(d, "hostname")))
            cfg_string(cfg_get(d, "hostname"), &host);
        if (cfg_is_string(cfg_get(d, "device_info")))
            cfg_string(cfg_get(d, "device_info"), &name);
        ncclog_run_rank(run, s, i, host, name);
    }
    run->n_ranks = run->n_listed * n_gpus * n_threads;
    run->gpus_per_thread = n_gpus;
    return 0;
}

/* Values that came out wrong in the whole run. */
static int read_wrong(struct ncclog_run *run, struct cfg count)
{
    int64_t n = 0;
    if (cfg_present(count) && cfg_int(count, &n, 0, INT64_MAX))
        return -1;
    run->wrong_line = n > 0 ? cfg_line(count) : 0;
    return 0;
}

int ncclog_read_json(struct samples *s, const char *file, struct cfg root,
                     const struct samples_hints *hints)
{
    struct ncclog_run *run = xmalloc(sizeof(*run));
    struct cfg results = cfg_get(root, "results");
    struct cfg program = cfg_at(cfg_get(root, "args"), 0);
    const char *name = NULL;
    int rc = 0;
    ncclog_run_init(run);
    run->columns = (struct ncclog_columns) { .known = true, .has_root = true };
    if (!cfg_is_array(results))
        rc = cfg_error(results, DIAG_WRONG_TYPE, "is not a list of results");
    if (rc == 0 && cfg_is_string(program) && cfg_string(program, &name) == 0)
        run->op = ncclog_op_of(name);
    if (rc == 0)
        rc = read_devices(run, s, cfg_get(root, "config"));
    for (int64_t i = 0; rc == 0 && i < cfg_len(results); i++)
        rc = read_result(run, cfg_at(results, i));
    if (rc == 0)
        rc = read_wrong(run, cfg_get(cfg_get(root, "out_of_bounds"), "count"));
    if (rc == 0)
        rc = ncclog_run_end(run, s, file, hints);
    ncclog_run_release(run);
    free(run);
    return rc;
}
