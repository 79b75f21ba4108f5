#include "cmd/collective_log.h"

#include "doctor/bandwidth.h"

#include <inttypes.h>
#include <math.h>

static void print_rows(const struct bandwidth *b)
{
    printf("#       size   measured  predicted     busbw  predicted\n"
           "#        (B)       (us)       (us)    (GB/s)     (GB/s)\n");
    for (int64_t i = 0; i < b->rows.n; i++) {
        const struct bandwidth_row *r = &b->rows.v[i];
        printf("%12.0f  %9.1f  %9.1f  %8.2f   %8.2f  %s\n", r->size_B,
               r->measured_s * 1e6, r->predicted_s * 1e6, r->measured_busbw / 1e9,
               r->predicted_busbw / 1e9,
               names_of(bandwidth_verdict_names, (int)r->verdict));
    }
    printf("# %" PRId64 " sizes: %" PRId64 " slower than normal, %" PRId64 " faster\n",
           b->rows.n, b->n_slower, b->n_faster);
    if (b->n_other)
        printf("# %" PRId64
               " rows of other operations or numbers of ranks are left out\n",
               b->n_other);
}

static void print_fits(const struct bandwidth *b)
{
    printf("# what fits the sizes from 1 MiB, by posterior\n");
    for (int32_t i = 0; i < b->n_fits; i++)
        if (i == 0 || b->fits[i].posterior >= 0.01)
            printf("#   %3.0f %%  %s: off by %.0f %%\n", 100 * b->fits[i].posterior,
                   b->fits[i].text, 100 * (exp(b->fits[i].error) - 1));
}

int collective_log(struct cfg_loader *loader, const struct cluster *c, enum coll_op op,
                   const char *nccl, const struct option_list *logs, int64_t *slower,
                   struct err *err)
{
    const struct samples_hints hints = { .op = (int)op };
    struct samples samples;
    struct bandwidth b;
    int rc = 0;
    samples_init(&samples, loader, &hints);
    for (int32_t i = 0; i < logs->n && rc == 0; i++)
        rc = samples_load(&samples, logs->values[i], &hints);
    if (rc == 0) {
        samples_place(&samples, c->groups[0].gpus_per_instance);
        rc = bandwidth_judge(&b, loader, c, op, nccl, &samples, err);
        if (rc == 0) {
            print_rows(&b);
            print_fits(&b);
            *slower = b.n_slower;
        }
        bandwidth_release(&b);
    }
    samples_release(&samples);
    return rc;
}
