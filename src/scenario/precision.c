/* Precision of training: what the GPUs compute in, the recipe of products that read fewer
 * than 16 bits, and the formats of optimizer states. */
#include "base/strbuf.h"
#include "model/formats.h"
#include "model/recipe.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"
#include "scenario/states.h"

#include <inttypes.h>

/* Arithmetic ----------------------------------------------------------------------- */

/* "fp32 and fp16": what the GPU computes in. */
static void arithmetic_text(struct strbuf *b, const struct gpu *gpu)
{
    int n = 0, shown = 0;
    for (int t = 0; t < DTYPE_N; t++)
        n += gpu->peak_flops[t] > 0 && dtype_rate_of((enum dtype)t) == (enum dtype)t;
    for (int t = 0; t < DTYPE_N; t++) {
        if (gpu->peak_flops[t] <= 0 || dtype_rate_of((enum dtype)t) != (enum dtype)t)
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

static int check_arithmetic(const struct parse_context *r)
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
        cfg_error(at, DIAG_UNSUPPORTED,
                  "%s has no %s arithmetic, only %s (\"%s\" would do)", gpu->name,
                  names_of(dtype_names, (int)needed), strbuf_get(&has),
                  precision_instead(p, gpu));
        strbuf_release(&has);
        return -1;
    }
    return 0;
}

/* Recipes -------------------------------------------------------------------------- */

static const char *precision_word(const struct parse_context *r)
{
    return names_of(op_precision_names, (int)r->s->training.precision);
}

/* What Transformer Engine has no kernels for. */
static int check_recipe(const struct parse_context *r)
{
    enum op_precision p = r->s->training.precision;
    for (int i = 0; i < r->s->cluster.n_groups; i++) {
        const struct gpu *gpu = r->s->cluster.groups[i].instance->gpu;
        const char *needs = op_recipe_refusal(p, gpu->sm_arch);
        if (needs)
            return cfg_error(cfg_get(r->training, "precision"), DIAG_UNSUPPORTED,
                             "%s needs %s, and %s has %" PRId64 ".%" PRId64
                             " (\"%s\" would do)",
                             precision_word(r), needs, gpu->name, gpu->sm_arch / 10,
                             gpu->sm_arch % 10, precision_instead(p, gpu));
    }
    return 0;
}

struct layers_16bit {
    int64_t first, last;
};

static int read_layers(struct parse_context *r)
{
    static const struct cfg_field fields[] = {
        CFG_INT("first", struct layers_16bit, first, 0, 100000),
        CFG_INT("last", struct layers_16bit, last, 0, 100000),
        CFG_END,
    };
    struct cfg c = r->words.layers_16bit;
    struct layers_16bit n = { 0 };
    if (!cfg_present(c))
        return 0;
    if (cfg_read(c, fields, &n))
        return -1;
    const struct op_recipe *recipe = op_recipe_of(r->s->training.precision);
    if (!recipe && n.first + n.last > 0)
        return cfg_error(c, DIAG_REQUIRES,
                         "in %s no layer's products read fewer than 16 bits (leave it "
                         "out, or write \"precision\": \"fp8_current\")",
                         precision_word(r));
    if (n.first + n.last > 0 && !recipe->mixes)
        return cfg_error(
            c, DIAG_UNSUPPORTED,
            "delayed scaling has all layers in fp8 (leave it out, or write "
            "\"precision\": \"fp8_current\")");
    int64_t layers = r->s->model.layers + r->s->model.decoder_layers;
    if (r->has_model && n.first + n.last > layers)
        return cfg_error(c, DIAG_OUT_OF_RANGE,
                         "%" PRId64 " layers are more than the %" PRId64 " of %s",
                         n.first + n.last, layers, r->s->model.name);
    r->s->training.first_16bit = n.first;
    r->s->training.last_16bit = n.last;
    return 0;
}

/* Modules whose products have a format of their own: bf16, or a recipe that the GPUs
 * have. */
static int check_format(const struct parse_context *r, struct cfg c,
                        enum op_precision p)
{
    if (p == OP_BF16)
        return 0;
    const struct op_recipe *recipe = op_is_autocast(p) ? NULL : op_recipe_of(p);
    if (!recipe || !recipe->mixes)
        return cfg_error(c, DIAG_UNSUPPORTED,
                         "modules have no \"%s\" of their own (write \"bf16\", or a "
                         "recipe such as \"mxfp8\")",
                         names_of(op_precision_names, (int)p));
    for (int i = 0; r->has_cluster && i < r->s->cluster.n_groups; i++) {
        const struct gpu *gpu = r->s->cluster.groups[i].instance->gpu;
        const char *needs = op_recipe_refusal(p, gpu->sm_arch);
        if (needs)
            return cfg_error(c, DIAG_UNSUPPORTED, "%s needs %s, which %s has not",
                             names_of(op_precision_names, (int)p), needs, gpu->name);
    }
    return 0;
}

