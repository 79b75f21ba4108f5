/* A training step of a model over all GPUs: time of the step, of each operator,
 * memory. */
#include "group.h"
#include "step_run.h"
#include "timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 3, TIMED_LEAST = 3, TIMED_MOST = 100, PROFILES = 3, PIECE = 128 };

static const int64_t bucket_elements = (25 << 20) / 2; /* 25 MiB of 16 bits */
static const double settle_s = 2;  /* of steps, until clocks are those of long work */
static const double hold_ns = 4e6; /* longer than the host takes to launch a piece */

/* What the GPUs share, and what rank 0 found. */
struct work {
    struct step_plan plan;
    struct timing step;
    double compute_s; /* of a step whose all-reduces are left out; several GPUs */
    double update_s, first_loss, last_loss;
    double *op_s;          /* [ops + 1], the update after them */
    double event_s;        /* between two events with nothing between: taken off */
    int n_settle, n_timed; /* steps; rank 0's clock decides for all */
    int64_t before_B;      /* in use before anything of the step was allocated */
    int64_t used_B;        /* at the end */
};

/* One GPU's side. */
struct side {
    struct member *member;
    struct step_run run;
    cudaStream_t talk; /* all-reduces run here */
    cudaEvent_t ready, done;
    int64_t sent_from; /* gradients from here on are under way */
    bool silent;       /* nothing is reduced */
};

/* --- gradients -------------------------------------------------------------------- */

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
    if (s->member->group->n == 1 || s->silent)
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

/* --- steps ------------------------------------------------------------------------ */

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

/* All GPUs begin together; rank 0 counts, from there to the end of its own work. */
static int time_one(struct side *s, double *time_s)
{
    struct measure *m = &s->member->m;
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    group_wait(s->member);
    double begun = measure_now_s();
    TRY(run_step(s));
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    *time_s = measure_now_s() - begun;
    return 0;
}

/* How many steps there is time for, when one takes step_s: half of what is left. */
static void choose_counts(struct work *w, const struct measure *m, double step_s)
{
    double most = fmax(measure_left_s(m) / 2 / step_s, TIMED_LEAST);
    w->n_settle = (int)fmin(settle_s / step_s, most / 3);
    w->n_timed = (int)fmin(fmin((double)m->options->timed, TIMED_MOST),
                           fmax(most - w->n_settle, TIMED_LEAST));
}

/* The step, until clocks have settled and then some. */
static int time_steps(struct side *s, struct work *w)
{
    struct measure *m = &s->member->m;
    bool first = s->member->rank == 0;
    double times[TIMED_MOST], t = 0;
    for (int i = 0; i < WARM_UP; i++) {
        TRY(time_one(s, &t));
        if (i == 0 && first)
            TRY(step_run_loss(m, &s->run, &w->first_loss));
    }
    if (first)
        choose_counts(w, m, t);
    group_wait(s->member);
    for (int i = 0; i < w->n_settle; i++)
        TRY(time_one(s, &t));
    for (int i = 0; i < w->n_timed; i++)
        TRY(time_one(s, &times[i]));
    if (first) {
        timing_of(times, w->n_timed, &w->step);
        w->step.repetitions = w->n_timed;
        TRY(step_run_loss(m, &s->run, &w->last_loss));
    }
    return 0;
}

/* The same without communication: what it adds to a step is what is not hidden. */
static int time_silent(struct side *s, struct work *w)
{
    double times[TIMED_MOST];
    struct timing t;
    int n = w->n_timed / 2 + 1;
    s->silent = true;
    for (int i = 0; i < n; i++)
        TRY(time_one(s, &times[i]));
    s->silent = false;
    if (s->member->rank == 0) {
        timing_of(times, n, &t);
        w->compute_s = t.median_s;
    }
    return 0;
}

/* --- operators, one by one -------------------------------------------------------- */

/* Keeps the stream busy until the host has launched what follows it, so that no
 * operator waits for its launch. */
static __global__ void hold(unsigned long long ns)
{
    unsigned long long from, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - from < ns);
}

/* Times of operators first..last - 1, each between two events; the operator after the
 * last of the list is the update. Without a step to run, of nothing at all. */
