#include "report/figure/step.h"

#include "base/xmalloc.h"
#include "draw/chart.h"
#include "report/figure/step_data.h"
#include "report/figure/written.h"
#include "report/provenance.h"

#include <inttypes.h>
#include <string.h>

const struct span_kind_row figure_span_kinds[SPAN_KINDS] = {
    [SPAN_FORWARD] = { "forward", MEANING_FORWARD },
    [SPAN_BACKWARD] = { "backward", MEANING_BACKWARD },
    [SPAN_GRADIENTS] = { "gradient communication", MEANING_GRADIENT_COMM },
    [SPAN_OPTIMIZER] = { "optimizer", MEANING_OPTIMIZER },
    [SPAN_RECOMPUTE] = { "recomputation", MEANING_RECOMPUTE },
    [SPAN_TENSOR] = { "tensor communication", MEANING_TENSOR_COMM },
    [SPAN_CONTEXT] = { "context communication", MEANING_CONTEXT_COMM },
    [SPAN_EXPERT] = { "expert communication", MEANING_EXPERT_COMM },
    [SPAN_MESSAGE] = { "pipeline communication", MEANING_PIPELINE_COMM },
    [SPAN_WEIGHT] = { "weight gradients", MEANING_WEIGHT_GRADIENT },
    [SPAN_GATHER] = { "parameter gathers", MEANING_PARAMETER_GATHER },
    [SPAN_COPY] = { "copies", MEANING_COPY },
    [SPAN_HOST] = { "host", MEANING_HOST },
};

/* Watching ------------------------------------------------------------------------- */

static void on_begin(void *arg, const struct observed_run *run)
{
    struct step_figures *f = arg;
    f->n_ranks = run->n_ranks;
    f->track_of = xcalloc((size_t)run->n_ranks + 1, sizeof(*f->track_of));
    f->tracks = xcalloc((size_t)run->n_ranks + 1, sizeof(*f->tracks));
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct observed_rank *r = &run->ranks[i];
        f->track_of[i] = -1;
        if (r->pipeline != run->ranks[0].pipeline)
            continue;
        f->track_of[i] = f->n_tracks;
        f->tracks[f->n_tracks++] = (struct watched) {
            .number = r->number,
            .stage = r->stage,
            .instance = r->instance,
            .program = r->program,
            .extra = r->program->repeat.from >= 0 ? r->program->repeat.extra : 0,
        };
        if (r->program->marks.n > 0) {
            struct level first = { .track = f->track_of[i] };
            memcpy(first.held_B, r->program->marks.v[0].live_B, sizeof(first.held_B));
            VEC_PUSH(&f->levels, first);
        }
    }
}

/* What people call the work of a task; SPAN_KINDS: nothing to be seen. */
static enum span_kind kind_of(const struct task *t)
{
    static const enum span_kind of_part[CATEGORY_N] = {
        [CATEGORY_COMPUTE] = SPAN_KINDS,
        [CATEGORY_RECOMPUTE] = SPAN_RECOMPUTE,
        [CATEGORY_REFERENCE] = SPAN_FORWARD,
        [CATEGORY_TENSOR_COMM] = SPAN_TENSOR,
        [CATEGORY_PIPELINE_COMM] = SPAN_MESSAGE,
        [CATEGORY_PIPELINE_BUBBLE] = SPAN_KINDS,
        [CATEGORY_CONTEXT_COMM] = SPAN_CONTEXT,
        [CATEGORY_EXPERT_COMM] = SPAN_EXPERT,
        [CATEGORY_DATA_COMM_EXPOSED] = SPAN_GRADIENTS,
        [CATEGORY_DATA_COMM_HIDDEN] = SPAN_GRADIENTS,
        [CATEGORY_OPTIMIZER] = SPAN_OPTIMIZER,
        [CATEGORY_OFFLOAD_EXPOSED] = SPAN_COPY,
        [CATEGORY_INPUT_WAIT] = SPAN_KINDS,
        [CATEGORY_OTHER] = SPAN_KINDS,
    };
    if (t->stream == STREAM_SHARD)
        return SPAN_GATHER;
    if (t->stream == STREAM_COPY || t->stream == STREAM_LOAD ||
        t->stream == STREAM_STORE)
        return SPAN_COPY;
    if (t->part != CATEGORY_COMPUTE)
        return of_part[t->part];
    switch (t->tag.work) {
    case WORK_FORWARD:
        return SPAN_FORWARD;
    case WORK_BACKWARD:
        return SPAN_BACKWARD;
    case WORK_WEIGHT:
        return SPAN_WEIGHT;
    case WORK_BUCKET:
        return SPAN_GRADIENTS;
    case WORK_UPDATE:
        return SPAN_OPTIMIZER;
    default:
        return SPAN_KINDS;
    }
}

