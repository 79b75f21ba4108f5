/* Adapters as a script makes them: LoraConfig(...) and its like, BitsAndBytesConfig(...)
 * and from_pretrained(..., load_in_4bit=True), as the words of peft_rows. */
#include "dialect/peft/peft.h"

#include "base/names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* clang-format off */
const char *const peft_calls[] = {
    "LoraConfig", "get_peft_model", "BitsAndBytesConfig", "from_pretrained",
    "AdaLoraConfig", "IA3Config", "PromptTuningConfig", "PrefixTuningConfig", "PromptEncoderConfig", "AdaptionPromptConfig",
    "LoHaConfig", "LoKrConfig", "OFTConfig", "BOFTConfig", "VeraConfig", "FourierFTConfig", "LNTuningConfig", "XLoraConfig",
    "VBLoRAConfig", "HRAConfig", "BoneConfig", "MissConfig", "CPTConfig", "PolyConfig", "RandLoraConfig", "MultitaskPromptTuningConfig", NULL,
};
/* Arguments of LoraConfig (PEFT 0.17, peft/tuners/lora/config.py) and the words that they
 * are. */
static const struct { const char *argument, *word; } arguments[] = {
    { "r", "lora_r" }, { "lora_alpha", "lora_alpha" }, { "lora_dropout", "lora_dropout" },
    { "target_modules", "lora_target_modules" }, { "modules_to_save", "lora_modules_to_save" },
    { "use_dora", "use_dora" }, { "layers_to_transform", "layers_to_transform" }, { "rank_pattern", "rank_pattern" },
    { "exclude_modules", "exclude_modules" }, { "target_parameters", "target_parameters" },
    { "trainable_token_indices", "trainable_token_indices" }, { "layer_replication", "layer_replication" },
};
/* Of BitsAndBytesConfig and of from_pretrained. */
static const char *const quantizing[] = {
    "load_in_4bit", "load_in_8bit", "bnb_4bit_use_double_quant", "bnb_4bit_compute_dtype", NULL,
};
/* clang-format on */

struct script {
    struct launch_context *t;
    struct value *words;
    int64_t line; /* of all of it; 0: as they are written */
    bool lora;    /* a LoraConfig is made whatever holds */
};

/* The last call's argument is the word's, unless it is not known and another's is. */
static void put(struct script *s, const char *word, const struct value *v)
{
    struct value *copy = ARENA_NEW(s->t->arena, struct value);
    const struct value_item *old = value_get(s->words, word);
    *copy = *v;
    copy->line = s->line ? s->line : v->line;
    if (!old)
        value_add(s->t->arena, s->words, word, copy->line, copy);
    else if (v->kind != VALUE_UNKNOWN)
        s->words->items[old - s->words->items].value = copy;
}

static void put_text(struct script *s, const char *word, const char *text, int64_t line)
{
    put(s, word, value_new_string(s->t->arena, text, line, 0));
}

static void take_lora(struct script *s, const struct python_call *c)
{
    struct value *usual = value_new(s->t->arena, VALUE_INT, c->line, 0);
    usual->integer = 8; /* LoraConfig's own */
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
        const struct value_item *it = value_get(c->arguments, arguments[i].argument);
        if (it)
            put(s, arguments[i].word, it->value);
    }
    if (!value_get(s->words, "lora_r") && !c->arguments->gap)
        put(s, "lora_r", usual);
    if (!value_get(s->words, "lora_target_modules") && !c->arguments->gap)
        put(s, "lora_target_modules", value_new(s->t->arena, VALUE_NONE, c->line, 0));
}

static void take_call(struct script *s, const struct python_call *c)
{
    const char *class = python_last_part(c->function);
    bool peft = strcmp(class, "get_peft_model") == 0;
    if (strcmp(class, "LoraConfig") == 0 || (peft && value_get(c->arguments, "r"))) {
        take_lora(s, c);
        return;
    }
    for (const char *const *k = quantizing; *k && !peft; k++) {
        const struct value_item *it = value_get(c->arguments, *k);
        if (it)
            put(s, *k, it->value);
    }
    const struct value_item *dtype = value_get(c->arguments, "torch_dtype");
    bool loads = strcmp(class, "from_pretrained") == 0;
    if (loads && dtype)
        put(s, "torch_dtype", dtype->value);
    /* of two methods, the one that is made whatever holds */
    if (!peft && !loads && strcmp(class, "BitsAndBytesConfig") != 0 &&
        !(s->lora && c->unsure))
        put_text(s, "peft_type", class, c->line);
}

bool peft_has(const char *text, const char *part)
{
    return names_mentioned((const char *const[]) { part, NULL }, text);
}

bool peft_is_named(const char *text)
{
    static const char *const words[] = { "lora", "qlora", "peft" };
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < sizeof(words) / sizeof(words[0]); j++) {
            size_t m = strlen(words[j]);
            if (i + m <= n && strncasecmp(text + i, words[j], m) == 0 &&
                (i == 0 || !isalpha((unsigned char)text[i - 1])) &&
                !isalpha((unsigned char)text[i + m]))
                return true;
        }
    return false;
}

bool peft_makes_lora(const struct python *p)
{
    for (int64_t i = 0; i < p->calls.n; i++)
        if (!p->calls.v[i].unsure &&
            strcmp(python_last_part(p->calls.v[i].function), "LoraConfig") == 0)
            return true;
    return false;
}

const struct value *peft_of_script(struct launch_context *t, const struct python *p,
                                   int64_t line)
{
    struct script s = { .t = t,
                        .words = value_new(t->arena, VALUE_DICT, line ? line : 1, 0),
                        .line = line };
    s.lora = peft_makes_lora(p);
    for (int64_t i = 0; i < p->calls.n; i++)
        if (names_listed(peft_calls, python_last_part(p->calls.v[i].function)))
            take_call(&s, &p->calls.v[i]);
    return s.words->n ? s.words : NULL;
}
