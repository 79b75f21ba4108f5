/* The size of a bucket of gradients: as written, or else by the release of the library,
 * by its row, or by the framework's profile. */
#include "scenario/horovod_environment.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"
#include "scenario/states.h"
#include "scenario/versions.h"

static const struct library_release *release_of(const struct scenario *s)
{
    const struct library_release *l = library_of(&s->parallel)->releases;
    if (!l || !s->software.horovod)
        return NULL;
    while (version_compare(s->software.horovod, l->first) < 0)
        l++;
    return l;
}

/* The library's own bucket; -1: the profile's is taken. Where it replaces the profile's,
 * gradients are as wide as the parameters. */
static int64_t own_bucket_B(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    const struct training *t = &s->training;
    const struct library_row *l = library_of(p);
    bool in_profile = t->framework->reduction.bucket_B > 0;
    if (p->shard.strategy == SHARDING_FULL)
        return -1;
    if (l->bucket.use == BUCKET_ALWAYS || (l->bucket.use == BUCKET_OVER && in_profile))
        return library_bucket_B(l, p->data * p->context,
                                (double)dtype_bytes(op_parameter_dtype(t->precision)));
    if (in_profile || !p->reduce.overlap)
        return -1;
    struct scenario plain = *s;
    plain.parallel.reduce.compression = COMPRESSION_NONE;
    return library_bucket_B(l, p->data * p->context, states_wire_B(&plain));
}

/* Where buckets need overlap, it has none without, whatever their size. */
static bool drops_buckets(struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct library_row *l = library_of(p);
    if (p->reduce.bucket_B < 0 || !l->buckets_by_overlap || p->reduce.overlap)
        return false;
    struct cfg at = cfg_get(r->parallelism, "bucket_size");
    if (cfg_present(at))
        parse_note(r, at,
                   arena_printf(&r->loader->arena,
                                "%s reduces all gradients at once without \"overlap\"",
                                l->title));
    return true;
}

/* Horovod's own variables; a threshold of 0 fuses nothing. */
static void take_variables(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    int64_t bytes;
    double seconds;
    if (!library_of(p)->fuses_by_cycle)
        return;
    if (p->reduce.fusion_cycle_s < 0 && horovod_cycle_time(r, &seconds))
        p->reduce.fusion_cycle_s = seconds;
    if (p->reduce.bucket_B < 0 && horovod_fusion_threshold(r, &bytes))
        p->reduce.bucket_B = bytes > 0 ? bytes : 1;
}

void bucket_defaults(struct parse_context *r)
{
    enum { FIRST_BUCKET_B = 1 << 20 };
    struct parallelism *p = &r->s->parallel;
    const struct framework *f = r->s->training.framework;
    const struct library_row *l = library_of(p);
    const struct library_release *release = release_of(r->s);
    take_variables(r);
    if (p->reduce.fusion_cycle_s < 0 && l->fuses_by_cycle)
        p->reduce.fusion_cycle_s = release ? release->cycle_s : f->reduction.cycle_s;
    else if (p->reduce.fusion_cycle_s < 0)
        p->reduce.fusion_cycle_s = 0;
    if (p->reduce.bucket_B < 0)
        p->reduce.bucket_B = release ? release->bucket_B : own_bucket_B(r->s);
    if (drops_buckets(r))
        p->reduce.bucket_B = p->reduce.first_bucket_B = 0;
    if (p->reduce.bucket_B < 0) {
        p->reduce.bucket_B = f->reduction.bucket_B;
        p->reduce.first_bucket_B = f->reduction.first_bucket_B;
        return;
    }
    int64_t first_B =
        f->reduction.first_bucket_B > 0 ? f->reduction.first_bucket_B : FIRST_BUCKET_B;
    bool whole = !l->first_bucket || first_B > p->reduce.bucket_B;
    p->reduce.first_bucket_B = whole ? p->reduce.bucket_B : first_B;
}
