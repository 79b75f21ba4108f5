/* The "training" section: sizes, precision, optimizer, task, and the arithmetic of the
 * batch. */
#include "base/strbuf.h"
#include "parallel/reading.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
const struct name_value optimizer_names[] = {
    { "adam", OPTIMIZER_ADAM }, { "lamb", OPTIMIZER_LAMB },
    { "adam8bit", OPTIMIZER_ADAM8BIT }, { "adafactor", OPTIMIZER_ADAFACTOR },
    { "sgd", OPTIMIZER_SGD }, { NULL, 0 },
};
const struct name_value checkpointing_names[] = {
    { "none", CHECKPOINT_NONE }, { "selective", CHECKPOINT_SELECTIVE },
    { "full", CHECKPOINT_FULL }, { "group", CHECKPOINT_GROUP }, { NULL, 0 },
};
static const struct name_value checkpointing_words[] = {
    { "none", CHECKPOINT_NONE }, { "selective", CHECKPOINT_SELECTIVE },
    { "full", CHECKPOINT_FULL }, { NULL, 0 },
};
static const struct name_value wire_dtypes[] = {
    { "fp32", DTYPE_FP32 }, { "fp16", DTYPE_FP16 }, { "bf16", DTYPE_BF16 }, { NULL, 0 },
};

/* What is trained, and on which stacks it can stand. */
enum { TASK_PRETRAINING, TASK_MASKED_LM, TASK_SPAN, TASK_CLASS, TASK_CAUSAL_LM };
static const struct name_value task_names[] = {
    { "pretraining", TASK_PRETRAINING }, { "masked-lm", TASK_MASKED_LM },
    { "question-answering", TASK_SPAN }, { "classification", TASK_CLASS },
    { "causal-lm", TASK_CAUSAL_LM }, { NULL, 0 },
};
static const struct {
    enum model_head encoder, decoder; /* MODEL_HEAD_NONE: it cannot */
} tasks[] = {
    [TASK_PRETRAINING] = { MODEL_HEAD_PRETRAIN, MODEL_HEAD_CAUSAL_LM },
    [TASK_MASKED_LM]   = { MODEL_HEAD_MASKED_LM, MODEL_HEAD_NONE },
    [TASK_SPAN]        = { MODEL_HEAD_SPAN, MODEL_HEAD_SPAN },
    [TASK_CLASS]       = { MODEL_HEAD_CLASS, MODEL_HEAD_CLASS },
    [TASK_CAUSAL_LM]   = { MODEL_HEAD_NONE, MODEL_HEAD_CAUSAL_LM },
};

/* A sequence, a batch or a job beyond these is a slip of the pen. */
#define TOKENS_MAX  (double)(1 << 24)
#define BATCH_MAX   (double)(1 << 24)
#define GLOBAL_MAX  (double)(INT64_C(1) << 40)
#define JOB_MAX     1e15
#define PADDING_MAX 65536

#define W struct training_words
#define COUNT(k, m, h, most)                                                           \
    { .key = (k), .type = CFG_T_INT, .at = offsetof(W, m), .has = offsetof(W, h),      \
      .min = 1, .max = (most) }
static const struct cfg_field training_fields[] = {
    { .key = "sequence_length", .type = CFG_T_INT, .at = offsetof(W, t.sequence_length),
      .has = offsetof(W, has_sequence), .required = true, .min = 1, .max = TOKENS_MAX },
    COUNT("micro_batch_size", t.micro_batch_size, has_micro, BATCH_MAX),
    COUNT("microbatches", t.microbatches, has_microbatches, BATCH_MAX),
    COUNT("gradient_accumulation_steps", t.accumulation, has_accumulation, BATCH_MAX),
    COUNT("global_batch_size", t.global_batch_size, has_global, GLOBAL_MAX),
    CFG_ENUM("precision", W, t.precision, op_precision_names),
    CFG_ENUM("gradient_dtype", W, t.gradient_dtype, wire_dtypes),
    CFG_ENUM("optimizer", W, t.optimizer, optimizer_names),
    CFG_CHILD("activation_checkpointing", W, checkpointing),
    CFG_ENUM("attention", W, t.attention, op_attention_names),
    CFG_INT("vocab_padding", W, t.vocab_padding, 1, PADDING_MAX),
    CFG_INT("predicted_positions", W, t.predicted_positions, 1, TOKENS_MAX),
    CFG_ENUM("task", W, task, task_names),
    CFG_STRING("framework", W, framework),
    CFG_INT("samples", W, t.samples, 1, JOB_MAX),
    COUNT("epochs", t.epochs, has_epochs, JOB_MAX),
    CFG_INT("steps", W, t.steps, 1, JOB_MAX),
    CFG_END,
};
/* clang-format on */

