#include "calibrate/ncclog_run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void ncclog_run_init(struct ncclog_run *run)
{
    memset(run, 0, sizeof(*run));
    run->op = NCCLOG_OP_NONE;
    run->last_rank = -1;
}

void ncclog_run_release(struct ncclog_run *run)
{
    VEC_RELEASE(&run->rows);
}

void ncclog_run_rank(struct ncclog_run *run, struct samples *s, int64_t rank,
                     const char *host, const char *device)
{
    bool known = host == NULL;
    run->is_copied = run->is_copied || rank <= run->last_rank;
    run->last_rank = rank;
    run->n_listed++;
    for (int64_t i = 0; i < run->n_hosts && !known; i++)
        known = strcmp(run->hosts[i], host) == 0;
    if (!known && run->n_hosts < NCCLOG_HOSTS_MAX)
        run->hosts[run->n_hosts++] = arena_strdup(&s->loader->arena, host);
    if (!run->device && device && *device)
        run->device = arena_strdup(&s->loader->arena, device);
}

/* What the rows say ---------------------------------------------------------------- */

/* What is read from all rows together. */
struct parse_context {
    const struct samples_hints *hints;
    const char *file;
    int64_t line; /* of the first row, for messages */
    int op;
    bool op_known; /* by the log, its name or the caller, not by the columns */
    int64_t n_ranks, n_nodes;
    double unit_s;               /* of the rows' times */
    double factor_lo, factor_hi; /* bus over algorithm bandwidth, as rounding allows */
    int64_t odd_line;            /* of a row of another factor; 0 */
    int64_t parts;               /* pieces that a size is made of: ranks, or 1 */
};

static int fail(struct samples *s, const struct parse_context *r, enum diag_code code,
                const char *what)
{
    diags_add(&s->loader->diags, diag_at_line(DIAG_ERROR, code, r->file, r->line), "%s",
              what);
    return -1;
}

/* Bounds of bus over algorithm bandwidth, which are printed to hundredths: what all
 * rows allow. */
static void set_factor(struct parse_context *r, const struct ncclog_run *run)
{
    r->factor_hi = (double)INFINITY;
    for (int64_t i = 0; i < run->rows.n; i++) {
        const struct ncclog_row *row = &run->rows.v[i];
        double base_B, half = row->alg < 1000 ? 0.006 : row->alg < 1e4 ? 0.06 : 0.6;
        if (row->alg < 1 || ncclog_row_unit_s(row, &base_B) <= 0)
            continue;
        double share = base_B / row->size_B;
        double lo = fmax(row->bus - half, 0) / (row->alg + half) * share;
        double hi = (row->bus + half) / (row->alg - half) * share;
        if (fmax(lo, r->factor_lo) <= fmin(hi, r->factor_hi)) {
            r->factor_lo = fmax(lo, r->factor_lo);
            r->factor_hi = fmin(hi, r->factor_hi);
        } else if (!r->odd_line) {
            r->odd_line = row->line;
        }
    }
}

/* The row of the largest bandwidth identifies the unit of time best. */
static void read_rows(struct parse_context *r, const struct ncclog_run *run)
{
    const struct ncclog_row *best = &run->rows.v[0], *largest = best;
    for (int64_t i = 0; i < run->rows.n; i++) {
        if (run->rows.v[i].alg > best->alg)
            best = &run->rows.v[i];
        if (run->rows.v[i].size_B > largest->size_B)
            largest = &run->rows.v[i];
    }
    double base_B, parts = largest->size_B / largest->count_B;
    r->unit_s = ncclog_row_unit_s(best, &base_B);
    if (r->unit_s <= 0)
        r->unit_s = run->columns.milliseconds ? 1e-3 : 1e-6;
    r->parts = parts >= 1 && parts < 1e9 && parts == floor(parts) ? (int64_t)parts : 0;
    set_factor(r, run);
}

/* Whether an operation's size is one piece, not one a rank; its bus bandwidth is at
 * least its algorithm bandwidth then. */