static int read_formats(struct parse_context *r)
{
    struct cfg c = r->words.formats;
    const struct op_recipe *own = op_recipe_of(r->s->training.precision);
    struct op_formats *to = &r->s->training.formats;
    int words[OP_FORMATS];
    struct cfg_field fields[OP_FORMATS + 1] = { 0 };
    if (!cfg_present(c))
        return 0;
    for (int i = 0; i < OP_FORMATS; i++) {
        words[i] = -1;
        fields[i] = (struct cfg_field) { .key = op_formatted_names[i].name,
                                         .type = CFG_T_ENUM,
                                         .at = (size_t)i * sizeof(words[0]),
                                         .names = op_precision_names };
    }
    fields[OP_FORMATS] = (struct cfg_field)CFG_END;
    if (cfg_read(c, fields, words))
        return -1;
    if (!own || !own->mixes || op_is_autocast(r->s->training.precision))
        return cfg_error(c, DIAG_REQUIRES,
                         "modules have formats of their own where the others' products "
                         "have a recipe (leave it out, or write \"precision\": "
                         "\"mxfp8\")");
    for (int i = 0; i < OP_FORMATS; i++) {
        if (words[i] < 0)
            continue;
        struct cfg at = cfg_get(c, op_formatted_names[i].name);
        if (check_format(r, at, (enum op_precision)words[i]))
            return -1;
        to->of[op_formatted_names[i].value] = (uint8_t)(words[i] + 1);
    }
    return 0;
}

/* Optimizer states ----------------------------------------------------------------- */

/* Words of master weights: remainders are the 16 bits that a bf16 parameter lacks of
 * the fp32 one (store_param_remainders of Transformer Engine's FusedAdam). */
enum { MASTER_FP32, MASTER_FP16, MASTER_REMAINDERS };
static const struct name_value master_words[] = {
    { "fp32", MASTER_FP32 },
    { "fp16", MASTER_FP16 },
    { "remainders", MASTER_REMAINDERS },
    { NULL, 0 },
};
static const struct name_value moment_words[] = {
    { "fp32", DTYPE_FP32 },
    { "fp16", DTYPE_FP16 },
    { "bf16", DTYPE_BF16 },
    { "fp8", DTYPE_FP8 },
    { NULL, 0 },
};

struct states_words {
    int master, first, second;
};

static int read_states(struct parse_context *r)
{
    static const struct cfg_field fields[] = {
        CFG_ENUM("master_weights", struct states_words, master, master_words),
        CFG_ENUM("first_moment", struct states_words, first, moment_words),
        CFG_ENUM("second_moment", struct states_words, second, moment_words),
        CFG_END,
    };
    struct cfg c = r->words.states;
    struct training *t = &r->s->training;
    struct states_words w = { MASTER_FP32, DTYPE_FP32, DTYPE_FP32 };
    if (!cfg_present(c))
        return 0;
    if (cfg_read(c, fields, &w))
        return -1;
    if (t->optimizer != OPTIMIZER_ADAM)
        return cfg_error(c, DIAG_REQUIRES,
                         "Adam's states alone have formats of their own (write "
                         "\"optimizer\": \"adam\", or leave this out)");
    if (t->no_master_weights)
        return cfg_error(c, DIAG_CONTRADICTION,
                         "without master weights states have the parameters' format "
                         "(leave this, or \"master_weights\": false, out)");
    if (dtype_bytes(op_parameter_dtype(t->precision)) != 2 && w.master != MASTER_FP32)
        return cfg_error(cfg_get(c, "master_weights"), DIAG_REQUIRES,
                         "in %s parameters are fp32 themselves (leave it out, or write "
                         "\"precision\": \"bf16\")",
                         precision_word(r));
    t->states = (struct optimizer_dtypes) {
        .master_B = cfg_present(cfg_get(c, "master_weights"))
                        ? (w.master == MASTER_FP32 ? 4 : 2)
                        : 0,
        .first_moment_B = dtype_bytes((enum dtype)w.first),
        .second_moment_B = dtype_bytes((enum dtype)w.second),
    };
    return 0;
}

int precision_read(struct parse_context *r)
{
    int rc = 0;
    if (r->has_cluster && (check_arithmetic(r) || check_recipe(r)))
        rc = -1;
    if (read_layers(r) || read_formats(r) || read_states(r))
        rc = -1;
    return rc;
}

int precision_check(const struct parse_context *r)
{
    const struct training *t = &r->s->training;
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->training, "quantized_parameters");
    if (!t->quantized_parameters)
        return 0;
    if (!op_recipe_of(t->precision))
        return cfg_error(at, DIAG_REQUIRES,
                         "in %s products read parameters as they are (leave it out, or "
                         "write \"precision\": \"fp8\")",
                         precision_word(r));
    if (op_is_autocast(t->precision))
        return cfg_error(at, DIAG_REQUIRES,
                         "%s keeps fp32 parameters (leave it out, or write "
                         "\"precision\": \"fp8\")",
                         precision_word(r));
    if (p->shard.strategy == SHARDING_FULL)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "units of fully sharded parameters are gathered in 16 bits "
                         "(leave it out)");
    return 0;
}