static void add(struct step_figures *f, struct span s)
{
    if (s.kind != SPAN_KINDS && s.ended_ps > s.begun_ps)
        VEC_PUSH(&f->spans, s);
}

static void add_use(struct step_figures *f, enum use_kind kind, int64_t from_ps,
                    int64_t to_ps, double share)
{
    struct use u = { kind, from_ps, to_ps, share };
    if (to_ps > from_ps && share > 0)
        VEC_PUSH(&f->uses, u);
}

/* What a task of the compute stream keeps busy; of a measured pass evenly. */
static void add_uses(struct step_figures *f, const struct observed_task *seen,
                     const struct pass_cost *pass)
{
    int64_t from_ps = seen->begun_ps, to_ps = seen->ended_ps;
    double all = f->n_tracks;
    if (!pass || pass->time_ps <= 0) {
        add_use(f, USE_GPU, from_ps, to_ps, 1 / all);
        return;
    }
    const int64_t busy_ps[USES] = { pass->gpu_busy_ps, pass->host_busy_ps,
                                    pass->links_busy_ps[LINKS_NIC],
                                    pass->links_busy_ps[LINKS_NVLINK] };
    for (int i = 0; i < USES; i++)
        add_use(f, (enum use_kind)i, from_ps, to_ps,
                (double)busy_ps[i] / (double)pass->time_ps / all);
}

/* A pass that was measured: its recomputation, its kernels, and what its groups took, each
 * in one piece. */
static void add_pass(struct step_figures *f, struct span s,
                     const struct pass_cost *pass)
{
    static const struct {
        enum category part;
        enum span_kind kind;
    } groups[] = { { CATEGORY_TENSOR_COMM, SPAN_TENSOR },
                   { CATEGORY_CONTEXT_COMM, SPAN_CONTEXT },
                   { CATEGORY_EXPERT_COMM, SPAN_EXPERT } };
    enum { GROUPS = sizeof(groups) / sizeof(*groups) };
    struct span recompute = s, group = s;
    recompute.kind = SPAN_RECOMPUTE;
    recompute.ended_ps = s.begun_ps = s.begun_ps + pass->parts_ps[CATEGORY_RECOMPUTE];
    for (int i = 0; i < GROUPS; i++)
        s.ended_ps -= pass->parts_ps[groups[i].part];
    add(f, recompute);
    add(f, s);
    group.ended_ps = s.ended_ps;
    for (int i = 0; i < GROUPS; i++) {
        group.kind = (int16_t)groups[i].kind;
        group.begun_ps = group.ended_ps;
        group.ended_ps += pass->parts_ps[groups[i].part];
        add(f, group);
    }
}

static void add_level(struct step_figures *f, int32_t track, int64_t at_ps,
                      const int64_t held_B[LEDGER_KINDS])
{
    struct level l = { .track = track, .at_ps = at_ps };
    memcpy(l.held_B, held_B, sizeof(l.held_B));
    VEC_PUSH(&f->levels, l);
}

static struct span span_of(const struct step_figures *f,
                           const struct observed_task *seen, int stream,
                           enum span_kind kind)
{
    const struct task *t = seen->task;
    bool pass = t->tag.work == WORK_FORWARD || t->tag.work == WORK_BACKWARD ||
                t->tag.work == WORK_WEIGHT;
    return (struct span) { .track = f->track_of[seen->rank],
                           .stream = (int16_t)stream,
                           .kind = (int16_t)kind,
                           .number = pass ? t->tag.number : -1,
                           .chunk = pass ? t->chunk : -1,
                           .begun_ps = seen->met_ps, /* waits for others are white */
                           .ended_ps = seen->ended_ps };
}