static bool is_whole(int op)
{
    return op == COLL_ALL_REDUCE || op == COLL_REDUCE || op == COLL_BROADCAST ||
           op == COLL_SENDRECV;
}

/* Whether the rows may be of an operation: by reduction and root, and by whether the
 * size is of one piece (its bandwidth factor is 1 or more) or of one a rank. Where its
 * program is `named`, sendrecv_perf may print a reduction, which it does not do
 * (nccl-tests, sendrecv.cu). */
static bool may_be(const struct parse_context *r, const struct ncclog_run *run, int op,
                   bool named)
{
    const struct ncclog_row *row = &run->rows.v[run->rows.n - 1];
    bool reduces = op == COLL_ALL_REDUCE || op == COLL_REDUCE_SCATTER ||
                   op == COLL_REDUCE || (op == COLL_SENDRECV && named && row->reduces);
    bool whole = is_whole(op);
    bool rooted = op == COLL_REDUCE || op == COLL_BROADCAST || op == COLL_SCATTER;
    if (reduces != row->reduces || rooted != row->has_root)
        return false;
    if (isfinite(r->factor_hi) && (r->factor_lo >= 1 || r->factor_hi < 1))
        return whole == (r->factor_lo >= 1);
    return r->parts == 0 || whole == (r->parts == 1);
}

/* The operations that the rows may be of, as a mask. All-to-all alone is checked out of
 * place and not in place. */
static unsigned ops_by_columns(const struct parse_context *r,
                               const struct ncclog_run *run)
{
    unsigned ops = 0;
    bool one_way = true;
    for (int64_t i = 0; i < run->rows.n; i++)
        one_way = one_way && run->rows.v[i].checked && !run->rows.v[i].in_place_checked;
    if (one_way && may_be(r, run, COLL_ALLTOALL, false))
        return 1U << COLL_ALLTOALL;
    for (const struct name_value *n = coll_op_names; n->name; n++)
        if (may_be(r, run, n->value, false))
            ops |= 1U << n->value;
    return ops;
}

static int fail_op(struct samples *s, const struct parse_context *r, unsigned ops)
{
    const char *names = "";
    for (const struct name_value *n = coll_op_names; n->name; n++)
        if (ops >> n->value & 1)
            names = arena_printf(&s->loader->arena, "%s%s%s", names,
                                 *names ? " or " : ": ", n->name);
    diags_add(&s->loader->diags,
              diag_at_line(DIAG_ERROR, DIAG_MISSING, r->file, r->line),
              "the operation is unknown%s (%s)", names,
              ops ? "give it by --op" : "no operation has such columns");
    return -1;
}

/* The file's name may say what its header does not: "p5-all_reduce.log". */
static int op_of_name(const char *file)
{
    int best = NCCLOG_OP_NONE;
    size_t longest = 0;
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    for (const struct name_value *n = coll_op_names; n->name; n++)
        if (strlen(n->name) > longest && strstr(name, n->name)) {
            longest = strlen(n->name);
            best = n->value;
        }
    return best;
}

static int set_op(struct parse_context *r, const struct ncclog_run *run,
                  struct samples *s)
{
    const int named[] = { run->op, r->hints->op, op_of_name(r->file) };
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (named[i] >= 0 && may_be(r, run, named[i], i == 0)) {
            r->op = named[i];
            r->op_known = true;
            return 0;
        }
    if (r->hints->op >= 0 && run->op < 0) {
        diags_add(&s->loader->diags,
                  diag_at_line(DIAG_ERROR, DIAG_CONTRADICTION, r->file, r->line),
                  "--op %s, but the columns are not of that operation",
                  names_of(coll_op_names, r->hints->op));
        return -1;
    }
    unsigned ops = ops_by_columns(r, run);
    if (ops == 0 || (ops & (ops - 1)) != 0)
        return fail_op(s, r, ops);
    for (r->op = 0; !(ops >> r->op & 1);)
        r->op++;
    return 0;
}

/* Ranks ---------------------------------------------------------------------------- */

/* How many ranks the bandwidth factor may mean: of all-reduce 2 (n - 1) / n, of others
 * (n - 1) / n; false where it says nothing. */
