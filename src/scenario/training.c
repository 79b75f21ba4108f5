/* The "training" section: sizes, precision, optimizer, task. */
#include "base/strbuf.h"
#include "scenario/attention.h"
#include "scenario/parse.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
const struct name_value training_dtypes[] = {
    { "fp32", DTYPE_FP32 }, { "fp16", DTYPE_FP16 }, { "bf16", DTYPE_BF16 }, { NULL, 0 },
};

/* A sequence, a batch or a job beyond these is a slip of the pen. */
#define TOKENS_MAX  (double)(1 << 24)
#define BATCH_MAX   (double)(1 << 24)
#define JOB_MAX     1e15
#define PADDING_MAX 65536
#define MTP_MAX     16

#define W struct raw_training
#define COUNT(k, m, h, most)                                                           \
    { .key = (k), .type = CFG_T_INT, .at = offsetof(W, m), .has = offsetof(W, h),      \
      .min = 1, .max = (most) }
static const struct cfg_field training_fields[] = {
    { .key = "sequence_length", .type = CFG_T_CHILD, .at = offsetof(W, sequence),
      .has = offsetof(W, has_sequence),
      .why = "an integer from 1 to 16777216, or an object with \"mean\", \"max\" and \"padded\"" },
    COUNT("micro_batch_size", t.micro_batch_size, has_micro, BATCH_MAX),
    COUNT("microbatches", t.microbatches, has_microbatches, BATCH_MAX),
    COUNT("gradient_accumulation_steps", t.accumulation, has_accumulation, BATCH_MAX),
    COUNT("global_batch_size", t.global_batch_size, has_global, PARSE_GLOBAL_MAX),
    CFG_ENUM("precision", W, t.precision, op_precision_names),
    CFG_BOOL("quantized_parameters", W, t.quantized_parameters),
    CFG_CHILD("layers_16bit", W, layers_16bit),
    CFG_CHILD("module_precision", W, formats),
    CFG_CHILD("optimizer_states", W, states),
    CFG_BOOL("master_weights", W, master),
    CFG_BOOL("cast_logits", W, cast_logits),
    CFG_BOOL("update_in_backward", W, t.updates_in_backward),
    CFG_BOOL("weight_average", W, t.weight_average),
    CFG_ENUM("gradient_dtype", W, t.gradient_dtype, training_dtypes),
    CFG_ENUM("optimizer", W, t.optimizer, optimizer_names),
    CFG_CHILD("muon", W, muon),
    CFG_CHILD("activation_checkpointing", W, checkpointing),
    CFG_CHILD("cuda_graphs", W, graphs),
    CFG_CHILD("lora", W, lora),
    CFG_CHILD("frozen", W, frozen),
    CFG_REAL("gradient_clipping", W, t.gradient_clipping, 0, 1e9),
    CFG_ENUM("attention", W, t.attention_word, attention_words),
    CFG_ENUM("attention_mask", W, t.mask_word, attention_masks),
    CFG_INT("vocab_padding", W, t.vocab_padding, 1, PADDING_MAX),
    CFG_CHILD("loss_chunks", W, chunks),
    CFG_CHILD("mlp_tiles", W, tiles),
    CFG_INT("predicted_positions", W, t.predicted_positions, 1, TOKENS_MAX),
    CFG_INT("mtp_layers", W, t.mtp_layers, 0, MTP_MAX),
    CFG_BOOL("mtp_repeated", W, t.mtp_repeated),
    CFG_INT("decoder_length", W, t.decoder_length, 1, TOKENS_MAX),
    CFG_ENUM("task", W, task, task_names),
    CFG_ENUM("reference_model", W, reference, parallelism_reference_names),
    CFG_STRING("framework", W, framework),
    CFG_INT("samples", W, t.samples, 1, JOB_MAX),
    COUNT("epochs", t.epochs, has_epochs, JOB_MAX),
    CFG_INT("steps", W, t.steps, 1, JOB_MAX),
    CFG_END,
};
/* clang-format on */

/* Rules of single values ----------------------------------------------------------- */

/* Of a model that reads sounds: frames before the decoder's words. */
static int check_frames(const struct parse_context *r)
{
    const struct training *t = &r->s->training;
    const struct model *m = &r->s->model;
    if (t->sequence_length > m->ends.frames)
        return cfg_error(cfg_get(r->training, "sequence_length"), DIAG_OUT_OF_RANGE,
                         "%" PRId64 " frames are more than the %" PRId64
                         " that %s reads (write %" PRId64 ", or less where sounds are "
                         "shorter)",
                         t->sequence_length, m->ends.frames, m->name, m->ends.frames);
    if (t->decoder_length < 1 || t->decoder_length > m->ends.positions)
        return cfg_error(cfg_get(r->training, "decoder_length"),
                         t->decoder_length ? DIAG_OUT_OF_RANGE : DIAG_MISSING,
                         "%s writes up to %" PRId64 " tokens after the %" PRId64
                         " frames that it reads (write how many, padding included)",
                         m->name, m->ends.positions, t->sequence_length);
    return 0;
}

