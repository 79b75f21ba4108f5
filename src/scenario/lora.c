/* The section /training/lora: adapters, what they adapt, and how the frozen model is
 * stored; and what they do not go with. */
#include "model/freeze.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"
#include "scenario/states.h"

#include <inttypes.h>
#include <string.h>

/* A rank beyond any published one is a slip of the pen. */
#define RANK_MAX 65536

struct raw_lora {
    struct lora l;
    int base;
    int dtype; /* of the adapters; -1: not written */
    bool has_quantization;
    double alpha; /* a factor of the sum: no effect on a step */
    struct cfg targets, trained;
};

static const struct cfg_field fields[] = {
    CFG_ROW("rank", CFG_T_INT, struct raw_lora, l.rank, .required = true, .min = 1,
            .max = RANK_MAX),
    CFG_REAL("alpha", struct raw_lora, alpha, 0, 1e9),
    CFG_REAL("dropout", struct raw_lora, l.dropout, 0, 0.999),
    CFG_CHILD("target_modules", struct raw_lora, targets),
    CFG_ENUM("base", struct raw_lora, base, lora_base_names),
    CFG_ENUM("dtype", struct raw_lora, dtype, training_dtypes),
    CFG_ROW("double_quantization", CFG_T_BOOL, struct raw_lora, l.double_quantization,
            .has = offsetof(struct raw_lora, has_quantization)),
    CFG_CHILD("trained", struct raw_lora, trained),
    CFG_END,
};

/* One name, or a list of them, each with its bits. */
static int read_names(struct cfg c, uint32_t (*of)(const char *), const char *mend,
                      uint32_t *set)
{
    int64_t n = cfg_is_array(c) ? cfg_len(c) : 1;
    for (int64_t i = 0; i < n; i++) {
        struct cfg at = cfg_is_array(c) ? cfg_at(c, i) : c;
        const char *word;
        if (cfg_string(at, &word))
            return -1;
        if (!of(word))
            return cfg_error(at, DIAG_UNKNOWN_NAME, "no product is known as \"%s\" %s",
                             word, mend);
        *set |= of(word);
    }
    return 0;
}

