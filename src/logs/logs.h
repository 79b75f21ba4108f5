/* Logs of training runs, as they are: text of the trainers, of NCCL with
 * NCCL_DEBUG=INFO, and tables of nvidia-smi, in any mixture and with any prefix that
 * launchers put before lines; traces of PyTorch's profiler (kineto/kineto.h), and
 * exports of Nsight Systems (kineto/nsight.h). Gzip is read as it is, but for exports.
 *
 * Reading streams: a line at a time, of which LOGS_LINE_MAX bytes are looked at. What is
 * kept is bounded, whatever the size of a log. Texts that are kept (names of timers,
 * versions, hosts) are short and have no control characters.
 *
 * Files of this folder:
 *     stream          lines of a file
 *     formats, scan   a row a format of the trainers' lines; numbers in lines
 *     progress        tqdm's lines
 *     clocks          lines whose time is a clock's, or of a pass
 *     settings        the batch and the number of steps, as trainers say them at first
 *     stated          the GPU, ranks, degrees and sizes, likewise
 *     timers          lines of Megatron's and DeepSpeed's timers
 *     notices         lines that say what happened: checkpoints, evaluation, warnings
 *     nccl            what NCCL says of itself
 *     variables       of the environment
 *     smi, dcgm       tables of nvidia-smi, and of DCGM
 *     steady          steps set apart, and the distribution of the others */
#ifndef LOGS_LOGS_H
#define LOGS_LOGS_H

#include "base/err.h"
#include "base/vec.h"
#include "kineto/nsight.h"
#include "logs/nccl.h"
#include "logs/notices.h"
#include "logs/smi.h"
#include "logs/stated.h"
#include "logs/timers.h"
#include "logs/variables.h"

enum {
    LOGS_LINE_MAX = 1 << 14,
    LOGS_FORMATS_MAX = 32,
    LOGS_RECORDS_MAX = 1 << 16,
    LOGS_CLOCKS = 3,
    LOGS_CLOCKED = 64,
};

/* What a record's time is of. */
enum logs_basis {
    LOGS_INTERVAL, /* the steps since the record before */
    LOGS_SMOOTHED, /* a moving average */
    LOGS_MEAN,     /* all steps so far */
    LOGS_PARTS,    /* timers of a step's parts: what lies between them is missing */
};

/* What a line's rate is of. */
enum logs_rate {
    LOGS_NO_RATE,
    LOGS_STEPS,
    LOGS_SAMPLES,
    LOGS_TOKENS,
    LOGS_TOKENS_GPU, /* a GPU's share */
};

/* What a trainer says of a step, or of those since the record before. */
struct logs_record {
    int32_t format, file;
    int64_t line, step, of_steps; /* -1: not said */
    unsigned events;              /* bits of enum logs_event since the record before */
    double time_s;                /* of a step; NAN: only a rate, or not said */
    double rate;                  /* a second */
    enum logs_rate rate_of;
    bool of_pass;     /* the time is of one pass of those that accumulate gradients */
    double tflops;    /* of a GPU, as the trainer counts; NAN: not said */
    double loading_s; /* of a step's wait for data; NAN: not said */
};

/* A clock that a trainer reads at steps: what it said last. */
struct logs_clock {
    int64_t step;
    double s;
    bool known;
};

/* Passes since the last update of the weights. */
struct logs_passes {
    int64_t pass; /* the last that was said */
    double s;     /* of those since the update; NAN: some were not said */
};

/* Samples that lines of a format have counted. */
struct logs_count {
    int32_t format;
    int64_t step;          /* -1: none */
    double samples, batch; /* batch: by two lines; 0 */
};

struct logs_bar {
    int64_t line, of_steps;
};

/* How often a format occurred, and what it left out. */
struct logs_format_use {
    int64_t n_records, n_ranks_left; /* the same steps, as other ranks say them */
    int64_t first_line;
    int32_t file;
    int64_t rank, last_step; /* of the records that are kept; -1 */
};

struct logs_file {
    const char *name;        /* borrowed */
    int64_t n_lines, n_long; /* lines; those that were cut */
    bool is_cut;             /* more text than is read of one file */
    int64_t n_events;        /* of a trace; 0: it is none */
};

struct logs {
    VEC(struct logs_file) files;
    VEC(struct logs_record) records; /* in the order of the lines */
    int64_t stride;                  /* 1 of so many records is kept */
    int64_t n_seen;
    struct logs_format_use formats[LOGS_FORMATS_MAX];
    unsigned events;                /* since the last record */
    double allocated_B, reserved_B; /* the most that was said; 0: nothing */
    double global_batch;            /* the last that was said; 0: nothing */
    bool batch_by_clock;            /* by rates and times of lines, so about */
    int64_t total_steps;            /* likewise, of the trainer's bar */
    double tokens_batch;            /* likewise, in tokens */
    struct logs_count counted;
    struct logs_record open; /* of several lines; format -1: none */
    struct logs_clock clocks[LOGS_CLOCKS];
    double clocked[LOGS_CLOCKED]; /* batches by rates and times of lines */
    int32_t n_clocked;
    struct logs_passes passes;
    struct logs_bar other_bar; /* the last that is none of training */
    struct logs_timers timers;
    struct logs_notices notices;
    struct logs_nccl nccl;
    struct logs_variables variables;
    struct logs_stated stated;
    struct logs_smi smi;
    VEC(struct kineto_rank) traces; /* of a rank each */
    struct kineto *trace;           /* that is read; NULL */
    bool timeline;                  /* the kernels of a step are wanted of traces */
    bool trains;                    /* a line speaks of a loss, or of training */
    bool packed;                    /* what is read is a database, packed or piped */
};

void logs_init(struct logs *l);
void logs_release(struct logs *l);

/* Adds what a file holds ("-" is standard input). The name has to outlive the logs. -1
 * with err set where it cannot be read; a file without anything of use is no error. */
int logs_read(struct logs *l, const char *file, struct err *err);

/* Adds one line of the last file, without its end; it is changed. */
void logs_line(struct logs *l, char *text, size_t length);

/* After the last line: what is open is closed. */
void logs_end(struct logs *l);

/* Whether anything was found that says something of a run. */
bool logs_found(const struct logs *l);

/* A row of the table of formats, and how many there are. */
const char *logs_format_name(int32_t format);
enum logs_basis logs_format_basis(int32_t format);
extern const int32_t logs_n_formats;

/* Keeps a record, unless another rank said it before. */
void logs_add(struct logs *l, struct logs_record *record, int64_t rank);

/* Parts of logs_line: true where the line is of that kind. */
bool logs_read_format(struct logs *l, const char *line, int64_t rank);
bool logs_read_progress(struct logs *l, const char *line, int64_t rank);
bool logs_read_clocks(struct logs *l, const char *line, int64_t rank);

/* A rate in samples of a line with its time: what the batch is, by the line before.
 * logs_clock_end takes the median of these, where no line says the batch. */
void logs_clock_rate(struct logs *l, const struct logs_record *r, const char *line);
void logs_clock_end(struct logs *l);
void logs_read_settings(struct logs *l, const char *line);
bool logs_speaks_of_training(const char *line);

#endif
