/* Lines of trainers, a row a kind of line. Sources of the texts: Megatron-LM,
 * megatron/training/training.py; Megatron-Bridge, training/utils/train_utils.py; NeMo,
 * nemo/lightning/pytorch/callbacks/progress_printer.py; DeepSpeed, utils/timer.py;
 * torchtitan, components/metrics.py; Composer, loggers/console_logger.py and
 * callbacks/speed_monitor.py; nanotron, trainer.py; OLMo-core,
 * train/callbacks/{console_logger,speed_monitor}.py; torchtune,
 * training/metric_logging.py; transformers, trainer_utils.py (speed_metrics); all as of
 * 2026; picotron, train.py. */
#include "logs/logs.h"

#include "logs/kinds.h"
#include "logs/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    enum logs_basis basis;
} formats[FORMATS] = {
    [FORMAT_MEGATRON] = { "Megatron's iterations", LOGS_INTERVAL },
    [FORMAT_BRIDGE] = { "Megatron-Bridge's step times", LOGS_INTERVAL },
    [FORMAT_NEMO] = { "NeMo's step timing", LOGS_INTERVAL },
    [FORMAT_TORCHTITAN] = { "torchtitan's steps", LOGS_INTERVAL },
    [FORMAT_NANOTRON] = { "nanotron's iterations", LOGS_INTERVAL },
    [FORMAT_OLMO] = { "OLMo's steps", LOGS_INTERVAL },
    [FORMAT_NANOGPT] = { "nanoGPT's iterations", LOGS_INTERVAL },
    [FORMAT_NANOCHAT] = { "nanochat's steps", LOGS_INTERVAL },
    [FORMAT_LLM_C] = { "llm.c's steps", LOGS_INTERVAL },
    [FORMAT_SPEEDRUN] = { "modded-nanogpt's steps", LOGS_INTERVAL },
    [FORMAT_LITGPT] = { "litgpt's steps", LOGS_INTERVAL },
    [FORMAT_LLAMA_FACTORY] = { "LLaMA-Factory's steps", LOGS_INTERVAL },
    [FORMAT_MAXTEXT] = { "MaxText's steps", LOGS_INTERVAL },
    [FORMAT_TORCHTUNE] = { "torchtune's steps", LOGS_INTERVAL },
    [FORMAT_PICOTRON] = { "picotron's steps", LOGS_INTERVAL },
    [FORMAT_DEEPSPEED_CHAT] = { "DeepSpeed-Chat's steps", LOGS_INTERVAL },
    [FORMAT_DEEPSPEED] = { "DeepSpeed's throughput", LOGS_INTERVAL },
    [FORMAT_SPEED] = { "SageMaker's batches", LOGS_INTERVAL },
    [FORMAT_PROFILER] = { "steps of traces", LOGS_INTERVAL },
    [FORMAT_COMPOSER] = { "Composer's batches", LOGS_SMOOTHED },
    [FORMAT_SWIFT] = { "ms-swift's mean speed", LOGS_MEAN },
    [FORMAT_PROGRESS] = { "progress lines", LOGS_SMOOTHED },
    [FORMAT_DEEPSPEED_MEAN] = { "DeepSpeed's mean throughput", LOGS_MEAN },
    [FORMAT_TRAINER] = { "the Trainer's summary", LOGS_MEAN },
    [FORMAT_WALL_CLOCK] = { "DeepSpeed's wall clock", LOGS_PARTS },
};

const int32_t logs_n_formats = FORMATS;
_Static_assert((int)FORMATS <= (int)LOGS_FORMATS_MAX, "struct logs counts each");

const char *logs_format_name(int32_t format)
{
    return formats[format].name;
}

enum logs_basis logs_format_basis(int32_t format)
{
    return formats[format].basis;
}

/* What a field says, in SI after its factor. */
enum quantity {
    STEP, /* and "/ LAST" */
    TIME,
    STEPS_RATE,
    SAMPLES_RATE,
    TOKENS_RATE,
    TOKENS_GPU_RATE,
    TFLOPS,
    LOADING,
    BATCH,
    BATCH_TOKENS,
    CONSUMED, /* samples since the begin of the run */
    ALLOCATED,
    RESERVED,
    PART, /* of a step's time, which is the sum of its parts */
    QUANTITIES
};

