#include "model/build/emit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const category_names[] = {
    [MODULE_QKV] = "qkv",
    [MODULE_QUERY] = "query",
    [MODULE_KEY] = "key",
    [MODULE_VALUE] = "value",
    [MODULE_QUERY_DOWN] = "query_down",
    [MODULE_KV_DOWN] = "kv_down",
    [MODULE_KV_UP] = "kv_up",
    [MODULE_LATENT_NORM] = "latent_norm",
    [MODULE_PLACE_KEY] = "place_key",
    [MODULE_PLACE_QUERY] = "place_query",
    [MODULE_MERGE] = "merge",
    [MODULE_MERGED] = "merged",
    [MODULE_OUT] = "out",
    [MODULE_MTP] = "mtp_projection",
    [MODULE_GATE] = "gate",
    [MODULE_UP] = "up",
    [MODULE_DOWN] = "down",
    [MODULE_ROUTER] = "router",
    [MODULE_DENSE] = "dense",
    [MODULE_LOGITS] = "logits",
    [MODULE_POOLER] = "pooler",
    [MODULE_CLASSES] = "classes",
    [MODULE_PATCH] = "patch",
    [MODULE_RELATIVE] = "relative_embedding",
    [MODULE_RELATIVE_NORM] = "relative_norm",
    [MODULE_CONV] = "conv#",
    [MODULE_PLACE_CONV] = "position_conv",
    [MODULE_NORM] = "norm#",
    [MODULE_WORD] = "word",
    [MODULE_PLACE] = "position",
    [MODULE_TYPE] = "token_type",
    [MODULE_BIAS] = "relative_bias",
    [MODULE_SHARED_GATE] = "shared_gate",
    [MODULE_SHARED_UP] = "shared_up",
    [MODULE_SHARED_DOWN] = "shared_down",
    [MODULE_SHARED_SCALE] = "shared_scale",
    [MODULE_QUERY_NORM] = "query_norm",
    [MODULE_KEY_NORM] = "key_norm",
    [MODULE_SINKS] = "sinks",
    [MODULE_EXPERTS_IN] = "experts_in",
    [MODULE_EXPERTS_OUT] = "experts_out",
    [MODULE_LAYER_GATE] = "layer_gate",
    [MODULE_LAYER_OUT] = "layer_out",
    [MODULE_LAYER_PROJECT] = "layer_project",
    [MODULE_LAUREL_LEFT] = "laurel_left",
    [MODULE_LAUREL_RIGHT] = "laurel_right",
    [MODULE_LAUREL_NORM] = "laurel_norm",
    [MODULE_ALTUP] = "altup",
    [MODULE_ALTUP_IN] = "altup_in",
    [MODULE_ALTUP_OUT] = "altup_out",
    [MODULE_LAYER_WORD] = "layer_word",
    [MODULE_LAYER_NORM] = "layer_inputs_norm",
    [MODULE_SHARED_NORM] = "shared_norm",
    [MODULE_EXPERTS_NORM] = "experts_norm",
    [MODULE_EXPERTS_RESULT_NORM] = "experts_result_norm",
    [MODULE_ROUTER_SCALE] = "router_scale",
    [MODULE_STATE_IN] = "state_in",
    [MODULE_STATE_SELECT] = "state_select",
    [MODULE_STATE_STEP] = "state_step",
    [MODULE_STATE_OUT] = "state_out",
    [MODULE_STATE_CONV] = "state_conv",
    [MODULE_STATE_HEADS] = "state_heads",
    [MODULE_STATE_NORM] = "state_norm",
    [MODULE_STEP_NORM] = "step_norm",
    [MODULE_INDEX_QUERY] = "index_query",
    [MODULE_INDEX_KEY] = "index_key",
    [MODULE_INDEX_NORM] = "index_norm",
    [MODULE_CONTRAST] = "contrast",
    [MODULE_MODULATION] = "modulation",
    [MODULE_CONTEXT] = "context",
    [MODULE_CONDITION] = "condition",
    [MODULE_CONDITION_OUT] = "condition_out",
    [MODULE_CONDITION_MORE] = "condition_more",
    [MODULE_SCALE] = "scale",
    [MODULE_PROBE] = "probe",
};

flagset build_flags(const struct build *b)
{
    if (!b->step || !b->step->prefix || strcmp(b->step->prefix, "cross_") != 0)
        return b->flags;
    return (b->flags | HAS_CROSS) & ~(HAS_ROPE | HAS_SPLIT_ROPE | HAS_FUSED_QKV);
}

bool build_has(const struct build *b, flagset when, flagset unless)
{
    flagset flags = build_flags(b);
    return (flags & when) == when && !(flags & unless);
}

double build_bytes(const struct build *b, struct term t)
{
    return t.n * b->width[t.width] * b->elements[t.sym];
}

/* Parts one after the other, without formatting: lists have hundreds of names. */
static const char *join(struct arena *arena, const char *const *parts, int n)
{
    size_t len = 0;
    for (int i = 0; i < n; i++)
        len += strlen(parts[i]);
    char *name = arena_alloc(arena, len + 1, 1), *to = name;
    for (int i = 0; i < n; i++) {
        size_t k = strlen(parts[i]);
        memcpy(to, parts[i], k);
        to += k;
    }
    return name;
}

