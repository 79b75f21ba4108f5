/* What a step of a diffusion transformer works on: the tokens of the picture, of the text
 * or of both. */
#include "model/build/emit.h"

#include <string.h>

/* What there is of each token. */
static const enum sym of_tokens[] = { SYM_A, SYM_X, SYM_I, SYM_Q,   SYM_K, SYM_U,
                                      SYM_E, SYM_L, SYM_F, SYM_QKV, SYM_QK };

int64_t build_stream_tokens(const struct build *b, enum stream stream)
{
    int64_t text = b->m->diffusion.text_tokens;
    int64_t each[] = { [STREAM_ALL] = b->s->sequence,
                       [STREAM_IMAGE] = b->s->sequence - text,
                       [STREAM_TEXT] = text };
    return b->s->batch * each[stream];
}

struct linear build_stream_product(const struct build *b, int64_t rows, int64_t k,
                                   int64_t n)
{
    return (struct linear) { .rows = rows,
                             .k = k,
                             .n = n,
                             .batch = 1,
                             .bias = true,
                             .owned = true,
                             .dtype = b->linears[MODULE_LOGITS].dtype };
}

void build_enter_stream(struct build *b)
{
    static const enum module products[] = { MODULE_QUERY, MODULE_KEY, MODULE_VALUE,
                                            MODULE_OUT,   MODULE_UP,  MODULE_DOWN };
    enum stream stream = b->step->stream;
    int64_t h = b->m->hidden, rows = build_stream_tokens(b, stream);
    double share = (double)rows / (double)build_stream_tokens(b, STREAM_ALL);
    double *e = b->stream_sizes;
    memcpy(e, b->sizes[b->module], sizeof(b->stream_sizes));
    for (size_t i = 0; i < sizeof(of_tokens) / sizeof(of_tokens[0]); i++)
        e[of_tokens[i]] *= share;
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
        b->linears[products[i]].rows = rows;
    b->linears[MODULE_MODULATION] =
        build_stream_product(b, b->s->batch, h, b->modulations[stream] * h);
    e[SYM_OM] = (double)(b->s->batch * b->modulations[stream] * h);
    b->elements = e;
}

uint32_t build_diffusion_bit(const struct build *b, enum module part, uint32_t bit)
{
    static const uint32_t text[MODULE_LINEARS] = {
        [MODULE_QUERY] = LORA_TEXT_QUERY, [MODULE_KEY] = LORA_TEXT_KEY,
        [MODULE_VALUE] = LORA_TEXT_VALUE, [MODULE_OUT] = LORA_TEXT_OUT,
        [MODULE_UP] = LORA_TEXT_UP,       [MODULE_DOWN] = LORA_TEXT_DOWN,
    };
    if (b->step && b->step->stream == STREAM_TEXT && text[part])
        return text[part];
    if (b->flags & HAS_ONE_OUT && part == MODULE_UP)
        return LORA_SINGLE_UP;
    return b->flags & HAS_ONE_OUT && part == MODULE_DOWN ? LORA_SINGLE_DOWN : bit;
}
