/* What figures of a step have seen. For figure_step*.c, and for the page of a step. */
#ifndef REPORT_FIGURE_STEP_DATA_H
#define REPORT_FIGURE_STEP_DATA_H

#include "base/vec.h"
#include "draw/chart.h"
#include "draw/timeline.h"
#include "report/figure/step.h"

enum span_kind {
    SPAN_FORWARD,
    SPAN_BACKWARD,
    SPAN_GRADIENTS, /* their communication, and copies for it */
    SPAN_OPTIMIZER,
    SPAN_RECOMPUTE,
    SPAN_TENSOR,
    SPAN_CONTEXT,
    SPAN_EXPERT,
    SPAN_MESSAGE,
    SPAN_WEIGHT,
    SPAN_GATHER,
    SPAN_COPY,
    SPAN_HOST,
    SPAN_KINDS
};

/* What figures and pages call them, and their colours. */
struct span_kind_row {
    const char *name;
    enum meaning meaning;
};
extern const struct span_kind_row figure_span_kinds[SPAN_KINDS];

enum { SPAN_STREAM_HOST = STREAM_N, SPAN_STREAM_BUFFERS, SPAN_STREAMS };

struct span {
    int32_t track; /* of the ranks watched */
    int16_t stream, kind;
    int32_t number; /* microbatch; -1: none */
    int32_t chunk;  /* of its stage, from 0; -1: it has one */
    int64_t begun_ps, ended_ps;
};

struct level { /* of memory */
    int32_t track;
    int64_t at_ps;
    int64_t held_B[LEDGER_KINDS];
};

/* What of a stage's memory is no live tensor, and there all the time: NCCL's buffers, as
 * workspace what the allocator reserves beyond tensors, and the context; `fullest_B` is
 * the fullest level. With it, each kind is at that moment what stage_memory says. */
enum { FIGURE_FRAMEWORK = LEDGER_KINDS, FIGURE_HELD_KINDS };
void figure_step_constants(const struct stage_memory *m,
                           const int64_t fullest_B[LEDGER_KINDS],
                           int64_t constant_B[FIGURE_HELD_KINDS]);

enum use_kind { USE_GPU, USE_HOST, USE_NIC, USE_NVLINK, USES };

/* A share of what all tracks have, busy for that time. */
struct use {
    enum use_kind kind;
    int64_t from_ps, to_ps;
    double share;
};

struct step_figures {
    struct observer observer;
    int32_t n_tracks;
    int64_t n_ranks;
    int32_t *track_of; /* [n_ranks] -1: not watched */
    struct watched {
        int64_t number, stage, instance;
        const struct program *program; /* while it runs */
        int64_t extra;                 /* accumulation steps that are not seen */
    } * tracks;
    VEC(struct span) spans; /* by their ends */
    VEC(struct level) levels;
    VEC(struct use) uses;
};

/* Busy seconds of each stretch of the step: means over the stages of a pipeline, links
 * outside passes those of the instance that its first stage sits on. */
enum { STEP_STRETCHES = 120 };
struct step_usage {
    int64_t end_ps;
    double busy_s[USES][STEP_STRETCHES];
};
void figure_step_use(struct step_usage *u, const struct step_figures *f);

/* Draws on a canvas of that size; width and height come from step_*_size. */
void figure_step_timeline(const struct step_figures *f, const struct scenario *s,
                          struct draw *d);

/* What was seen as lanes of boxes: stages of a pipeline, or streams of a rank. */
struct step_lanes *figure_lanes_new(const struct step_figures *f);
void figure_lanes_free(struct step_lanes *x);

/* The median length of the shortest kind of a pipeline's passes; 0: it has none. */
double figure_lanes_pass(const struct step_lanes *x);
/* Whether its passes are too many for a figure of that width: some time is left out. */
bool figure_lanes_dense(const struct step_lanes *x, double width);
/* (stages): shares of the step in which each does nothing; they are the lanes'. */
const double *figure_lanes_idle(const struct step_lanes *x);

struct step_lanes_look {
    double pass_s; /* > 0: time is left out, so that passes of that length have room */
    size_t rows;   /* at most; 0: a dozen */
    bool no_idle;  /* names of stages do not say their shares of idle time */
};

/* Rows that so much of a canvas has room for. */
size_t figure_lanes_rows(const struct draw *d, double height);

/* Draws them into a timeline that has its titles; its end and its legend may be given. */
void figure_lanes_draw(const struct step_lanes *x, const struct step_lanes_look *look,
                       struct timeline t, struct draw *d);

/* The track of the stage that is fullest, or the first. */
int32_t figure_step_fullest(const struct step_figures *f,
                            const struct simulate_result *r);

/* What a rank of a track does meanwhile, as the timeline shows it, in seconds and in
 * order; phases of under a hundredth of the step are left out. Returns how many. */
enum { STEP_PHASES = 6 };
size_t figure_step_phases(const struct step_figures *f, int32_t track,
                          struct chart_phase phases[STEP_PHASES]);

double figure_step_timeline_height(const struct step_figures *f);
void figure_step_memory(const struct step_figures *f, const struct scenario *s,
                        const struct simulate_result *r, struct draw *d);
void figure_step_stages(const struct scenario *s, const struct simulate_result *r,
                        struct draw *d);
void figure_step_breakdown(const struct scenario *s, const struct simulate_result *r,
                           struct draw *d);

void figure_step_usage(const struct step_figures *f, const struct scenario *s,
                       struct draw *d);

/* "gpt2 on 2 x p4d.24xlarge"; the caller frees it. */
char *figure_step_title(const char *what, const struct scenario *s);

/* What its numbers are of, with prices where `priced`; the caller frees it. */
char *figure_step_provenance(const struct scenario *s, bool priced);

#endif