/* --- rules of single values -------------------------------------------------- */

static int check_checkpointing(struct cfg c)
{
    if (!cfg_present(c))
        return 0;
    int v = CHECKPOINT_GROUP;
    if (cfg_is_object(c)) {
        struct {
            int64_t layers;
        } group = { 0 };
        const struct cfg_field fields[] = {
            { .key = "group",
              .type = CFG_T_INT,
              .has = CFG_NO_HAS,
              .required = true,
              .min = 1,
              .max = 100000 },
            CFG_END,
        };
        if (cfg_read(c, fields, &group))
            return -1;
    } else if (cfg_enum(c, checkpointing_words, &v)) {
        return -1;
    }
    return v == CHECKPOINT_NONE ? 0
                                : cfg_error(c, "activation checkpointing is not "
                                               "simulated yet (write \"none\")");
}

/* "fp32 and fp16": what the GPU computes in. */
static void arithmetic_text(struct strbuf *b, const struct gpu *gpu)
{
    int n = 0, shown = 0;
    for (int t = 0; t < DTYPE_N; t++)
        n += gpu->peak_flops[t] > 0;
    for (int t = 0; t < DTYPE_N; t++) {
        if (gpu->peak_flops[t] <= 0)
            continue;
        const char *before = shown == 0 ? "" : shown == n - 1 ? " and " : ", ";
        strbuf_printf(b, "%s%s", before, names_of(dtype_names, t));
        shown++;
    }
}

/* The nearest precision of the same make that the GPU has; NULL when there is none. */
static const char *precision_instead(enum op_precision p, const struct gpu *gpu)
{
    static const enum op_precision plain[] = { OP_BF16, OP_FP16, OP_TF32, OP_FP32 };
    static const enum op_precision autocast[] = { OP_AMP_BF16, OP_AMP_FP16, OP_TF32,
                                                  OP_FP32 };
    const enum op_precision *list = op_is_autocast(p) ? autocast : plain;
    for (int i = p == OP_TF32 ? 3 : 0; i < 4; i++)
        if (gpu->peak_flops[op_compute_dtype(list[i])] > 0)
            return names_of(op_precision_names, (int)list[i]);
    return "fp32";
}

static int check_precision(const struct reading *r)
{
    enum op_precision p = r->s->training.precision;
    enum dtype needed = op_compute_dtype(p);
    struct cfg at = cfg_get(r->training, "precision");
    for (int i = 0; i < r->s->cluster.n_groups; i++) {
        const struct gpu *gpu = r->s->cluster.groups[i].instance->gpu;
        if (gpu->peak_flops[needed] > 0)
            continue;
        struct strbuf has;
        strbuf_init(&has);
        arithmetic_text(&has, gpu);
        cfg_error(at, "%s has no %s arithmetic, only %s (\"%s\" would do)", gpu->name,
                  names_of(dtype_names, (int)needed), strbuf_get(&has),
                  precision_instead(p, gpu));
        strbuf_release(&has);
        return -1;
    }
    return 0;
}

/* Positions that a sequence may have: RoBERTa's first two are for padding. */
static int64_t usable_positions(const struct model *m)
{
    bool roberta = m->family && strstr(m->family, "roberta");
    return roberta && m->positions > 2 ? m->positions - 2 : m->positions;
}

