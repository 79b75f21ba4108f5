/* A training step of a model over all GPUs: time of the step, of each operator, memory. */
#include "group.h"
#include "step_run.h"
#include "timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 3, TIMED_MOST = 100, PROFILES = 3 };

static const int64_t bucket_elements = (25 << 20) / 2; /* 25 MiB of 16 bits */

/* What the GPUs share, and what rank 0 found. */
struct work {
    struct step_plan plan;
    struct timing step;
    double update_s, first_loss, last_loss;
    double *op_s;     /* [ops] */
    int64_t before_B; /* in use before anything of the step was allocated */
    int64_t used_B;   /* at the end */
};

/* One GPU's side. */
struct side {
    struct member *member;
    struct step_run run;
    cudaStream_t talk; /* all-reduces run here */
    cudaEvent_t ready, done;
    int64_t sent_from; /* gradients from here on are under way */
};

/* --- gradients --------------------------------------------------------------------------- */

static int reduce(struct side *s, int64_t from)
{
#ifdef SMSIM_NO_NCCL
    (void)s;
    (void)from;
    return 0;
#else
    struct measure *m = &s->member->m;
    char *at = s->run.gradients + 2 * from;
    ncclDataType_t type = s->run.plan->dtype == DTYPE_FP16 ? ncclHalf : ncclBfloat16;
    TRY_CUDA(m, cudaEventRecord(s->ready, m->stream));
    TRY_CUDA(m, cudaStreamWaitEvent(s->talk, s->ready, 0));
    TRY_NCCL(m, ncclAllReduce(at, at, (size_t)(s->sent_from - from), type, ncclAvg,
                              s->member->comm, s->talk));
    s->sent_from = from;
    return 0;
#endif
}

static int after_op(struct side *s, const struct step_op *op, bool last)
{
    if (s->member->group->n == 1)
        return 0;
    int64_t waiting = s->sent_from - op->ready_from;
    if (waiting > 0 && (waiting >= bucket_elements || last))
        return reduce(s, op->ready_from);
    return 0;
}

static int join_streams(struct side *s)
{
    struct measure *m = &s->member->m;
    if (s->member->group->n == 1)
        return 0;
    TRY_CUDA(m, cudaEventRecord(s->done, s->talk));
    TRY_CUDA(m, cudaStreamWaitEvent(m->stream, s->done, 0));
    return 0;
}

/* --- steps ------------------------------------------------------------------------------------ */

static int run_step(struct side *s)
{
    struct measure *m = &s->member->m;
    const struct step_plan *p = s->run.plan;
    s->sent_from = p->n_weights;
    for (int i = 0; i < p->n_ops; i++) {
        TRY(step_run_op(m, &s->run, &p->ops[i]));
        TRY(after_op(s, &p->ops[i], i + 1 == p->n_ops));
    }
    TRY(join_streams(s));
    return step_run_update(m, &s->run);
}

static int time_steps(struct side *s, struct work *w)
{
    struct measure *m = &s->member->m;
    double times[TIMED_MOST];
    int n = m->options->steps < TIMED_MOST ? (int)m->options->steps : (int)TIMED_MOST;
    for (int i = 0; i < WARM_UP + n; i++) {
        TRY_CUDA(m, cudaStreamSynchronize(m->stream));
        group_wait(s->member);
        double begun = measure_now_s();
        TRY(run_step(s));
        TRY_CUDA(m, cudaStreamSynchronize(m->stream));
        if (i >= WARM_UP)
            times[i - WARM_UP] = measure_now_s() - begun;
        if (i == 0 && s->member->rank == 0)
            TRY(step_run_loss(m, &s->run, &w->first_loss));
    }
    if (s->member->rank == 0) {
        timing_of(times, n, &w->step);
        w->step.repetitions = n;
        TRY(step_run_loss(m, &s->run, &w->last_loss));
    }
    return 0;
}

/* Every operator between two events; n + 1 of them, the last behind the update. */
static int profile_once(struct side *s, cudaEvent_t *events)
{
    struct measure *m = &s->member->m;
    const struct step_plan *p = s->run.plan;
    for (int i = 0; i < p->n_ops; i++) {
        TRY_CUDA(m, cudaEventRecord(events[i], m->stream));
        TRY(step_run_op(m, &s->run, &p->ops[i]));
    }
    TRY_CUDA(m, cudaEventRecord(events[p->n_ops], m->stream));
    TRY(step_run_update(m, &s->run));
    TRY_CUDA(m, cudaEventRecord(events[p->n_ops + 1], m->stream));
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    return 0;
}

static int profile(struct side *s, struct work *w)
{
    struct measure *m = &s->member->m;
    int n = s->run.plan->n_ops;
    cudaEvent_t *events = (cudaEvent_t *)calloc((size_t)n + 2, sizeof(*events));
    w->op_s = (double *)calloc((size_t)n + 1, sizeof(*w->op_s));
    if (!events || !w->op_s)
        abort();
    for (int i = 0; i < n + 2; i++)
        TRY_CUDA(m, cudaEventCreate(&events[i]));
    for (int r = 0; r < PROFILES; r++) {
        TRY(profile_once(s, events));
        for (int i = 0; i <= n; i++) { /* the shortest: others waited for the host */
            float ms;
            TRY_CUDA(m, cudaEventElapsedTime(&ms, events[i], events[i + 1]));
            double t = 1e-3 * (double)ms;
            w->op_s[i] = r == 0 || t < w->op_s[i] ? t : w->op_s[i];
        }
    }
    w->update_s = w->op_s[n];
    for (int i = 0; i < n + 2; i++)
        cudaEventDestroy(events[i]);
    free(events);
    return 0;
}

