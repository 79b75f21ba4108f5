#include "cmd/collective_log.h"

#include "cmd/cmd.h"
#include "cmd/collective_explain.h"
#include "logs/logs.h"
#include "report/bandwidth.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void print_rows(const struct report_bandwidth *x)
{
    const struct bandwidth *b = x->b;
    printf("#       size   measured  predicted     busbw  predicted\n"
           "#        (B)       (us)       (us)    (GB/s)     (GB/s)\n");
    for (int64_t i = 0; i < b->rows.n; i++) {
        const struct bandwidth_row *r = &b->rows.v[i];
        printf("%12.0f  %9.1f  %9.1f  %8.2f   %8.2f  %s", r->size_B,
               r->measured_s * 1e6, r->predicted_s * 1e6, r->measured_busbw / 1e9,
               r->predicted_busbw / 1e9,
               names_of(bandwidth_verdict_names, (int)r->verdict));
        if (x->published[i])
            printf("  above %" PRId64 " of %" PRId64 " published", x->below[i],
                   x->published[i]);
        putchar('\n');
    }
    printf("# %" PRId64 " sizes: %" PRId64 " slower than normal, %" PRId64 " faster\n",
           b->rows.n, b->n_slower, b->n_faster);
    if (b->n_other)
        printf("# %" PRId64
               " rows of other operations or numbers of ranks are left out\n",
               b->n_other);
}

static void print_fit(const struct bandwidth_fit *f)
{
    printf("#   %3.0f %%  %s", 100 * f->posterior, f->text);
    if (isnan(f->error))
        printf(": run ib_write_bw or fi_pingpong between pairs of nodes, and read "
               "NCCL_DEBUG=INFO\n");
    else
        printf(": off by %.0f %%%s%s\n", 100 * (exp(f->error) - 1), f->seen ? "; " : "",
               f->seen ? f->seen : "");
}

static void print_fits(const struct bandwidth *b)
{
    printf("# what fits the sizes from 1 MiB, by posterior\n");
    for (int32_t i = 0; i < b->n_fits; i++)
        if (i == 0 || b->fits[i].posterior >= 0.01)
            print_fit(&b->fits[i]);
}

/* Published points near a row's size, of a table. */
static void place_row(const struct bandwidth_row *r, const struct collective_table *t,
                      int64_t *published, int64_t *below)
{
    static const double near = 1.5;
    for (int64_t k = 0; k < t->size_B.n; k++) {
        if (fabs(log(t->size_B.v[k] / r->size_B)) > log(near))
            continue;
        ++*published;
        *below += t->busbw_Bps.v[k] < r->measured_busbw;
    }
}

static void place(const struct bandwidth *b, const struct collective_points *p,
                  int64_t *published, int64_t *below)
{
    for (int64_t i = 0; i < b->rows.n; i++)
        for (int64_t k = 0; k < p->tables.n; k++)
            place_row(&b->rows.v[i], &p->tables.v[k], &published[i], &below[i]);
}

/* The figure: each published table is a curve of points. */
static int draw(const struct report_bandwidth *x, const struct collective_points *p,
                const struct draw_to *to, struct err *err)
{
    size_t n = (size_t)p->tables.n;
    struct collective_curve *curves = xmalloc((n + 1) * sizeof(*curves));
    for (size_t i = 0; i < n; i++) {
        const struct collective_table *t = &p->tables.v[i];
        curves[i] = (struct collective_curve) { t->name, (size_t)t->size_B.n,
                                                t->size_B.v, t->busbw_Bps.v, true };
    }
    int rc = figure_bandwidth_write(x, curves, n, to, err);
    free(curves);
    return rc;
}

static int give(struct cfg_loader *loader, const struct collective_logs *q,
                const struct bandwidth *b, struct err *err)
{
    struct collective_points p = { .cluster = q->cluster,
                                   .op = q->ask.op,
                                   .n_ranks = coll_group_ranks(q->ask.group),
                                   .n_gpus = q->ask.group->spans[0].n_gpus };
    collective_points_find(&p);
    int64_t *published = ARENA_ARRAY(&loader->arena, (size_t)b->rows.n * 2, int64_t);
    int64_t *below = published + b->rows.n;
    memset(published, 0, 2 * (size_t)b->rows.n * sizeof(*published));
    place(b, &p, published, below);
    struct report_bandwidth x = { q->cluster,
                                  (int)q->ask.op,
                                  p.n_ranks,
                                  b,
                                  published,
                                  below,
                                  diags_json(&loader->diags) };
    if (!q->json || strcmp(q->json, "-") != 0) {
        print_rows(&x);
        print_fits(b);
    }
    int rc = q->plot.path ? draw(&x, &p, &q->plot, err) : 0;
    if (rc == 0 && q->json) {
        json_t *tree = contract_result(&report_bandwidth_contract, &x);
        rc = report_json_write(tree, q->json, err);
        json_decref(tree);
    }
    json_decref(x.warnings);
    collective_points_release(&p);
    return rc;
}

int collective_log(struct cfg_loader *loader, const struct collective_logs *q,
                   int64_t *slower, struct err *err)
{
    const struct samples_hints hints = { .op = (int)q->ask.op,
                                         .n_ranks_asked =
                                             coll_group_ranks(q->ask.group) };
    struct samples samples;
    struct bandwidth b;
    struct logs words;
    int rc = 0;
    samples_init(&samples, loader, &hints);
    logs_init(&words);
    for (int32_t i = 0; i < q->logs->n && rc == 0; i++) {
        const char *file = q->logs->values[i];
        rc = samples_load(&samples, file, &hints);
        if (rc == 0 && strcmp(file, "-") != 0) /* a pipe is read once */
            rc = logs_read(&words, file, err);
    }
    if (rc == 0) {
        samples_place(&samples, q->ask.group->spans[0].n_gpus);
        struct bandwidth_ask ask = q->ask;
        ask.said = &words.nccl;
        ask.variables = &words.variables;
        rc = bandwidth_judge(&b, loader, &ask, &samples, err);
        if (rc == 0) {
            *slower = b.n_slower;
            rc = give(loader, q, &b, err);
        }
        bandwidth_release(&b);
    }
    logs_release(&words);
    samples_release(&samples);
    return rc;
}