static int check_sequence(const struct reading *r)
{
    const struct training *t = &r->s->training;
    int64_t positions = usable_positions(&r->s->model);
    if (!r->words.has_sequence)
        return 0;
    bool learned = positions > 0 && !r->s->model.positions_assumed;
    if (learned && t->sequence_length > positions)
        return cfg_error(cfg_get(r->training, "sequence_length"),
                         "%" PRId64 " tokens are more than the %" PRId64
                         " positions that %s has learned (write %" PRId64 " or less)",
                         t->sequence_length, positions, r->s->model.name, positions);
    if (t->predicted_positions > t->sequence_length)
        return cfg_error(cfg_get(r->training, "predicted_positions"),
                         "%" PRId64 " are more than the %" PRId64
                         " tokens of a sequence (write less, or null for all)",
                         t->predicted_positions, t->sequence_length);
    return 0;
}

/* The head that the task puts on the model. */
static int apply_task(struct reading *r)
{
    struct model *m = &r->s->model;
    struct cfg at = cfg_get(r->training, "task");
    if (r->words.task < 0)
        return 0;
    bool encoder = m->arch == MODEL_ENCODER;
    enum model_head head =
        encoder ? tasks[r->words.task].encoder : tasks[r->words.task].decoder;
    r->s->training.task = names_of(task_names, r->words.task);
    if (m->arch == MODEL_ENCODER_DECODER)
        return cfg_error(at,
                         "%s is an encoder and a decoder, whose task is its own "
                         "(leave task out)",
                         m->name);
    if (head == MODEL_HEAD_NONE)
        return cfg_error(at, "%s %s (write \"%s\")", m->name,
                         encoder ? "is an encoder, and cannot predict the next token"
                                 : "is a decoder, and cannot see what follows a mask",
                         encoder ? "masked-lm" : "causal-lm");
    m->head = head;
    return 0;
}

int training_read(struct reading *r)
{
    struct training_words *w = &r->words;
    *w = (struct training_words) {
        .t = { .micro_batch_size = 1,
               .microbatches = 1,
               .accumulation = 1,
               .precision = OP_FP32,
               .gradient_dtype = -1,
               .optimizer = OPTIMIZER_ADAM,
               .attention = OP_ATTENTION_UNFUSED },
        .task = -1,
    };
    int rc = cfg_read(r->training, training_fields, w);
    r->has_typos = rc != 0;
    r->s->training = w->t;
    if (check_checkpointing(w->checkpointing))
        rc = -1;
    if (w->t.samples && !w->has_epochs)
        r->s->training.epochs = 1;
    if (w->has_epochs && !w->t.samples) {
        rc =
            cfg_error(cfg_get(r->training, "epochs"),
                      "the samples of an epoch are not given (give \"samples\" too, or "
                      "\"steps\" instead)");
    }
    if (r->has_cluster && check_precision(r))
        rc = -1;
    if (r->has_model && (check_sequence(r) || apply_task(r)))
        rc = -1;
    return rc;
}

/* --- the batch --------------------------------------------------------------- */

/* The numbers that have to agree: global is the product of the others. */
struct batch {
    int64_t micro, microbatches, accumulation, data, global;
};

/* a x b x c x d, all at least 1; -1 beyond what a job can have. */
static int64_t product(int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t v;
    if (__builtin_mul_overflow(a, b, &v) || __builtin_mul_overflow(v, c, &v) ||
        __builtin_mul_overflow(v, d, &v) || (double)v > GLOBAL_MAX)
        return -1;
    return v;
}

/* "micro_batch_size 4 x data 16 = 64": those of the factors that are not 1, and data. */
static void product_text(struct strbuf *b, const struct batch *x, int64_t value)
{
    const struct {
        const char *name;
        int64_t n;
    } factors[] = {
        { "micro_batch_size", x->micro },
        { "microbatches", x->microbatches },
        { "gradient_accumulation_steps", x->accumulation },
        { "data", x->data },
    };
    int shown = 0;
    for (int i = 0; i < 4; i++) {
        if (factors[i].n == 1 && i != 3)
            continue;
        strbuf_printf(b, "%s%s %" PRId64, shown > 0 ? " x " : "", factors[i].name,
                      factors[i].n);
        shown++;
    }
    if (shown > 1)
        strbuf_printf(b, " = %" PRId64, value);
}