static bool ranks_by_factor(const struct parse_context *r, int64_t *lo, int64_t *hi)
{
    double full = r->op == COLL_ALL_REDUCE ? 2 : 1;
    bool conclusive = r->op == COLL_ALL_REDUCE || !is_whole(r->op);
    if (!conclusive || !isfinite(r->factor_hi) || r->factor_lo >= full)
        return false;
    double least = full / (full - r->factor_lo);
    double most = r->factor_hi < full ? full / (full - r->factor_hi) : 1e9;
    *lo = llround(least);
    *hi = llround(fmin(most, 1e9));
    return true;
}

static int contradicted(struct samples *s, const struct parse_context *r,
                        const char *by, int64_t lo, int64_t hi)
{
    diags_add(&s->loader->diags,
              diag_at_line(DIAG_ERROR, DIAG_CONTRADICTION, r->file, r->line),
              "%" PRId64 " ranks by the list of devices, but %s means %s: the list "
              "is cut, or is of another run (give --ranks)",
              (int64_t)r->n_ranks, by,
              lo == hi ? arena_printf(&s->loader->arena, "%" PRId64, (int64_t)lo)
                       : arena_printf(&s->loader->arena, "%" PRId64 " to %" PRId64,
                                      (int64_t)lo, (int64_t)hi));
    return -1;
}

/* The list must not contradict the rows. */
static int check_listed(const struct parse_context *r, struct samples *s)
{
    int64_t lo, hi;
    bool pieces = !is_whole(r->op) && r->parts > 1;
    if (pieces && r->parts != r->n_ranks)
        return contradicted(s, r, "size over count", r->parts, r->parts);
    if (ranks_by_factor(r, &lo, &hi) && (r->n_ranks < lo || r->n_ranks > hi))
        return contradicted(s, r, "bus over algorithm bandwidth", lo, hi);
    return 0;
}

static int set_ranks(struct parse_context *r, const struct ncclog_run *run,
                     struct samples *s)
{
    int64_t lo = 0, hi = 0;
    bool pieces = !is_whole(r->op) && r->parts > 1;
    int64_t listed = run->n_ranks ? run->n_ranks : run->n_listed,
            asked = r->hints->n_ranks_asked;
    r->n_ranks = r->hints->n_ranks;
    r->n_nodes = r->hints->n_nodes;
    if (!r->n_nodes && (!r->n_ranks || r->n_ranks == listed))
        r->n_nodes = run->n_hosts ? run->n_hosts : run->n_nodes;
    if (r->n_ranks)
        return 0;
    r->n_ranks = listed;
    if (r->n_ranks)
        return check_listed(r, s);
    if (pieces)
        r->n_ranks = r->parts;
    else if (ranks_by_factor(r, &lo, &hi) && lo == hi)
        r->n_ranks = lo;
    else if (hi == 0 || (asked >= lo && asked <= hi))
        r->n_ranks = asked;
    if (r->n_ranks)
        return 0;
    return fail(s, r, DIAG_MISSING,
                asked ? "the number of ranks is not certain"
                      : "the number of ranks is not certain (give it by --ranks)");
}

/* Handing over --------------------------------------------------------------------- */

/* Why the rows are of no use here; NULL when they are. */
static const char *unfit(const struct ncclog_run *run)
{
    if (run->op == NCCLOG_OP_FOREIGN)
        return "no operation that is predicted here";
    if (run->columns.host_times)
        return "times of the host (-C), not of the collective";
    if (run->has_groups)
        return "several groups at once (NCCL_TESTS_SPLIT) on one network";
    return NULL;
}

static void warn_cut(const struct ncclog_run *run, struct samples *s, const char *file)
{
    if (run->n_cut)
        diags_add(&s->loader->diags,
                  diag_at_line(DIAG_WARNING, DIAG_LEFT_OUT, file, run->cut_line),
                  "rows left out, %" PRId64 ": cut short, or other output runs into "
                  "them",
                  (int64_t)run->n_cut);
}