struct field {
    const char *key; /* NULL ends them */
    enum quantity is;
    double factor; /* of the unit */
    bool human;    /* "11.5K" */
    bool before;   /* the number is before its key, which is its unit */
};

enum place { ALONE, BEGINS, JOINS }; /* in a record of several lines */

enum { FIELDS_MAX = 8 };

struct line_row {
    enum logs_format format;
    enum place place;
    const char *needs[2]; /* all are in the line */
    const char *lacks;
    struct field fields[FIELDS_MAX];
};

/* clang-format off */
#define VALUE(k, q) { .key = k, .is = q, .factor = 1 }
#define SCALED(k, q, f) { .key = k, .is = q, .factor = f }
#define BEFORE(k, q, f) { .key = k, .is = q, .factor = f, .before = true }
#define HUMAN(k, q, f) { .key = k, .is = q, .factor = f, .human = true }
#define END { .key = NULL }
#define MB 0x1p20
#define GB 0x1p30

static const struct line_row rows[] = {
    { FORMAT_MEGATRON, ALONE, { "iteration", "elapsed time per iteration (ms):" }, NULL,
      { VALUE("iteration", STEP), SCALED("elapsed time per iteration (ms):", TIME, 1e-3),
        VALUE("throughput per GPU (TFLOP/s/GPU):", TFLOPS), VALUE("TFLOPs:", TFLOPS),
        VALUE("consumed samples:", CONSUMED), VALUE("global batch size:", BATCH) } },
    { FORMAT_MEGATRON, ALONE, { "iteration", "elapsed time per iteration (s):" }, NULL,
      { VALUE("iteration", STEP), VALUE("elapsed time per iteration (s):", TIME),
        VALUE("TFLOPs:", TFLOPS), VALUE("consumed samples:", CONSUMED),
        VALUE("global batch size:", BATCH) } },
    { FORMAT_MEGATRON, ALONE, { "iteration=", "elapsed_time_per_iteration_ms=" }, NULL,
      { VALUE("iteration=", STEP), /* Megatron-DeepSpeed since 2024 */
        SCALED("elapsed_time_per_iteration_ms=", TIME, 1e-3), VALUE("TFLOPs=", TFLOPS),
        VALUE("global_batch_size=", BATCH) } },
    { FORMAT_BRIDGE, ALONE, { "Step Time :", "GPU utilization:" }, NULL,
      { VALUE("Step Time :", TIME), VALUE("GPU utilization:", TFLOPS) } },
    { FORMAT_NEMO, ALONE, { "train_step_timing in s" }, NULL,
      { VALUE("train_step_timing in s", TIME), VALUE("global_step", STEP),
        VALUE("consumed_samples", CONSUMED), VALUE("global_batch_size", BATCH),
        VALUE("TFLOPS_per_GPU", TFLOPS),
        VALUE("max_memory_allocated", ALLOCATED), VALUE("max_memory_reserved", RESERVED),
        VALUE("peak_memory_usage", RESERVED) } }, /* whole 2 MiB segments */
    { FORMAT_TORCHTITAN, ALONE, { "tps:", "loss:" }, "validate",
      { VALUE("step:", STEP), VALUE("tps:", TOKENS_GPU_RATE), VALUE("tflops:", TFLOPS),
        SCALED("memory:", RESERVED, GB) } },
    { FORMAT_NANOTRON, ALONE, { "iteration:", "time_per_iteration_ms:" }, NULL,
      { VALUE("iteration:", STEP), HUMAN("elapsed_time_per_iteration_ms:", TIME, 1e-3),
        HUMAN("time_per_iteration_ms:", TIME, 1e-3),
        VALUE("model_tflops_per_gpu:", TFLOPS), VALUE("global_batch_size:", BATCH),
        HUMAN("cuda_max_memory_reserved:", RESERVED, 1) } },
    { FORMAT_OLMO, BEGINS, { "[step=" }, NULL, { VALUE("[step=", STEP) } },
    { FORMAT_OLMO, JOINS, { "throughput/device/" }, NULL,
      { VALUE("throughput/device/BPS=", STEPS_RATE),
        VALUE("throughput/device/batches_per_second=", STEPS_RATE),
        VALUE("throughput/device/TPS=", TOKENS_GPU_RATE),
        VALUE("throughput/device/tokens_per_second=", TOKENS_GPU_RATE),
        VALUE("throughput/device/data loading (s)=", LOADING),
        HUMAN("throughput/device/flopsPS=", TFLOPS, 1e-12) } },
    { FORMAT_OLMO, JOINS, { "gpu_memory/GPU reserved mem (GiB)=" }, NULL,
      { SCALED("gpu_memory/GPU reserved mem (GiB)=", RESERVED, GB) } },
    { FORMAT_OLMO, JOINS, { "System/Peak GPU Memory (MB)=" }, NULL,
      { SCALED("System/Peak GPU Memory (MB)=", ALLOCATED, 1e6) } },
    { FORMAT_NANOGPT, ALONE, { "iter ", ", time " }, NULL,
      { VALUE("iter", STEP), SCALED("time", TIME, 1e-3) } },
    { FORMAT_NANOCHAT, ALONE, { "| dt: ", "| tok/sec: " }, NULL, /* and build-nanogpt */
      { VALUE("step", STEP), SCALED("dt:", TIME, 1e-3) } },
    { FORMAT_LLM_C, ALONE, { "bf16 MFU | ", " tok/s" }, NULL, /* train_gpt2.cu */
      { VALUE("step", STEP), BEFORE(" ms |", TIME, 1e-3) } },
    { FORMAT_MAXTEXT, ALONE, { "completed step:", "seconds:" }, NULL,
      { VALUE("completed step:", STEP), VALUE("seconds:", TIME),
        VALUE("TFLOP/s/device:", TFLOPS) } },
    { FORMAT_TORCHTUNE, ALONE, { "Step ", "tokens_per_second_per_gpu:" }, NULL,
      { VALUE("Step", STEP), VALUE("tokens_per_second_per_gpu:", TOKENS_GPU_RATE),
        SCALED("peak_memory_alloc:", ALLOCATED, GB),
        SCALED("peak_memory_reserved:", RESERVED, GB) } },
    { FORMAT_PICOTRON, ALONE, { "Step:", "| Tokens/s/GPU:" }, NULL,
      { VALUE("Step:", STEP), HUMAN("Global batch size:", BATCH_TOKENS, 1),
        HUMAN("Tokens/s:", TOKENS_RATE, 1), SCALED("Memory usage:", RESERVED, 1e9) } },
    { FORMAT_DEEPSPEED_CHAT, ALONE, { "E2E latency=", "|Generate time=" }, NULL,
      { VALUE("E2E latency=", TIME) } }, /* its actor's own timers are of a part */
    { FORMAT_DEEPSPEED, ALONE, { "CurrSamplesPerSec=" }, NULL,
      { VALUE("/global_step=", STEP), VALUE("CurrSamplesPerSec=", SAMPLES_RATE),
        SCALED("MaxMemAllocated=", ALLOCATED, GB) } },
    { FORMAT_DEEPSPEED, ALONE, { "iter time (s):", "samples/sec:" }, NULL, /* runtime/pipe/engine.py */
      { VALUE("steps:", STEP), VALUE("iter time (s):", TIME) } },
    /* runtime/engine.py, wall_clock_breakdown: a step's timers, in whichever order */
    { FORMAT_WALL_CLOCK, ALONE, { "time (ms) | fwd: ", " | step: " }, "fwd_microstep",
      { SCALED("fwd:", PART, 1e-3), SCALED("bwd:", PART, 1e-3),
        SCALED("step:", PART, 1e-3) } },
    { FORMAT_WALL_CLOCK, ALONE, { "time (ms) | forward: ", " | step: " }, "forward_microstep",
      { SCALED("forward:", PART, 1e-3), SCALED("backward:", PART, 1e-3),
        SCALED("step:", PART, 1e-3) } },
    { FORMAT_DEEPSPEED_MEAN, ALONE, { "SamplesPerSec=" }, "CurrSamplesPerSec=",
      { VALUE("RunningAvgSamplesPerSec=", SAMPLES_RATE), VALUE("SamplesPerSec=", SAMPLES_RATE),
        SCALED("MaxMemAllocated=", ALLOCATED, GB) } },
    { FORMAT_SPEED, ALONE, { "Speed:", "samples/sec" }, NULL,
      { VALUE("Batch", STEP), VALUE("Speed:", SAMPLES_RATE),
        VALUE("Model TFLOPS/GPU:", TFLOPS) } },
    { FORMAT_COMPOSER, BEGINS, { "[batch=" }, NULL, { VALUE("[batch=", STEP) } },
    { FORMAT_COMPOSER, BEGINS, { "[token=" }, NULL, { END } },
    { FORMAT_COMPOSER, JOINS, { "Train throughput/" }, NULL,
      { VALUE("throughput/batches_per_sec:", STEPS_RATE),
        VALUE("throughput/samples_per_sec:", SAMPLES_RATE),
        SCALED("throughput/device/flops_per_sec:", TFLOPS, 1e-12) } },
    { FORMAT_COMPOSER, JOINS, { "Train memory/peak_" }, NULL,
      { SCALED("memory/peak_reserved_mem:", RESERVED, 1e9),
        SCALED("memory/peak_allocated_mem:", ALLOCATED, 1e9) } },
    { FORMAT_COMPOSER, JOINS, { "Train memory/reserved_mem:" }, NULL, /* before Composer 0.16 */
      { SCALED("memory/reserved_mem:", RESERVED, 1e9) } },
    { FORMAT_SWIFT, ALONE, { "train_speed(iter/s)" }, NULL,
      { VALUE("global_step/max_steps", STEP), VALUE("train_speed(iter/s)", STEPS_RATE),
        SCALED("memory(GiB)", RESERVED, GB) } },
    { FORMAT_SWIFT, ALONE, { "train_speed(s/it)" }, NULL,
      { VALUE("global_step/max_steps", STEP), VALUE("train_speed(s/it)", TIME),
        SCALED("memory(GiB)", RESERVED, GB) } },
    { FORMAT_TRAINER, ALONE, { "train_steps_per_second" }, NULL,
      { VALUE("train_steps_per_second", STEPS_RATE),
        VALUE("train_samples_per_second", SAMPLES_RATE) } },
};
/* clang-format on */

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Memory that is reported apart from steps. */
static const struct {
    const char *needs, *key;
    bool reserved;
    double factor;
} memory_rows[] = {
    { "memory (MB) |", "max allocated:", false, MB }, /* Megatron's report_memory */
    { "memory (MB) |", "max reserved:", true, MB },
    { "MemAllocated=", "MaxMemAllocated=", false, GB }, /* DeepSpeed's timer */
    { "Max_MA", "Max_MA", false, GB },                  /* see_memory_usage */
    { "Max_CA", "Max_CA", true, GB },
    { "Peak reserved:", "Peak reserved:", true, MB }, /* nanotron's log_memory */
    { "Peak allocated", "Peak allocated", false, MB },
    { "memory/max_", "memory/max_allocated (GiB)", false,
      GB }, /* axolotl, utils/bench.py */
    { "memory/max_", "memory/max_mem_allocated(gib)", false, GB },
    { "memory/device_", "memory/device_reserved (GiB)", true, GB },
    { "memory/device_", "memory/device_mem_reserved(gib)", true, GB },
};

