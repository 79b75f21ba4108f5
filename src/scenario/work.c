/* Counts that fields make together. Each is legal by itself; what a replay holds of
 * them in memory is bounded here, before anything is built. */
#include "scenario/libraries.h"
#include "scenario/parse.h"

#include <inttypes.h>
#include <math.h>

/* A buffer takes 1.3 kB of a replay, a pass of a stage 0.5 kB. */
enum { BUFFERS_MAX = 1 << 17, PASSES_MAX = 1 << 20 };

/* SMDDP's buffers cut tensors, so that their number is the gradients over the size. */
static int check_buffers(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const double gradient_B = 4;
    if (!backend_of(p)->buffers || p->reduce.bucket_B <= 0 || !r->has_model)
        return 0;
    double all_B =
        (double)r->s->model.parameters * gradient_B / (double)(p->tensor * p->pipeline);
    double n = ceil(all_B / (double)p->reduce.bucket_B);
    if (n <= BUFFERS_MAX)
        return 0;
    double mebibytes = ceil(all_B / BUFFERS_MAX / (1 << 20));
    return cfg_error(cfg_get(r->parallelism, "bucket_size"), DIAG_OUT_OF_RANGE,
                     "gradients go in %.0f buffers of this size, at most %d are "
                     "simulated (write \"%.0fMiB\" or more)",
                     n, BUFFERS_MAX, mebibytes);
}

/* Every stage passes every microbatch once for each of its chunks. */
static int check_passes(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct training *t = &r->s->training;
    double chunks = (double)p->pipeline * (double)p->stages.virtual_stages;
    double most = floor(PASSES_MAX / chunks);
    if (p->pipeline == 1 || (double)t->microbatches <= most)
        return 0;
    struct cfg smp = cfg_get(r->smp.parameters, "microbatches");
    return cfg_error(cfg_present(smp) ? smp : cfg_get(r->training, "microbatches"),
                     DIAG_OUT_OF_RANGE,
                     "%" PRId64 " microbatches through %.0f stages are %.0f passes, at "
                     "most %d are simulated (write %.0f microbatches or less)",
                     t->microbatches, chunks, (double)t->microbatches * chunks,
                     PASSES_MAX, most);
}

int work_check(const struct parse_context *r)
{
    return check_buffers(r) | check_passes(r);
}