/* The global batch is no multiple of the known factors. */
static int indivisible(struct cfg at, const struct batch *x, int64_t known)
{
    struct strbuf b;
    strbuf_init(&b);
    product_text(&b, x, known);
    int64_t below = x->global / known * known;
    if (below > 0)
        cfg_error(at,
                  "%" PRId64 " is no multiple of %s (write %" PRId64 " or %" PRId64 ")",
                  x->global, strbuf_get(&b), below, below + known);
    else
        cfg_error(at, "%" PRId64 " is less than %s (write %" PRId64 ")", x->global,
                  strbuf_get(&b), known);
    strbuf_release(&b);
    return -1;
}

static int disagreement(struct cfg at, const struct batch *x, int64_t known)
{
    struct strbuf b;
    strbuf_init(&b);
    product_text(&b, x, known);
    cfg_error(at, "%" PRId64 " is not %s (write %" PRId64 ", or leave one of them out)",
              x->global, strbuf_get(&b), known);
    strbuf_release(&b);
    return -1;
}

/* The factor that global_batch_size leaves open: the micro batch when that is not
 * given, else what repeats it; NULL when everything is given. */
static int64_t *open_factor(const struct training_words *w, bool pipelined,
                            struct batch *x)
{
    if (!w->has_micro)
        return &x->micro;
    if (!w->has_microbatches && (pipelined || w->has_accumulation))
        return pipelined ? &x->microbatches : NULL;
    if (!w->has_accumulation)
        return &x->accumulation;
    return NULL;
}

/* Whether all of the batch's numbers that are written were read. */
static bool batch_was_read(const struct reading *r)
{
    const struct training_words *w = &r->words;
    return w->has_micro == cfg_present(cfg_get(r->training, "micro_batch_size")) &&
           w->has_microbatches == cfg_present(cfg_get(r->training, "microbatches")) &&
           w->has_accumulation ==
               cfg_present(cfg_get(r->training, "gradient_accumulation_steps")) &&
           w->has_global == cfg_present(cfg_get(r->training, "global_batch_size"));
}

/* Fills the missing number in, or says how the four disagree. */
int training_batch(struct reading *r)
{
    struct training *t = &r->s->training;
    const struct training_words *w = &r->words;
    if (!batch_was_read(r))
        return -1; /* reported */
    struct cfg at = cfg_get(r->training, "global_batch_size");
    struct batch x = { t->micro_batch_size, t->microbatches, t->accumulation,
                       r->s->parallel.data, t->global_batch_size };
    if (!w->has_micro && !w->has_global && r->has_typos)
        return -1; /* one of the unknown keys may be it */
    if (!w->has_micro && !w->has_global)
        return cfg_error(
            cfg_get(r->training, "micro_batch_size"),
            "missing (give \"micro_batch_size\" or \"global_batch_size\")");
    int64_t *open =
        w->has_global ? open_factor(w, r->s->parallel.pipeline > 1, &x) : NULL;
    int64_t known = product(x.micro, x.microbatches, x.accumulation, x.data);
    if (known < 0)
        return cfg_error(cfg_get(r->training, "micro_batch_size"),
                         "the global batch is beyond %.0f sequences (write less)",
                         GLOBAL_MAX);
    if (open && x.global % known != 0)
        return indivisible(at, &x, known);
    if (open)
        *open *= x.global / known;
    else if (w->has_global && x.global != known)
        return disagreement(at, &x, known);
    else
        x.global = known;
    t->micro_batch_size = x.micro;
    t->microbatches = x.microbatches;
    t->accumulation = x.accumulation;
    t->global_batch_size = x.global;
    if (t->microbatches > 1)
        return cfg_error(cfg_get(r->training, "microbatches"),
                         "microbatches share one pipeline fill, and pipelines are not "
                         "simulated yet (use \"gradient_accumulation_steps\")");
    return 0;
}