static void keep_most(double *most, double v)
{
    if (v > *most && v < 1e15)
        *most = v;
}

static void read_memory(struct logs *l, const char *line)
{
    double v;
    for (size_t i = 0; i < sizeof(memory_rows) / sizeof(memory_rows[0]); i++)
        if (strstr(line, memory_rows[i].needs) &&
            line_value(line, memory_rows[i].key, false, &v) == 0)
            keep_most(memory_rows[i].reserved ? &l->reserved_B : &l->allocated_B,
                      v * memory_rows[i].factor);
}

/* "182/ 250000"; what is written "9e+3" is rounded, and no number of a step. */
static void take_step(struct logs_record *r, const char *at)
{
    const char *end;
    double v, last;
    if (line_number(at, false, &v, &end) || v < 0 || v != floor(v) ||
        memchr(at, 'e', (size_t)(end - at)))
        return;
    r->step = (int64_t)v;
    end += strspn(end, " ");
    if (*end == '/' && line_number(end + 1, false, &last, NULL) == 0 && last >= v)
        r->of_steps = (int64_t)last;
}

/* Of two rates, the one that was rounded less is kept: three decimals are written. */
static void take_rate(struct logs_record *r, enum logs_rate of, double v)
{
    static const double too_small = 0.05;
    if (v <= 0 || (r->rate_of != LOGS_NO_RATE && r->rate >= too_small))
        return;
    r->rate = v;
    r->rate_of = of;
}

