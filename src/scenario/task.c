/* What is trained: the head that a task puts on the model, the sequences of its samples,
 * and the forwards without gradients that its loss needs (MODEL.md, 2.20). */
#include "scenario/parse.h"

/* clang-format off */
enum { TASK_PRETRAINING, TASK_MASKED_LM, TASK_SPAN, TASK_TOKENS, TASK_CLASS, TASK_CAUSAL_LM, TASK_SEQ2SEQ, TASK_CTC,
       TASK_DPO, TASK_KTO, TASK_ORPO, TASK_SIMPO, TASK_CPO, TASK_REWARD };
const struct name_value task_names[] = {
    { "pretraining", TASK_PRETRAINING }, { "masked-lm", TASK_MASKED_LM },
    { "question-answering", TASK_SPAN }, { "token-classification", TASK_TOKENS },
    { "classification", TASK_CLASS },
    { "causal-lm", TASK_CAUSAL_LM }, { "seq2seq", TASK_SEQ2SEQ }, { "ctc", TASK_CTC },
    { "dpo", TASK_DPO }, { "kto", TASK_KTO }, { "orpo", TASK_ORPO }, { "simpo", TASK_SIMPO },
    { "cpo", TASK_CPO }, { "reward", TASK_REWARD }, { NULL, 0 },
};

/* Pairs of an answer that is chosen and one that is rejected; forwards of the policy and
 * of its reference: TRL 1.10 (trl/trainer/{dpo,kto,reward}_trainer.py, trl/experimental/
 * {orpo,cpo}), LLaMA-Factory 0.9.4 (src/llamafactory/train/{dpo,kto}/trainer.py). KTO's
 * estimate of the divergence is a forward of both over mismatched answers. */
static const struct preference pairs = { .sequences = 2 },
                               compared_pairs = { .sequences = 2, .reference_forwards = 1 },
                               kto = { .sequences = 1, .policy_forwards = 1, .reference_forwards = 2 };

/* On which stacks a task can run, and what its samples are; no row: one sequence. */
static const struct {
    enum model_head encoder, decoder; /* MODEL_HEAD_NONE: it cannot */
    const struct preference *preference;
} tasks[] = {
    [TASK_PRETRAINING] = { MODEL_HEAD_PRETRAIN, MODEL_HEAD_CAUSAL_LM, NULL },
    [TASK_MASKED_LM]   = { MODEL_HEAD_MASKED_LM, MODEL_HEAD_NONE, NULL },
    [TASK_SPAN]        = { MODEL_HEAD_SPAN, MODEL_HEAD_SPAN, NULL },
    [TASK_TOKENS]      = { MODEL_HEAD_SPAN, MODEL_HEAD_SPAN, NULL }, /* a few logits, too */
    [TASK_CLASS]       = { MODEL_HEAD_CLASS, MODEL_HEAD_SCORE, NULL },
    [TASK_CAUSAL_LM]   = { MODEL_HEAD_NONE, MODEL_HEAD_CAUSAL_LM, NULL },
    [TASK_SEQ2SEQ]     = { MODEL_HEAD_NONE, MODEL_HEAD_NONE, NULL },
    [TASK_CTC]         = { MODEL_HEAD_CAUSAL_LM, MODEL_HEAD_NONE, NULL },
    [TASK_DPO]         = { MODEL_HEAD_NONE, MODEL_HEAD_CAUSAL_LM, &compared_pairs },
    [TASK_KTO]         = { MODEL_HEAD_NONE, MODEL_HEAD_CAUSAL_LM, &kto },
    [TASK_ORPO]        = { MODEL_HEAD_NONE, MODEL_HEAD_CAUSAL_LM, &pairs },
    [TASK_SIMPO]       = { MODEL_HEAD_NONE, MODEL_HEAD_CAUSAL_LM, &pairs },
    [TASK_CPO]         = { MODEL_HEAD_NONE, MODEL_HEAD_CAUSAL_LM, &pairs },
    [TASK_REWARD]      = { MODEL_HEAD_CLASS, MODEL_HEAD_SCORE, &pairs },
};
/* clang-format on */

bool scenario_task_compares(const char *task)
{
    int at;
    if (!task || names_find(task_names, task, &at) < 0)
        return false;
    const struct preference *of = tasks[at].preference;
    return of && of->reference_forwards > 0;
}