static int profile_piece(struct side *s, cudaEvent_t *events, int first, int last,
                         bool nothing, double *times)
{
    struct measure *m = &s->member->m;
    const struct step_plan *p = s->run.plan;
    hold<<<1, 1, 0, m->stream>>>((unsigned long long)hold_ns);
    TRY_CUDA(m, cudaGetLastError());
    for (int i = first; i < last; i++) {
        TRY_CUDA(m, cudaEventRecord(events[i - first], m->stream));
        if (nothing)
            continue;
        TRY(i < p->n_ops ? step_run_op(m, &s->run, &p->ops[i])
                         : step_run_update(m, &s->run));
    }
    TRY_CUDA(m, cudaEventRecord(events[last - first], m->stream));
    TRY_CUDA(m, cudaStreamSynchronize(m->stream));
    for (int i = first; i < last; i++) {
        float ms;
        TRY_CUDA(m,
                 cudaEventElapsedTime(&ms, events[i - first], events[i - first + 1]));
        times[i - first] = 1e-3 * (double)ms;
    }
    return 0;
}

/* The shortest of some rounds, as something else may run at the same time as one; less
 * what the events themselves take. */
static int profile_all(struct side *s, struct work *w, cudaEvent_t *events)
{
    int n = s->run.plan->n_ops + 1;
    double times[PIECE];
    struct timing t;
    TRY(profile_piece(s, events, 0, PIECE, true, times));
    timing_of(times, PIECE, &t);
    w->event_s = t.median_s;
    for (int r = 0; r < PROFILES; r++)
        for (int from = 0; from < n; from += PIECE) {
            int to = from + PIECE < n ? from + PIECE : n;
            TRY(profile_piece(s, events, from, to, false, times));
            for (int i = from; i < to; i++)
                if (r == 0 || times[i - from] < w->op_s[i])
                    w->op_s[i] = times[i - from];
        }
    for (int i = 0; i < n; i++)
        if (w->op_s[i] > w->event_s)
            w->op_s[i] -= w->event_s;
    w->update_s = w->op_s[n - 1];
    return 0;
}

static int profile(struct side *s, struct work *w)
{
    struct measure *m = &s->member->m;
    cudaEvent_t events[PIECE + 1] = {};
    int rc = 0;
    w->op_s = (double *)calloc((size_t)s->run.plan->n_ops + 1, sizeof(*w->op_s));
    if (!w->op_s)
        return measure_fail(m, "out of memory");
    for (int i = 0; i < PIECE + 1 && rc == 0; i++)
        if (cudaEventCreate(&events[i]) != cudaSuccess)
            rc = measure_fail(m, "cudaEventCreate failed");
    if (rc == 0)
        rc = profile_all(s, w, events);
    for (int i = 0; i < PIECE + 1; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    return rc;
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
    if (first)
        TRY(used(m, &w->used_B));
    if (s->member->group->n > 1)
        TRY(time_silent(s, w));
    return first ? profile(s, w) : 0;
}

static int run_member(struct member *member, void *arg)
{
    struct side s = {};
    s.member = member;
    int rc = run_side(&s, (struct work *)arg);
    step_run_free(&s.run);
    if (s.talk)
        cudaStreamDestroy(s.talk);
    if (s.ready)
        cudaEventDestroy(s.ready);
    if (s.done)
        cudaEventDestroy(s.done);
    return rc;
}

/* --- rows ------------------------------------------------------------------------- */

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

/* What the step is; times follow, or (of a step that failed) the reason. */
static void row_head(struct measure *m, const struct work *w, int gpus)
{
    const struct step_plan *p = &w->plan;
    row_begin(m, "step");
    row_text(m, "model", base_name(m->step->model));
    step_model_row(m, &p->model);
    row_text(m, "dtype", dtype_name(p->dtype));
    row_text(m, "attention", "fused-softmax");
    row_int(m, "gpus", gpus);
    row_int(m, "batch", p->batch);
    row_int(m, "sequence", p->sequence);
    row_int(m, "vocab_padded", p->model.vocab);
    row_int(m, "parameters", p->n_weights);
}

static void row_step(struct measure *m, const struct work *w, int gpus)
{
    const struct step_plan *p = &w->plan;
    row_head(m, w, gpus);
    row_real(m, "update_s", w->update_s);
    row_real(m, "event_s", w->event_s);
    if (gpus > 1)
        row_real(m, "compute_s", w->compute_s);
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
static void row_operators(struct measure *m, const struct work *w, int gpus)
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
        row_int(m, "gpus", gpus);
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
        row_operators(m, &w, gpus);
    } else {
        fprintf(stderr, "%s ... ", m->error);
        row_head(m, &w, gpus);
        row_end(m);
    }
    free(w.op_s);
    step_plan_free(&w.plan);
    return 0; /* what failed has its row */
}

int section_step(struct measure *m)
{
    struct step_model model;
    TRY(step_model_read(m, &model, m->step->model));
    measure_close(m); /* its workspace is memory that the step should have */
    TRY(run_group(m, &model, 1));
    return m->n_devices > 1 ? run_group(m, &model, m->n_devices) : 0;
}