static int used(struct measure *m, int64_t *bytes)
{
    size_t left, total;
    TRY_CUDA(m, cudaMemGetInfo(&left, &total));
    *bytes = (int64_t)(total - left);
    return 0;
}

static int run_side(struct side *s, struct work *w)
{
    struct measure *m = &s->member->m;
    bool first = s->member->rank == 0;
    if (first)
        TRY(used(m, &w->before_B));
    TRY_CUDA(m, cudaStreamCreateWithFlags(&s->talk, cudaStreamNonBlocking));
    TRY_CUDA(m, cudaEventCreateWithFlags(&s->ready, cudaEventDisableTiming));
    TRY_CUDA(m, cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming));
    TRY(step_run_make(m, &s->run, &w->plan, 100 + 10 * (uint32_t)s->member->rank));
    TRY(time_steps(s, w));
    if (first) {
        TRY(used(m, &w->used_B));
        TRY(profile(s, w));
    }
    return 0;
}

static int run_member(struct member *member, void *arg)
{
    struct side s = {};
    s.member = member;
    int rc = run_side(&s, (struct work *)arg);
    step_run_free(&s.run);
    if (s.talk)
        cudaStreamDestroy(s.talk);
    return rc;
}

/* --- rows ----------------------------------------------------------------------------------------- */

/* A model that knows nothing loses log(words), and then learns the one batch it sees
 * (without a loss scale, fp16 may not). */
static void check_losses(struct measure *m, const struct work *w)
{
    double ignorant = log((double)w->plan.model.words);
    if (!(fabs(w->first_loss - ignorant) < 0.15 * ignorant))
        measure_fail(m, "the first loss is %g where about %g should be", w->first_loss,
                     ignorant);
    else if (w->plan.dtype == DTYPE_BF16 && !(w->last_loss < w->first_loss))
        measure_fail(m, "the loss does not fall: %g, then %g", w->first_loss,
                     w->last_loss);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void row_step(struct measure *m, const struct work *w, int gpus)
{
    const struct step_plan *p = &w->plan;
    row_begin(m, "step");
    row_text(m, "model", base_name(m->options->model));
    row_text(m, "dtype", dtype_name(p->dtype));
    row_text(m, "attention", "fused-softmax");
    row_int(m, "gpus", gpus);
    row_int(m, "batch", p->batch);
    row_int(m, "sequence", p->sequence);
    row_int(m, "vocab_padded", p->model.vocab);
    row_int(m, "parameters", p->n_weights);
    row_real(m, "update_s", w->update_s);
    row_real(m, "first_loss", w->first_loss);
    row_real(m, "last_loss", w->last_loss);
    row_int(m, "activations_bytes", p->activations_B);
    row_int(m, "states_bytes", 16 * p->n_weights);
    row_int(m, "before_bytes", w->before_B);
    row_int(m, "peak_bytes", w->used_B);
    row_timing(m, &w->step);
    check_losses(m, w);
    row_end(m);
}

/* Operators of one name are one row: how many, and their time together. */
static void row_operators(struct measure *m, const struct work *w)
{
    const struct step_plan *p = &w->plan;
    for (int i = 0; i < p->n_ops; i++) {
        int count = 0;
        bool known = false;
        double sum = 0;
        for (int k = 0; k < p->n_ops; k++)
            if (strcmp(p->ops[k].name, p->ops[i].name) == 0) {
                known = known || k < i;
                sum += w->op_s[k];
                count++;
            }
        if (known)
            continue;
        row_begin(m, "operator");
        row_text(m, "name", p->ops[i].name);
        row_flag(m, "backward", p->ops[i].backward);
        row_int(m, "count", count);
        row_int(m, "rows", p->ops[i].rows);
        row_int(m, "columns", p->ops[i].columns);
        row_real(m, "time_s", sum / count);
        row_end(m);
    }
}

static int run_group(struct measure *m, const struct step_model *model, int gpus)
{
    struct work w = {};
    bool narrow = m->options->fp16 || !dtype_runs(m, DTYPE_BF16);
    TRY(step_plan_make(m, &w.plan, model, narrow ? DTYPE_FP16 : DTYPE_BF16));
    int rc = group_run(m, gpus, gpus > 1, run_member, &w);
    if (rc == 0) {
        row_step(m, &w, gpus);
        row_operators(m, &w);
    }
    free(w.op_s);
    step_plan_free(&w.plan);
    return rc;
}

int section_step(struct measure *m)
{
    struct step_model model;
    TRY(step_model_read(m, &model, m->options->model));
    measure_close(m); /* its workspace is memory that the step should have */
    TRY(run_group(m, &model, 1));
    return m->n_devices > 1 ? run_group(m, &model, m->n_devices) : 0;
}