static void on_task(void *arg, const struct observed_task *seen)
{
    struct step_figures *f = arg;
    const struct task *t = seen->task;
    int32_t track = f->track_of[seen->rank];
    if (track < 0)
        return;
    const struct program *p = f->tracks[track].program;
    struct span s = span_of(f, seen, (int)t->stream, kind_of(t));
    const struct pass_cost *pass = t->pass >= 0 ? &p->passes.v[t->pass] : NULL;
    if (t->stream == STREAM_COMPUTE)
        add_uses(f, seen, pass);
    if (pass)
        add_pass(f, s, pass);
    else if (t->fusion < 0) /* its buffers are seen */
        add(f, s);
    if (t->mark >= 0) {
        add_level(f, track, seen->begun_ps, p->marks.v[t->mark].high_B);
        add_level(f, track, seen->ended_ps, p->marks.v[t->mark].live_B);
    }
}

static void on_issued(void *arg, const struct observed_task *seen)
{
    struct step_figures *f = arg;
    if (f->track_of[seen->rank] < 0)
        return;
    add(f, span_of(f, seen, SPAN_STREAM_HOST, SPAN_HOST));
    add_use(f, USE_HOST, seen->begun_ps, seen->ended_ps, 1.0 / f->n_tracks);
}

static void on_buffer(void *arg, const struct observed_task *seen,
                      const struct coll_plan *plan)
{
    struct step_figures *f = arg;
    (void)plan;
    if (f->track_of[seen->rank] >= 0)
        add(f, span_of(f, seen, SPAN_STREAM_BUFFERS, SPAN_GRADIENTS));
}

static void on_links(void *arg, const struct observed_links *l)
{
    struct step_figures *f = arg;
    if (f->n_tracks == 0 || l->instance != f->tracks[0].instance)
        return;
    add_use(f, USE_NIC, l->from_ps, l->to_ps, l->nic_frac);
    add_use(f, USE_NVLINK, l->from_ps, l->to_ps, l->nvlink_frac);
}

struct step_figures *figure_step_new(const struct observer *next)
{
    struct step_figures *f = xcalloc(1, sizeof(*f));
    f->observer = (struct observer) {
        .arg = f,
        .next = next,
        .begin = on_begin,
        .task = on_task,
        .issued = on_issued,
        .buffer = on_buffer,
        .links = on_links,
    };
    return f;
}

const struct observer *figure_step_observer(const struct step_figures *f)
{
    return &f->observer;
}

void figure_step_free(struct step_figures *f)
{
    if (!f)
        return;
    VEC_RELEASE(&f->spans);
    VEC_RELEASE(&f->levels);
    VEC_RELEASE(&f->uses);
    free(f->track_of);
    free(f->tracks);
    free(f);
}

/* Drawing -------------------------------------------------------------------------- */

char *figure_step_title(const char *what, const struct scenario *s)
{
    const struct cluster_group hosts = cluster_hosts(&s->cluster.groups[0]),
                               *g = &hosts;
    char *model = written_model(s->model.label);
    char *title =
        xasprintf("%s of %s on %" PRId64 " x %s%s", what, model, (int64_t)g->count,
                  g->instance->name, s->cluster.n_groups > 1 ? " and others" : "");
    free(model);
    return title;
}

char *figure_step_provenance(const struct scenario *s, bool priced)
{
    struct arena arena;
    struct provenance p;
    arena_init(&arena);
    provenance_init(&p, &arena);
    provenance_add(&p, s);
    char *text = xstrdup(provenance_text(&p, priced));
    arena_release(&arena);
    return text;
}

static void draw_one(const struct step_figures *f, enum step_figure which,
                     const struct scenario *s, const struct simulate_result *r,
                     struct draw *d)
{
    switch (which) {
    case STEP_TIMELINE:
        figure_step_timeline(f, s, d);
        break;
    case STEP_MEMORY:
        figure_step_memory(f, s, r, d);
        break;
    case STEP_STAGES:
        figure_step_stages(s, r, d);
        break;
    case STEP_BREAKDOWN:
        figure_step_breakdown(s, r, d);
        break;
    default:
        figure_step_usage(f, s, d);
    }
}

static double height_of(const struct step_figures *f, enum step_figure which)
{
    enum { BAR_H = 230 };
    return which == STEP_TIMELINE    ? figure_step_timeline_height(f)
           : which == STEP_BREAKDOWN ? BAR_H
                                     : CHART_HEIGHT;
}

int figure_step_write(const struct step_figures *f, enum step_figure which,
                      const struct scenario *s, const struct simulate_result *r,
                      const struct draw_to *to, struct err *err)
{
    struct draw d;
    if (draw_open(&d, to, CHART_WIDTH, height_of(f, which), err))
        return -1;
    draw_one(f, which, s, r, &d);
    return draw_close(&d, err);
}