/* Names of a set, as an assumption shows them. */
static const char *names_of_targets(struct parse_context *r, uint32_t set)
{
    struct strbuf b;
    const char *word;
    strbuf_init(&b);
    for (int32_t i = 0; (word = lora_target_word(set, i)); i++)
        strbuf_printf(&b, "%s%s", i ? ", " : "", word);
    const char *text = arena_strdup(&r->loader->arena, strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

/* PEFT's of the family; of one that it has none for, the products that it has for most. */
static int assume_targets(struct parse_context *r, struct raw_lora *w)
{
    const struct model *m = &r->s->model;
    uint32_t set = m->family ? lora_default_targets(m->family) : 0;
    w->l.targets = set                      ? set
                   : m->attention.fused_qkv ? LORA_QKV
                                            : LORA_QUERY | LORA_VALUE;
    parse_assume(r, "/training/lora/target_modules", names_of_targets(r, w->l.targets),
                 m->diffusion.stack ? "as diffusers' scripts"
                 : set              ? "PEFT's"
                                    : "as PEFT's of most families");
    return 0;
}

/* Latent queries are two products, q_a_proj and q_b_proj: "q_proj" is the name of neither,
 * and PEFT leaves both as they are. */
static void drop_query(struct parse_context *r, struct raw_lora *w)
{
    const struct model *m = &r->s->model;
    bool list = cfg_is_array(w->targets), other = false;
    struct cfg plain = { 0 };
    for (int64_t i = 0; i < (list ? cfg_len(w->targets) : 1); i++) {
        struct cfg at = list ? cfg_at(w->targets, i) : w->targets;
        const char *word, *dot;
        if (cfg_string(at, &word) || !(lora_target_of(word) & LORA_QUERY))
            continue;
        dot = strrchr(word, '.');
        if (strcmp(dot ? dot + 1 : word, "q_proj") == 0)
            plain = at;
        else
            other = true;
    }
    if (!m->attention.latent_q || !cfg_present(plain) || other)
        return;
    w->l.targets &= ~(uint32_t)LORA_QUERY;
    parse_note(r, plain, "queries of this model come of q_a_proj and q_b_proj");
}

/* The set as the model's own family has the names, all of which are known. */
static void read_own_names(const struct parse_context *r, struct raw_lora *w)
{
    bool list = cfg_is_array(w->targets);
    w->l.targets = 0;
    for (int64_t i = 0; i < (list ? cfg_len(w->targets) : 1); i++) {
        const char *word;
        if (cfg_string(list ? cfg_at(w->targets, i) : w->targets, &word) == 0)
            w->l.targets |= lora_target_in(r->s->model.family, word);
    }
}

static int read_targets(struct parse_context *r, struct raw_lora *w)
{
    if (!cfg_present(w->targets))
        return assume_targets(r, w);
    if (read_names(w->targets, lora_target_of,
                   "(write names such as \"q_proj\", \"c_attn\" or "
                   "\"linear_qkv\", or \"all-linear\")",
                   &w->l.targets))
        return -1;
    read_own_names(r, w);
    drop_query(r, w);
    return 0;
}

static void assume_base(struct parse_context *r, const struct raw_lora *w)
{
    enum op_precision p = r->s->training.precision;
    if (w->base < 0)
        parse_assume(r, "/training/lora/base",
                     names_of(dtype_names, (int)op_parameter_dtype(p)),
                     "as the precision keeps parameters");
    if (w->base == LORA_BASE_NF4 && !w->has_quantization)
        parse_assume(r, "/training/lora/double_quantization", "false", "bitsandbytes'");
}

/* Adapters have the parameters' type, or fp32 next to products of 16 bits. */
static int read_dtype(struct parse_context *r, struct cfg c, struct raw_lora *w)
{
    enum op_precision p = r->s->training.precision;
    int own = w->l.autocast ? DTYPE_FP32 : (int)op_parameter_dtype(p);
    if (w->dtype < 0 || w->dtype == own)
        return 0;
    w->l.wide = w->dtype == DTYPE_FP32 && op_compute_dtype(p) == op_parameter_dtype(p);
    return w->l.wide ? 0
                     : cfg_error(cfg_get(c, "dtype"), DIAG_NOT_SIMULATED,
                                 "adapters are in %s with that precision%s",
                                 names_of(dtype_names, own),
                                 own == DTYPE_FP32 ? "" : ", or in fp32 without fp8");
}

/* A tower before a language model has no adapters: it is frozen, or trained whole. */
static int check_tower(struct parse_context *r, struct cfg trained)
{
    const struct model *m = &r->s->model;
    bool alone = m->tower && m->ends.head != MODEL_HEAD_CONTRAST;
    uint32_t parts =
        r->s->training.lora.trained & (LORA_TRAINS_VISION | LORA_TRAINS_PROJECTOR);
    if (parts && !alone)
        return cfg_error(trained, DIAG_UNSUPPORTED,
                         "%s has no vision tower before a language model (leave "
                         "\"vision_tower\" and \"projector\" out)",
                         m->name);
    if (alone && !(parts & LORA_TRAINS_VISION))
        parse_say(r, r->words.lora, DIAG_ASSUMED,
                  "the vision tower is taken to be frozen whole: adapters in it are "
                  "not simulated");
    return 0;
}

int lora_read(struct parse_context *r)
{
    struct raw_lora w = { .base = -1, .dtype = -1 };
    struct cfg c = r->words.lora;
    if (!cfg_present(c))
        return 0;
    if (!cfg_is_object(c))
        return cfg_error(c, DIAG_WRONG_TYPE, "should be an object with \"rank\"");
    if (cfg_read(c, fields, &w))
        return -1;
    if (r->has_model && read_targets(r, &w))
        return -1;
    if (cfg_present(w.trained) &&
        read_names(w.trained, lora_trained_of,
                   "(write \"embeddings\", \"head\", \"norms\", \"vision_tower\" "
                   "or \"projector\")",
                   &w.l.trained))
        return -1;
    assume_base(r, &w);
    w.l.base = w.base < 0 ? LORA_BASE_OPEN : (enum lora_base)w.base;
    w.l.autocast = op_is_autocast(r->s->training.precision);
    if (read_dtype(r, c, &w))
        return -1;
    if (w.has_quantization && w.l.double_quantization && w.l.base != LORA_BASE_NF4)
        return cfg_error(cfg_get(c, "double_quantization"), DIAG_REQUIRES,
                         "scales are quantized of base \"nf4\" alone (write false)");
    if (cfg_present(cfg_get(c, "alpha")))
        parse_note(r, cfg_get(c, "alpha"), "it scales the adapters' results");
    r->s->training.lora = w.l;
    return r->has_model ? check_tower(r, w.trained) : 0;
}

/* What reads no picture has no gradients, and so no states of the optimizer. */
static uint32_t idle_parts(const struct parse_context *r)
{
    const struct model_tower *t = r->has_model ? r->s->model.tower : NULL;
    return t && t->crops == 0 ? LORA_FREEZES_VISION | LORA_FREEZES_PROJECTOR : 0;
}

/* A part, or layers by their numbers. */
static int read_part(struct parse_context *r, struct cfg at, uint32_t *set,
                     struct lora_layers *layers)
{
    const struct model *m = &r->s->model;
    struct layer_run *run = &layers->of[layers->n];
    int64_t most = r->has_model ? m->layers + m->decoder_layers : INT64_MAX;
    const char *word;
    if (cfg_string(at, &word))
        return -1;
    if (lora_frozen_of(word)) {
        *set |= lora_frozen_of(word);
        return 0;
    }
    if (freeze_read_layers(word, most, run) < 0)
        return cfg_error(
            at, DIAG_UNKNOWN_NAME,
            "no part of a model is known as \"%s\" (write \"layers 0-11\", "
            "\"embeddings\", \"head\", \"attention\", \"mlp\", \"norms\", "
            "\"router\", \"state\", \"encoder\", \"feature_encoder\", "
            "\"vision_tower\", \"projector\" or \"language_model\")",
            word);
    if (run->end > most)
        return cfg_error(at, DIAG_OUT_OF_RANGE,
                         "%s has %" PRId64 " layers, of which the last is %" PRId64,
                         m->name, most, most - 1);
    layers->n += run->end > run->from;
    return 0;
}

/* Words that the model has no such part for. */
static int check_parts(struct parse_context *r, struct cfg c, uint32_t *named)
{
    uint32_t set = *named;
    const struct model *m = &r->s->model;
    bool own_words = m->ends.frames || m->ends.words_apart;
    bool tied = model_ties_head(m);
    if (set & LORA_FREEZES_ALL && !m->tower) {
        parse_note(r, c,
                   "the model reads no pictures: it has no tower and no projector");
        *named &= ~(uint32_t)LORA_FREEZES_ALL;
    }
    if (set & LORA_FREEZES_FEATURES && !m->sound)
        return cfg_error(c, DIAG_UNSUPPORTED,
                         "%s reads no samples of sounds: it has no \"feature_encoder\"",
                         m->name);
    if (set & LORA_FREEZES_ENCODER && (m->arch != MODEL_ENCODER_DECODER || !own_words))
        return cfg_error(
            c, DIAG_UNSUPPORTED,
            "%s has no encoder with words of its own (write \"embeddings\" "
            "and the numbers of its layers)",
            m->name);
    if (tied && set & LORA_FREEZES_HEAD && !(set & LORA_FREEZES_EMBEDDINGS))
        return cfg_error(c, DIAG_CONTRADICTION,
                         "the head's matrix is the embeddings' (write \"embeddings\" "
                         "too)");
    return 0;
}

/* Parts that are not trained, without adapters. */
int lora_read_frozen(struct parse_context *r)
{
    struct cfg c = r->words.frozen;
    int64_t n = cfg_is_array(c) ? cfg_len(c) : cfg_present(c);
    uint32_t set = 0;
    struct lora_layers *layers = ARENA_NEW(&r->loader->arena, struct lora_layers);
    layers->of = ARENA_ARRAY(&r->loader->arena, n + 1, struct layer_run);
    for (int64_t i = 0; i < n; i++)
        if (read_part(r, cfg_is_array(c) ? cfg_at(c, i) : c, &set, layers))
            return -1;
    if (r->has_model && check_parts(r, c, &set))
        return -1;
    set |= idle_parts(r);
    if ((set & LORA_FREEZES_ALL) == LORA_FREEZES_ALL)
        return cfg_error(c, DIAG_REQUIRES, "nothing is trained (leave one part out)");
    if (r->s->training.lora.rank && (layers->n || set & LORA_FREEZES_BLOCKS))
        return cfg_error(c, DIAG_CONTRADICTION,
                         "adapters freeze all of the model (leave \"lora\" out, or "
                         "\"frozen\")");
    if (!r->s->training.lora.rank)
        r->s->training.lora.frozen = set;
    if (layers->n)
        r->s->training.lora.layers = layers;
    return 0;
}

/* Schedules that fill bubbles with weight gradients, of which some layers have none. */
static int check_stages_frozen(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    if (p->pipeline > 1 && parallelism_schedule(p->stages.schedule)->splits)
        return cfg_error(cfg_get(r->parallelism, "schedule"), DIAG_NOT_SIMULATED,
                         "\"%s\" fills its bubbles with weight gradients, which "
                         "frozen weights lack (write \"1f1b\")",
                         names_of(parallelism_schedule_names, (int)p->stages.schedule));
    return 0;
}

/* Blocks that are not trained: what is not simulated with them. */
static int check_frozen(struct parse_context *r)
{
    struct lora *l = &r->s->training.lora;
    if (!freeze_holds_blocks(l))
        return 0;
    if (check_stages_frozen(r) < 0)
        return -1;
    l->handed_on = r->s->parallel.pipeline > 1;
    if (l->handed_on)
        parse_say(r, r->words.frozen, DIAG_ASSUMED,
                  "stages of the pipeline hand gradients on through layers that are "
                  "not trained, down to the first");
    if (r->has_model && lora_parameters(&r->s->model, l) == 0)
        return cfg_error(r->words.frozen, DIAG_REQUIRES,
                         "nothing is trained (leave one part out)");
    return 0;
}

/* A model that is loaded in 16 bits has a residual stream of 16 bits, whatever
 * autocast does; quantized, its norms and embeddings stay in the parameters' type
 * (MODEL.md, 2.5). */
enum op_precision lora_list_precision(const struct training *t)
{
    bool narrow = t->lora.rank > 0 &&
                  (t->lora.base == LORA_BASE_FP16 || t->lora.base == LORA_BASE_BF16);
    if (!narrow || !op_is_autocast(t->precision))
        return t->precision;
    return t->lora.base == LORA_BASE_FP16 ? OP_FP16 : OP_BF16;
}

static int check_base(const struct parse_context *r)
{
    const struct training *t = &r->s->training;
    struct cfg at = cfg_get(r->words.lora, "base");
    bool half = dtype_bytes(op_parameter_dtype(t->precision)) == 2;
    enum dtype compute = op_compute_dtype(t->precision);
    enum dtype needs = t->lora.base == LORA_BASE_FP16   ? DTYPE_FP16
                       : t->lora.base == LORA_BASE_BF16 ? DTYPE_BF16
                                                        : compute;
    bool fp8 = dtype_is_quantized(compute) && needs == op_parameter_dtype(t->precision);
    if (needs != compute && !fp8)
        return cfg_error(
            at, DIAG_CONTRADICTION,
            "the base model is in %s and the step computes in %s (write "
            "\"precision\": \"amp_%s\" or \"%s\")",
            names_of(dtype_names, (int)needs), names_of(dtype_names, (int)compute),
            names_of(dtype_names, (int)needs), names_of(dtype_names, (int)needs));
    if (t->lora.base == LORA_BASE_FP32 && half)
        return cfg_error(at, DIAG_CONTRADICTION,
                         "in %s the model is cast to 16 bits (write \"precision\": "
                         "\"amp_%s\", or leave base out)",
                         names_of(op_precision_names, (int)t->precision),
                         names_of(op_precision_names, (int)t->precision));
    return 0;
}

static int check_quantized(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct lora *l = &r->s->training.lora;
    struct cfg at = cfg_get(r->words.lora, "base");
    if (!lora_is_quantized(l))
        return 0;
    if (p->tensor > 1)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "bitsandbytes' weights are not split over a tensor group "
                         "(write \"bf16\", or \"tensor\": 1)");
    if (l->base == LORA_BASE_INT8 && p->shard.strategy == SHARDING_FULL)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "8-bit weights are not sharded (write \"nf4\", or another "
                         "/parallelism/sharding strategy)");
    if (library_of(p)->smp.whole_modules)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "SMP v1 has no quantized weights (write \"fp32\" or leave it "
                         "out)");
    return 0;
}

