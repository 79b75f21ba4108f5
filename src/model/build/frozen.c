/* What of a block is trained, and how the rest is stored: next to adapters, and of models
 * of which parts are frozen (MODEL.md, 2.5). */
#include "model/build/emit.h"

#include <string.h>

static bool is_of_layers(enum module part)
{
    return part >= MODULE_QKV && part <= MODULE_STATE_OUT;
}

/* The bit that freezes a part of layers. */
static uint32_t frozen_bit(enum module part)
{
    switch (part) {
    case MODULE_NORM:
    case MODULE_RELATIVE_NORM:
    case MODULE_LAUREL_NORM:
    case MODULE_SHARED_NORM:
    case MODULE_EXPERTS_NORM:
    case MODULE_EXPERTS_RESULT_NORM:
        return LORA_FREEZES_NORMS;
    case MODULE_ROUTER:
    case MODULE_ROUTER_SCALE:
        return LORA_FREEZES_ROUTER;
    case MODULE_STATE_CONV:
    case MODULE_STATE_HEADS:
    case MODULE_STATE_NORM:
    case MODULE_STEP_NORM:
        return LORA_FREEZES_STATE;
    default:
        break;
    }
    if (part >= MODULE_STATE_IN && part <= MODULE_STATE_OUT)
        return LORA_FREEZES_STATE;
    if (part >= MODULE_GATE && part <= MODULE_EXPERTS_OUT)
        return LORA_FREEZES_MLP;
    return part <= MODULE_LINEARS && part > MODULE_OUT ? 0 : LORA_FREEZES_ATTENTION;
}

/* What words freeze of the step at hand: convolutions over a sound, parts of layers, an
 * encoder's last norm, a matrix of words that the head shares. */
static bool is_held(const struct build *b, enum module part)
{
    const struct lora *l = &b->s->lora;
    const struct build_step *step = b->step;
    if (b->mlp_number > 0)
        return l->frozen & frozen_bit(part);
    if (l->frozen & LORA_FREEZES_FEATURES && b->m->sound && step && step->number > 0)
        return true;
    if (l->frozen & LORA_FREEZES_ENCODER && step && step->prefix &&
        strcmp(step->prefix, "encoder_") == 0)
        return true;
    bool words =
        part == MODULE_WORD || (part == MODULE_LOGITS && model_ties_head(b->m));
    return words && l->frozen & LORA_FREEZES_EMBEDDINGS;
}

bool build_trains(const struct build *b, enum module part)
{
    const struct lora *l = &b->s->lora;
    bool tied = model_ties_head(b->m);
    if (part == MODULE_IDLE)
        return false;
    if (l->whole || (l->frozen & LORA_FREEZES_BLOCKS && is_held(b, part)))
        return part == MODULE_CONTRAST;
    if (l->rank == 0 || part == MODULE_CLASSES || /* not of the base model */
        part == MODULE_CONTRAST)                  /* no weights */
        return true;
    switch (part) {
    case MODULE_WORD:
    case MODULE_LOGITS:
        if (tied)
            return l->trained & (LORA_TRAINS_EMBEDDINGS | LORA_TRAINS_HEAD);
        return l->trained &
               (part == MODULE_WORD ? LORA_TRAINS_EMBEDDINGS : LORA_TRAINS_HEAD);
    case MODULE_DENSE:
    case MODULE_POOLER:
        return l->trained & LORA_TRAINS_HEAD;
    case MODULE_NORM:
    case MODULE_LATENT_NORM:
    case MODULE_QUERY_NORM:
    case MODULE_KEY_NORM:
    case MODULE_RELATIVE_NORM:
        return l->trained & LORA_TRAINS_NORMS;
    default:
        return false;
    }
}

bool build_is_bare(const struct build *b, enum module part)
{
    bool expert = part == MODULE_GATE || part == MODULE_UP || part == MODULE_DOWN ||
                  part == MODULE_ROUTER;
    return b->m->mlp.bare_experts && b->flags & HAS_EXPERTS && expert;
}

double build_quantized_B(const struct build *b, enum module part)
{
    bool quantized =
        lora_is_quantized(&b->s->lora) && is_of_layers(part) && !build_is_bare(b, part);
    return quantized ? lora_quantized_B(&b->s->lora) : 0;
}

void build_freeze(struct build *b, enum module part, struct op_param *param)
{
    static const double stored_B[] = {
        [LORA_BASE_FP32] = 4, [LORA_BASE_FP16] = 2, [LORA_BASE_BF16] = 2,
        [LORA_BASE_NF4] = 0,  [LORA_BASE_INT8] = 0,
    };
    if (build_trains(b, part))
        return;
    param->frozen = true;
    param->stored_B = stored_B[b->s->lora.base];
    if (param->matrix && build_quantized_B(b, part) > 0)
        param->stored_B = build_quantized_B(b, part);
}