/* The batch by two lines' samples and steps, where no line says it. */
static void count_samples(struct logs *l, const struct logs_record *r, double samples)
{
    struct logs_count *last = &l->counted;
    double steps = (double)(r->step - last->step),
           batch = (samples - last->samples) / steps;
    bool counts = last->format == r->format && last->step >= 0 && steps > 0 &&
                  batch >= 1 && batch == floor(batch);
    if (counts && (l->global_batch <= 0 || l->global_batch == last->batch)) {
        l->global_batch = last->batch = batch;
        l->batch_by_clock = false;
    }
    last->format = r->format;
    last->step = r->step;
    last->samples = samples;
}

static void take_value(struct logs *l, struct logs_record *r, enum quantity is,
                       double v)
{
    static const enum logs_rate rates[QUANTITIES] = {
        [STEPS_RATE] = LOGS_STEPS,
        [SAMPLES_RATE] = LOGS_SAMPLES,
        [TOKENS_RATE] = LOGS_TOKENS,
        [TOKENS_GPU_RATE] = LOGS_TOKENS_GPU,
    };
    if (is == TIME && !isfinite(r->time_s) && v > 0)
        r->time_s = v;
    else if (is == PART && v > 0)
        r->time_s = isfinite(r->time_s) ? r->time_s + v : v;
    else if (is == TFLOPS && v > 0)
        r->tflops = v;
    else if (is == LOADING && v >= 0)
        r->loading_s = v;
    else if (is == BATCH && v > 0) {
        l->global_batch = v;
        l->batch_by_clock = false;
    } else if (is == BATCH_TOKENS && v > 0)
        l->tokens_batch = v;
    else if (is == CONSUMED && v > 0)
        count_samples(l, r, v);
    else if (is == ALLOCATED)
        keep_most(&l->allocated_B, v);
    else if (is == RESERVED)
        keep_most(&l->reserved_B, v);
    else if (is == TOKENS_RATE && l->tokens_batch > 0 && v > 0)
        r->time_s = l->tokens_batch / v;
    else if (rates[is] != LOGS_NO_RATE)
        take_rate(r, rates[is], v);
}