/* The sequence of a model whose tokens are patches of pictures. */
static int take_pictures(struct parse_context *r)
{
    int64_t tokens = r->has_model ? model_patch_tokens(&r->s->model) : 0;
    if (!cfg_is_object(r->training))
        return -1; /* reported */
    if (!tokens)
        return cfg_error(cfg_get(r->training, "sequence_length"), DIAG_MISSING,
                         "missing (give \"sequence_length\" an integer from 1 to "
                         "%.0f, or an object with \"mean\", \"max\" and \"padded\")",
                         TOKENS_MAX);
    r->s->training.sequence_length = tokens;
    r->words.has_sequence = true;
    parse_assume(r, "/training/sequence_length",
                 arena_printf(&r->loader->arena, "%" PRId64, tokens),
                 "the patches of a picture");
    return 0;
}

static int check_sequence(const struct parse_context *r)
{
    const struct training *t = &r->s->training;
    int64_t positions = r->s->model.ends.positions - r->s->model.ends.positions_unused;
    if (!r->words.has_sequence)
        return 0;
    if (r->s->model.ends.frames)
        return check_frames(r);
    bool learned = positions > 0 && !r->s->model.ends.positions_assumed;
    if (learned && t->sequence_length > positions)
        return cfg_error(cfg_get(r->training, "sequence_length"), DIAG_OUT_OF_RANGE,
                         "%" PRId64 " tokens are more than the %" PRId64
                         " positions that %s has learned (write %" PRId64 " or less)",
                         t->sequence_length, positions, r->s->model.name, positions);
    if (t->predicted_positions > t->sequence_length)
        return cfg_error(cfg_get(r->training, "predicted_positions"), DIAG_OUT_OF_RANGE,
                         "%" PRId64 " are more than the %" PRId64
                         " tokens of a sequence (write less, or null for all)",
                         t->predicted_positions, t->sequence_length);
    return 0;
}

/* What a microbatch's tokens are cut into, and a word for one such number. */
struct parts_kind {
    const char *parts, *word;
    int32_t meant;
};

static int read_parts(struct cfg at, const struct parts_kind *k, int32_t *parts)
{
    const char *word = NULL;
    if (!cfg_present(at))
        return 0;
    if (!cfg_is_string(at)) {
        int64_t n = 0;
        int rc = cfg_int(at, &n, 1, OP_CHUNKS_MAX);
        *parts = n > 1 ? (int32_t)n : 0;
        return rc;
    }
    if (cfg_string(at, &word))
        return -1;
    if (strcmp(word, k->word) != 0)
        return cfg_error(at, DIAG_UNKNOWN_NAME,
                         "\"%.40s\" is no number of %s (write one, or \"%s\")", word,
                         k->parts, k->word);
    *parts = k->meant;
    return 0;
}

/* Losses in chunks, "liger" as many as its kernel takes; MLPs in tiles. */
static int read_chunks(const struct parse_context *r, struct training *t)
{
    static const struct parts_kind chunks = { "chunks", "liger", OP_CHUNKS_LIGER },
                                   tiles = { "tiles", "alst", OP_TILES_ALST };
    return read_parts(r->words.chunks, &chunks, &t->loss_chunks) |
           read_parts(r->words.tiles, &tiles, &t->mlp_tiles);
}

/* What SMP's dictionary sets goes into the training; it may not be set again. */
static int apply_dictionary(struct parse_context *r)
{
    struct training *t = &r->s->training;
    struct raw_training *w = &r->words;
    struct cfg precision = cfg_get(r->training, "precision");
    struct cfg clipping = cfg_get(r->training, "gradient_clipping");
    if (r->smp.has_precision && cfg_present(precision) &&
        t->precision != r->smp.precision)
        return cfg_error(
            precision, DIAG_SMP_RULE,
            "smp rule: the dictionary converts the model to %s (write that, "
            "or leave it out)",
            names_of(op_precision_names, (int)r->smp.precision));
    if (r->smp.has_clipping && cfg_present(clipping))
        return cfg_error(clipping, DIAG_SMP_RULE,
                         "smp rule: sharded data parallelism clips by its own "
                         "sdp_gradient_clipping (leave this out)");
    if (r->smp.microbatches && w->has_microbatches &&
        t->microbatches != r->smp.microbatches)
        return cfg_error(cfg_get(r->training, "microbatches"), DIAG_CONTRADICTION,
                         "%" PRId64 " microbatches, and the dictionary says %" PRId64
                         " (leave this out)",
                         t->microbatches, r->smp.microbatches);
    if (r->smp.has_precision)
        t->precision = r->smp.precision;
    if (r->smp.has_clipping)
        t->gradient_clipping = r->smp.clipping;
    if (r->smp.microbatches) {
        t->microbatches = r->smp.microbatches;
        w->has_microbatches = true;
    }
    return 0;
}

