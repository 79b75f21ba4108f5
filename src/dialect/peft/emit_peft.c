/* Adapters of a scenario as the words of peft_rows: what rows write. Names of modules
 * are those of the Llama line; of other families' products the scenario keeps no
 * names. */
#include "dialect/peft/peft.h"
#include "scenario/scenario.h"

#include <string.h>

static const struct lora *lora_of(const struct scenario *s)
{
    return s->training.lora.rank > 0 ? &s->training.lora : NULL;
}

/* Products that the Llama line has modules for, by their own names. */
static bool is_named_so(const struct scenario *s)
{
    const uint32_t own = LORA_QUERY | LORA_KEY | LORA_VALUE | LORA_OUT | LORA_GATE |
                         LORA_UP | LORA_DOWN | LORA_ALL_LINEAR;
    const struct model *m = &s->model;
    bool line = m->mlp.gated && m->arch == MODEL_DECODER && !m->attention.fused_qkv &&
                !m->mlp.fused_gate && m->attention.latent_kv == 0;
    return (s->training.lora.targets == LORA_ALL_LINEAR) ||
           (line && !(s->training.lora.targets & ~own));
}

/* "q_proj,v_proj" */
static json_t *names(uint32_t set, const char *(*word_of)(uint32_t, int32_t))
{
    struct strbuf b;
    const char *word;
    strbuf_init(&b);
    for (int32_t i = 0; (word = word_of(set, i)); i++)
        strbuf_printf(&b, "%s%s", i ? "," : "", word);
    json_t *text = b.len ? json_string(strbuf_get(&b)) : NULL;
    strbuf_release(&b);
    return text;
}

/* Modules that are trained whole, as the Llama line calls them. */
static const char *trained_word(uint32_t set, int32_t i)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } own[] = { { LORA_TRAINS_EMBEDDINGS, "embed_tokens" },
                { LORA_TRAINS_HEAD, "lm_head" },
                { LORA_TRAINS_NORMS, "input_layernorm" },
                { LORA_TRAINS_VISION, "vision_tower" },
                { LORA_TRAINS_PROJECTOR, "multi_modal_projector" } };
    for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
        if (set & own[k].bit && i-- == 0)
            return own[k].name;
    return NULL;
}

json_t *peft_give_use(const struct scenario *s)
{
    return lora_of(s) ? json_true() : NULL;
}

json_t *peft_give_rank(const struct scenario *s)
{
    return lora_of(s) ? json_integer((json_int_t)s->training.lora.rank) : NULL;
}

json_t *peft_give_dropout(const struct scenario *s)
{
    double dropout = s->training.lora.dropout;
    return lora_of(s) && dropout > 0 ? json_real(dropout) : NULL;
}

json_t *peft_give_targets(const struct scenario *s)
{
    const struct lora *l = lora_of(s);
    return l && is_named_so(s) ? names(l->targets, lora_target_word) : NULL;
}

json_t *peft_give_trained(const struct scenario *s)
{
    const struct lora *l = lora_of(s);
    return l && is_named_so(s) ? names(l->trained, trained_word) : NULL;
}

static json_t *give_base(const struct scenario *s, enum lora_base base)
{
    const struct lora *l = lora_of(s);
    return l && l->base == base ? json_true() : NULL;
}

json_t *peft_give_4bit(const struct scenario *s)
{
    return give_base(s, LORA_BASE_NF4);
}

json_t *peft_give_8bit(const struct scenario *s)
{
    return give_base(s, LORA_BASE_INT8);
}

json_t *peft_give_double(const struct scenario *s)
{
    bool on = s->training.lora.double_quantization;
    return on ? give_base(s, LORA_BASE_NF4) : NULL;
}

json_t *peft_give_dtype(const struct scenario *s)
{
    const struct lora *l = lora_of(s);
    return l && l->base == LORA_BASE_BF16   ? json_string("bfloat16")
           : l && l->base == LORA_BASE_FP16 ? json_string("float16")
                                            : NULL;
}