/* The number of a field; -1: it has none. A batch that was rounded ("1.02K") is none. */
static int field_value(const struct field *f, const char *line, const char *at,
                       double *v)
{
    const char *end;
    if (f->before)
        return line_before(line, at, v);
    if (line_number(at, f->human, v, &end))
        return -1;
    return f->is == BATCH && isalpha((unsigned char)*end) ? -1 : 0;
}

static void take_fields(struct logs *l, const struct line_row *row,
                        struct logs_record *r, const char *line)
{
    for (int i = 0; i < FIELDS_MAX && row->fields[i].key; i++) {
        const struct field *f = &row->fields[i];
        const char *at = f->before ? strstr(line, f->key) : line_after(line, f->key);
        double v;
        if (!at)
            continue;
        if (f->is == STEP)
            take_step(r, at);
        else if (field_value(f, line, at, &v) == 0)
            take_value(l, r, f->is, v * f->factor);
    }
}

/* Lines that join are of the record that is open. */
static bool matches(const struct logs *l, const struct line_row *row, const char *line)
{
    if (row->place == JOINS && l->open.format != (int32_t)row->format)
        return false;
    for (int i = 0; i < 2 && row->needs[i]; i++)
        if (!strstr(line, row->needs[i]))
            return false;
    return !row->lacks || !strstr(line, row->lacks);
}

struct logs_record logs_record_new(enum logs_format format)
{
    return (struct logs_record) {
        .format = (int32_t)format,
        .step = -1,
        .of_steps = -1,
        .time_s = (double)NAN,
        .tflops = (double)NAN,
        .loading_s = (double)NAN,
    };
}

static void take_line(struct logs *l, const struct line_row *row, const char *line,
                      int64_t rank)
{
    if (row->place == JOINS) {
        take_fields(l, row, &l->open, line);
        return;
    }
    struct logs_record r = logs_record_new(row->format);
    take_fields(l, row, &r, line);
    if (row->place == ALONE) {
        logs_clock_rate(l, &r, line);
        logs_add(l, &r, rank);
        return;
    }
    logs_add(l, &l->open, rank);
    l->open = r;
}

bool logs_read_format(struct logs *l, const char *line, int64_t rank)
{
    read_memory(l, line);
    for (int i = 0; i < ROWS; i++)
        if (matches(l, &rows[i], line)) {
            take_line(l, &rows[i], line, rank);
            return true;
        }
    return false;
}