/* What a script under SMP says in its calls. */
static int apply_script(struct parse_context *r)
{
    struct training *t = &r->s->training;
    struct raw_training *w = &r->words;
    if (r->smp.accumulation && w->has_accumulation &&
        t->accumulation != r->smp.accumulation)
        return cfg_error(cfg_get(r->training, "gradient_accumulation_steps"),
                         DIAG_CONTRADICTION,
                         "%" PRId64 " steps, and backward_passes_per_step is %" PRId64
                         " (leave this out)",
                         t->accumulation, r->smp.accumulation);
    if (r->smp.accumulation) {
        t->accumulation = r->smp.accumulation;
        w->has_accumulation = true;
    }
    if (r->smp.checkpointing != CHECKPOINT_NONE) {
        t->checkpointing = r->smp.checkpointing;
        t->checkpoint_group = r->smp.checkpoint_group;
    }
    t->fused_softmax = r->smp.fused_softmax;
    return 0;
}

/* What the section leaves open. */
static void assume_defaults(struct parse_context *r)
{
    const struct training *t = &r->s->training;
    if (!r->smp.has_precision && !cfg_present(cfg_get(r->training, "precision")))
        parse_assume(r, "/training/precision",
                     names_of(op_precision_names, (int)t->precision), "");
    if (!cfg_present(cfg_get(r->training, "optimizer")))
        parse_assume(r, "/training/optimizer",
                     names_of(optimizer_names, (int)t->optimizer), "");
    if (r->smp.checkpointing == CHECKPOINT_NONE &&
        !cfg_present(cfg_get(r->training, "activation_checkpointing")))
        parse_assume(r, "/training/activation_checkpointing", "none", "");
}

/* The kernel of attention, which all GPUs have to have: the least of what each would
 * run. */
int training_attention(struct parse_context *r)
{
    struct training *t = &r->s->training;
    const struct cluster *c = &r->s->cluster;
    struct arena *arena = &r->loader->arena;
    struct attention least = { OP_ATTENTION_N, "" };
    const char *no_mask = attention_mask_refusal(r->s);
    t->framework_named = r->words.framework != NULL;
    if (no_mask)
        return cfg_error(cfg_get(r->training, "attention_mask"), DIAG_UNSUPPORTED, "%s",
                         no_mask);
    for (int i = 0; i < c->n_groups; i++) {
        const struct gpu *gpu = c->groups[i].instance->gpu;
        const char *refusal = attention_refusal(r->s, gpu, arena);
        if (refusal)
            return cfg_error(cfg_get(r->training, "attention"), DIAG_UNSUPPORTED, "%s",
                             refusal);
        struct attention a = attention_on(r->s, gpu, arena);
        if (i == 0 || a.kernel < least.kernel)
            least = a;
    }
    t->attention = least.kernel;
    t->masked = least.kernel == OP_ATTENTION_EFFICIENT && attention_has_mask(r->s);
    if (t->attention_word == ATTENTION_OPEN || t->attention_word == ATTENTION_SDPA)
        parse_assume(r, "/training/attention",
                     names_of(op_attention_names, (int)t->attention), least.why);
    return 0;
}

int training_read(struct parse_context *r)
{
    struct raw_training *w = &r->words;
    *w = (struct raw_training) {
        .t = { .micro_batch_size = 1,
               .microbatches = 1,
               .accumulation = 1,
               .precision = OP_FP32,
               .gradient_dtype = -1,
               .optimizer = OPTIMIZER_ADAM,
               .attention_word = ATTENTION_OPEN,
               .mask_word = ATTENTION_MASK_OPEN },
        .task = -1,
        .reference = -1,
        .master = true,
        .cast_logits = true,
    };
    int rc = cfg_read(r->training, training_fields, w);
    r->has_typos = rc != 0;
    r->s->training = w->t;
    r->s->training.no_master_weights = !w->master;
    r->s->training.raw_loss = !w->cast_logits;
    if (w->has_sequence ? lengths_read(r, w->sequence) : take_pictures(r)) {
        w->has_sequence = false;
        rc = -1;
    }
    if (apply_dictionary(r))
        rc = -1;
    if (checkpointing_read(&r->s->training, w->checkpointing) ||
        graphs_read(&r->s->training, w->graphs) || apply_script(r))
        rc = -1;
    if (read_chunks(r, &r->s->training) | lora_read(r) | lora_read_frozen(r) |
        muon_read(&r->s->training, w->muon))
        rc = -1;
    if (w->t.samples && !w->has_epochs)
        r->s->training.epochs = 1;
    if (w->has_epochs && !w->t.samples) {
        rc =
            cfg_error(cfg_get(r->training, "epochs"), DIAG_MISSING,
                      "the samples of an epoch are not given (give \"samples\" too, or "
                      "\"steps\" instead)");
    }
    if (precision_read(r))
        rc = -1;
    if ((r->has_model && (check_sequence(r) || task_apply(r))) ||
        task_read_preference(r))
        rc = -1;
    if (r->has_model)
        mtp_read(r);
    assume_defaults(r);
    return rc;
}