/* Whether any product of the model is adapted. */
static bool adapts(const struct model *m, const struct lora *l)
{
    struct lora some = *l, none = *l;
    some.trained = none.trained = none.targets = 0;
    return lora_parameters(m, &some) > lora_parameters(m, &none);
}

/* PEFT's ModulesToSaveWrapper trains a copy of a module, next to which what it was tied
 * to stays as it is (peft/utils/other.py 0.17). */
static void untie_copies(struct parse_context *r)
{
    const struct lora *l = &r->s->training.lora;
    uint32_t ends = l->trained & (LORA_TRAINS_EMBEDDINGS | LORA_TRAINS_HEAD);
    if (!r->has_model || !ends || l->fused || !model_ties_head(&r->s->model))
        return;
    r->s->model.ends.tied = false;
    parse_say(r, cfg_get(r->words.lora, "trained"), DIAG_ASSUMED,
              "the model ties its head to the embeddings, and PEFT trains a copy of "
              "each module by itself: they are two");
}

/* Whether the name is of experts' weights in one tensor; modules of experts have a number
 * or none ("experts.0.down_proj", "down_proj"). */
static bool is_parameter(const struct parse_context *r, const char *name)
{
    bool bare = r->s->model.mlp.bare_experts;
    return bare ? strstr(name, "experts") != NULL
                : strstr(name, "experts.gate_up_proj") ||
                      strstr(name, "experts.down_proj");
}