int task_apply(struct parse_context *r)
{
    struct model *m = &r->s->model;
    struct cfg at = cfg_get(r->training, "task");
    if (r->words.task < 0)
        return 0;
    if (m->ends.head == MODEL_HEAD_DENOISE)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s is a diffusion transformer, whose task is its own (leave "
                         "the task out)",
                         m->name);
    if (m->ends.head == MODEL_HEAD_CONTRAST)
        return cfg_error(
            at, DIAG_UNSUPPORTED,
            "%s is two towers, which are trained against each other (leave "
            "the task out)",
            m->name);
    bool encoder = m->arch == MODEL_ENCODER;
    enum model_head head =
        encoder ? tasks[r->words.task].encoder : tasks[r->words.task].decoder;
    r->s->training.task = names_of(task_names, r->words.task);
    bool own = r->words.task == TASK_SEQ2SEQ || r->words.task == TASK_PRETRAINING;
    if (m->arch == MODEL_ENCODER_DECODER)
        return own ? 0
                   : cfg_error(at, DIAG_UNSUPPORTED,
                               "%s is an encoder and a decoder, whose task is its own "
                               "(write \"seq2seq\")",
                               m->name);
    bool hears = r->words.task == TASK_CTC || r->words.task == TASK_CLASS;
    if (m->sound ? !hears : r->words.task == TASK_CTC)
        return cfg_error(at, DIAG_UNSUPPORTED, "%s reads %s (write \"%s\")", m->name,
                         m->sound ? "sounds" : "no samples of sounds",
                         m->sound  ? "ctc"
                         : encoder ? "masked-lm"
                                   : "causal-lm");
    if (r->words.task == TASK_SEQ2SEQ)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s is no encoder with a decoder (write \"%s\")", m->name,
                         encoder ? "masked-lm" : "causal-lm");
    if (head == MODEL_HEAD_NONE)
        return cfg_error(at, DIAG_UNSUPPORTED, "%s %s (write \"%s\")", m->name,
                         encoder ? "is an encoder, and cannot predict the next token"
                                 : "is a decoder, and cannot see what follows a mask",
                         encoder ? "masked-lm" : "causal-lm");
    m->ends.head = head;
    return 0;
}

/* The reference is the policy without its adapters, where it has some. */
static enum reference_model usual_reference(struct parse_context *r)
{
    bool adapters = r->s->training.lora.rank > 0;
    parse_assume(r, "/training/reference_model", adapters ? "shared" : "separate",
                 adapters ? "the model without its adapters" : "a second model");
    return adapters ? REFERENCE_SHARED : REFERENCE_SEPARATE;
}

int task_read_preference(struct parse_context *r)
{
    struct preference *p = &r->s->training.preference;
    struct cfg at = cfg_get(r->training, "reference_model");
    const struct preference *of =
        r->words.task < 0 ? NULL : tasks[r->words.task].preference;
    if (of)
        *p = *of;
    if (p->reference_forwards == 0)
        return r->words.reference < 0
                   ? 0
                   : cfg_error(
                         at, DIAG_CONTRADICTION,
                         "the task compares with no reference model (leave it out, "
                         "or write the task \"dpo\" or \"kto\")");
    p->reference = r->words.reference < 0 ? usual_reference(r)
                                          : (enum reference_model)r->words.reference;
    if (p->reference == REFERENCE_SHARED && r->s->training.lora.rank == 0)
        return cfg_error(
            at, DIAG_CONTRADICTION,
            "all weights are trained, and the reference keeps its own (write "
            "\"separate\" or \"precomputed\")");
    if (p->reference == REFERENCE_PRECOMPUTED) {
        p->reference_forwards = 0;
        parse_say(
            r, at, DIAG_LEFT_OUT,
            "the pass over the data set that computes them comes before the steps, "
            "and is not counted");
    }
    return 0;
}

int task_check(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    if (p->pipeline == 1 || training_ungraded_forwards(&r->s->training) == 0)
        return 0;
    return cfg_error(
        cfg_get(r->parallelism, "pipeline"), DIAG_NOT_SIMULATED,
        "the forwards of the reference model are not modelled in a pipeline "
        "(write 1, or the reference_model \"precomputed\")");
}