const char *build_spell(struct build *b, const char *text, const char *suffix)
{
    const char *prefix = b->step && b->step->prefix ? b->step->prefix : "";
    const char *hash = strchr(text, '#');
    if (!hash && !*prefix && !*suffix)
        return text;
    char before[64] = "", digits[16] = "";
    int32_t number = b->step ? b->step->number : 0;
    assert(!hash || (size_t)(hash - text) < sizeof(before));
    if (hash)
        memcpy(before, text, (size_t)(hash - text));
    if (hash && number > 0)
        snprintf(digits, sizeof(digits), "%d", (int)number);
    const char *const parts[] = { prefix, before, digits, hash ? hash + 1 : text,
                                  suffix };
    return join(b->arena, parts, sizeof(parts) / sizeof(parts[0]));
}

const char *build_name(struct build *b, enum module part, const char *suffix)
{
    return build_spell(b, category_names[part], suffix);
}

struct op *build_op(struct build *b, const char *name, enum op_kind kind, bool backward)
{
    struct op_block *block = b->block;
    int32_t *n = backward ? &block->n_backward : &block->n_forward;
    assert(*n < build_room(b, backward ? BACKWARD_MAX : FORWARD_MAX));
    struct op *op = &(backward ? block->backward : block->forward)[(*n)++];
    *op = (struct op) { .name = name,
                        .kind = kind,
                        .module = b->module,
                        .dtype = op_compute_dtype(b->s->precision),
                        .backward = backward,
                        .launches = 1,
                        .dispatches = 1 };
    return op;
}

struct op_param *build_param(struct build *b, const char *name, double elements,
                             bool matrix)
{
    struct op_block *block = b->block;
    assert(block->n_params < build_room(b, PARAMS_MAX));
    struct op_param *param = &block->params[block->n_params++];
    *param = (struct op_param) {
        .name = name,
        .elements = (int64_t)elements,
        .whole = b->s->best_effort && b->shares[b->module].degree < b->s->tensor,
        .matrix = matrix,
    };
    return param;
}

void build_completes(struct build *b, struct op *op, enum module part,
                     const char *which, int32_t n)
{
    const char *name = build_name(b, part, which);
    for (int32_t i = 0; i < b->block->n_params; i++) {
        if (strcmp(b->block->params[i].name, name) == 0) {
            op->grad_first = i;
            op->grad_n = n;
            return;
        }
    }
}

void build_out(struct build *b, struct op *op, double size_B, const char *until)
{
    if (size_B <= 0)
        return;
    assert(op->n_outs < OP_OUTS_MAX);
    if (!op->backward)
        b->until[(op - b->block->forward) * OP_OUTS_MAX + op->n_outs] = until;
    op->outs[op->n_outs++] =
        (struct op_out) { .size_B = (int64_t)size_B, .kept_until = -1 };
}

static const char *until_name(struct build *b, const char *until)
{
    if (until && strcmp(until, "@") == 0)
        return b->step->user;
    if (!until)
        return NULL;
    const char *bar = strchr(until, '|');
    if (!bar)
        return build_spell(b, until, "");
    const char *first =
        build_spell(b, arena_strndup(b->arena, until, (size_t)(bar - until)), "");
    const char *const parts[] = { first, "|", build_spell(b, bar + 1, "") };
    return join(b->arena, parts, sizeof(parts) / sizeof(parts[0]));
}

/* Bytes of an element of what is kept for the gradient of a quantized product's weight:
 * its input, as that product reads it. 0: it is none. A router among the users reads 16
 * bits. */
static double kept_quantized_B(const struct build *b, const char *until)
{
    if (b->flags & HAS_EXPERTS && strstr(until, "router"))
        return 0;
    for (int i = MODULE_NONE + 1; i < MODULE_LINEARS; i++) {
        if (!dtype_is_quantized(b->linears[i].dtype))
            continue;
        size_t n = strlen(category_names[i]);
        const char *at = strstr(until, category_names[i]);
        if (at && strncmp(at + n, "_wgrad", 6) == 0)
            return build_trains(b, (enum module)i) /* adapters read 16 bits */
                       ? dtype_element_B(b->linears[i].dtype)
                       : 0;
    }
    return 0;
}

/* How many times the mean the fullest rank holds of a tensor: rows of experts (MODEL.md,
 * R11.6). */
static double load_of(const struct build *b, const struct term *term)
{
    bool rows = term->sym == SYM_M || term->sym == SYM_F;
    return rows && b->flags & HAS_EXPERTS ? fmax(1, b->s->expert_imbalance) : 1;
}

/* What an operator makes, on the fullest rank. */
static double made_B(const struct build *b, const struct op *op, const struct row *row)
{
    if (row->made.n > 0)
        return build_bytes(b, row->made) * load_of(b, &row->made);
    return op->write_B * fmax(op->slower, load_of(b, &row->write[0]));
}

void build_outs(struct build *b, struct op *op, const struct row *row)
{
    double rest = made_B(b, op, row);
    for (size_t i = 0; i < sizeof(row->keep) / sizeof(row->keep[0]); i++) {
        const struct keep *k = &row->keep[i];
        const char *until = until_name(b, k->until);
        if (!until || !build_has(b, k->when, k->unless))
            continue;
        double size = build_bytes(b, k->term) * load_of(b, &k->term);
        double quantized_B = kept_quantized_B(b, until);
        if (quantized_B > 0)
            size *= quantized_B / b->width[k->term.width];
        build_out(b, op, size, until);
        rest -= size;
    }
    build_out(b, op, rest, NULL);
}