/* Names that no product of the model has: PEFT passes over them, as long as one has. */
static void name_lacking(struct parse_context *r)
{
    struct cfg list = cfg_get(r->words.lora, "target_modules");
    struct lora one = r->s->training.lora;
    const char *name;
    one.trained = 0;
    for (int64_t i = 0; cfg_len(list) > 1 && i < cfg_len(list); i++) {
        if (cfg_string(cfg_at(list, i), &name))
            continue;
        one.targets = lora_target_in(r->s->model.family, name);
        if (one.targets && !adapts(&r->s->model, &one))
            parse_note(r, cfg_at(list, i),
                       arena_printf(&r->loader->arena,
                                    "the model has no \"%.40s\", and PEFT adapts "
                                    "nothing by it",
                                    name));
    }
}

/* PEFT's target_parameters ("mlp.experts.gate_up_proj"): weights of experts that are no
 * modules. */
static int check_parameters(const struct parse_context *r)
{
    struct cfg list = cfg_get(r->words.lora, "target_modules");
    const char *name;
    for (int64_t i = 0; i < cfg_len(list); i++)
        if (cfg_string(cfg_at(list, i), &name) == 0 && is_parameter(r, name))
            return cfg_error(cfg_at(list, i), DIAG_NOT_SIMULATED,
                             "adapters next to experts' weights that are no modules "
                             "are not simulated (leave \"%.60s\" out)",
                             name);
    return 0;
}

int lora_check(struct parse_context *r)
{
    const struct training *t = &r->s->training;
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = r->words.lora;
    if (t->lora.rank == 0)
        return check_frozen(r);
    r->s->training.lora.fused =
        t->framework->kernels.fused_qkv && library_of(p)->own_models;
    untie_copies(r);
    if (t->precision == OP_AMP_FP8)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "adapters in fp32 next to fp8 products are not simulated "
                         "(write \"precision\": \"fp8\" or \"amp_bf16\")");
    if (library_of(p)->smp.whole_modules && p->tensor > 1)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "SMP v1's tensor-parallel modules take no adapters (write "
                         "tensor_parallel_degree 1, or leave lora out)");
    if (check_stages_frozen(r) < 0 || (r->has_model && check_parameters(r) < 0))
        return -1;
    if (r->has_model && !adapts(&r->s->model, &t->lora))
        return cfg_error(cfg_get(at, "target_modules"), DIAG_UNSUPPORTED,
                         "%s has none of these products (write \"all-linear\")",
                         r->s->model.name);
    if (r->has_model)
        name_lacking(r);
    return check_base(r) ? -1 : check_quantized(r);
}