/* The first row of wrong values, or the line of the run that counts them. */
static void warn_wrong(const struct ncclog_run *run, struct samples *s,
                       const char *file)
{
    int64_t line = run->wrong_line;
    for (int64_t i = run->rows.n - 1; i >= 0; i--)
        if (run->rows.v[i].n_wrong > 0)
            line = run->rows.v[i].line;
    if (line)
        diags_add(&s->loader->diags,
                  diag_at_line(DIAG_WARNING, DIAG_UNSURE, file, line),
                  "values came out wrong: what made them wrong may have changed the "
                  "times, too");
}

static int take_rows(const struct parse_context *r, const struct ncclog_run *run,
                     struct samples *s)
{
    for (int64_t i = 0; i < run->rows.n; i++) {
        const struct ncclog_row *row = &run->rows.v[i];
        double time_s = row->time * r->unit_s;
        if (!isfinite(time_s) || time_s <= 0) {
            diags_add(&s->loader->diags,
                      diag_at_line(DIAG_ERROR, DIAG_OUT_OF_RANGE, r->file, row->line),
                      "the time is not a positive number");
            return -1;
        }
        VEC_PUSH(&s->colls,
                 ((struct sample_coll) { (enum coll_op)r->op, r->n_ranks, r->n_nodes,
                                         row->size_B, time_s, run->gpus_per_thread }));
    }
    return 0;
}

static void note(const struct parse_context *r, struct samples *s, int64_t n)
{
    const char *nodes =
        r->n_nodes ? arena_printf(&s->loader->arena, " on %" PRId64 " node%s",
                                  (int64_t)r->n_nodes, r->n_nodes > 1 ? "s" : "")
                   : "";
    const char *text = arena_printf(
        &s->loader->arena, "%s:%" PRId64 ": %s%s, %" PRId64 " ranks%s, rows: %" PRId64,
        r->file, (int64_t)r->line, names_of(coll_op_names, r->op),
        r->op_known ? "" : " (by its columns)", (int64_t)r->n_ranks, nodes, (int64_t)n);
    VEC_PUSH(&s->notes, text);
}

static int hand_over(struct ncclog_run *run, struct samples *s, const char *file,
                     const struct samples_hints *hints)
{
    struct parse_context r = { .hints = hints,
                               .file = file,
                               .line = run->rows.v[0].line };
    const char *why = unfit(run);
    if (why) {
        diags_add(&s->loader->diags,
                  diag_at_line(DIAG_WARNING, DIAG_LEFT_OUT, file, r.line),
                  "rows left out, %" PRId64 ": %s", (int64_t)run->rows.n, why);
        return 0;
    }
    read_rows(&r, run);
    if (r.odd_line) {
        r.line = r.odd_line;
        return fail(s, &r, DIAG_CONTRADICTION,
                    "bus over algorithm bandwidth is not that of the rows before: one "
                    "number of ranks at a time");
    }
    if (run->is_copied && !hints->n_ranks)
        return fail(
            s, &r, DIAG_NO_DATA,
            "a rank is listed twice: each process ran alone, so build nccl-tests "
            "with MPI=1 (or give --ranks, if the list is wrong)");
    if (set_op(&r, run, s) || set_ranks(&r, run, s))
        return -1;
    if (r.n_ranks == 1) {
        diags_add(&s->loader->diags,
                  diag_at_line(DIAG_WARNING, DIAG_LEFT_OUT, file, r.line),
                  "rows left out, %" PRId64 ": of one rank, which sends nothing",
                  (int64_t)run->rows.n);
        return 0;
    }
    int wanted = run->device ? samples_device(s, run->device, file) : 1;
    if (wanted <= 0)
        return wanted;
    note(&r, s, run->rows.n);
    warn_wrong(run, s, file);
    return take_rows(&r, run, s);
}

int ncclog_run_end(struct ncclog_run *run, struct samples *s, const char *file,
                   const struct samples_hints *hints)
{
    int rc = run->rows.n ? hand_over(run, s, file, hints) : 0;
    warn_cut(run, s, file);
    ncclog_run_release(run);
    ncclog_run_init(run);
    return rc;
}
