/* The calls that make a training, and what their arguments are called in the rows of the
 * Trainer, TRL and PEFT.
 *
 * transformers/training_args.py, modeling_utils.py (4.57), trl/trainer (0.24),
 * peft/tuners/lora/config.py and peft/utils/other.py (0.17), accelerate/accelerator.py
 * (1.15), unsloth/models/loader.py (2025). */
#include "base/names.h"
#include "dialect/program/program.h"

#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 8 };

/* Rows ----------------------------------------------------------------------------- */

/* clang-format off */
const char *const program_calls[] = {
    "TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "DPOConfig", "KTOConfig", "ORPOConfig", "CPOConfig",
    "GRPOConfig", "PPOConfig", "RLOOConfig", "RewardConfig", "OnlineDPOConfig", "GKDConfig", "PRMConfig", "NashMDConfig", "XPOConfig",
    "UnslothTrainingArguments", "ORTTrainingArguments", "SentenceTransformerTrainingArguments",
    "Trainer", "Seq2SeqTrainer", "SFTTrainer", "DPOTrainer", "KTOTrainer", "ORPOTrainer", "CPOTrainer", "GRPOTrainer",
    "PPOTrainer", "RLOOTrainer", "RewardTrainer", "OnlineDPOTrainer", "GKDTrainer", "PRMTrainer", "NashMDTrainer", "XPOTrainer",
    "UnslothTrainer", "ORTTrainer", "SentenceTransformerTrainer", "QuestionAnsweringTrainer",
    "from_pretrained", "from_config", "LoraConfig", "BitsAndBytesConfig", "get_peft_model",
    "prepare_model_for_kbit_training", "prepare_model_for_int8_training", "gradient_checkpointing_enable",
    "Accelerator", "notebook_launcher",
    /* methods of PEFT that are no LoRA */
    "AdaLoraConfig", "IA3Config", "PromptTuningConfig", "PrefixTuningConfig", "PromptEncoderConfig", "AdaptionPromptConfig",
    "LoHaConfig", "LoKrConfig", "OFTConfig", "BOFTConfig", "VeraConfig", "FourierFTConfig", "LNTuningConfig", "XLoraConfig",
    "VBLoRAConfig", "HRAConfig", "BoneConfig", "MissConfig", "CPTConfig", "PolyConfig", "RandLoraConfig",
    "MultitaskPromptTuningConfig", NULL,
};

/* A function by the end of its path: the class before the dot, "*" for a beginning that is
 * any; "" for any. The first that fits. */
static const struct { const char *class, *function; enum program_part part; } functions[] = {
    { "", "*TrainingArguments", PROGRAM_ARGUMENTS }, { "", "LoraConfig", PROGRAM_ADAPTERS },
    { "", "BitsAndBytesConfig", PROGRAM_QUANTISATION },
    { "", "AdaLoraConfig", PROGRAM_METHOD }, { "", "IA3Config", PROGRAM_METHOD }, { "", "Prompt*Config", PROGRAM_METHOD },
    { "", "PrefixTuningConfig", PROGRAM_METHOD }, { "", "AdaptionPromptConfig", PROGRAM_METHOD }, { "", "Lo*Config", PROGRAM_METHOD },
    { "", "OFTConfig", PROGRAM_METHOD }, { "", "BOFTConfig", PROGRAM_METHOD }, { "", "VeraConfig", PROGRAM_METHOD },
    { "", "FourierFTConfig", PROGRAM_METHOD }, { "", "LNTuningConfig", PROGRAM_METHOD }, { "", "*LoraConfig", PROGRAM_METHOD },
    { "", "VBLoRAConfig", PROGRAM_METHOD }, { "", "HRAConfig", PROGRAM_METHOD }, { "", "BoneConfig", PROGRAM_METHOD },
    { "", "MissConfig", PROGRAM_METHOD }, { "", "CPTConfig", PROGRAM_METHOD }, { "", "PolyConfig", PROGRAM_METHOD },
    { "", "MultitaskPromptTuningConfig", PROGRAM_METHOD }, { "", "*Config", PROGRAM_ARGUMENTS },
    { "", "*Trainer", PROGRAM_TRAINER },
    { "AutoModelFor*", "from_pretrained", PROGRAM_MODEL }, { "*For*", "from_pretrained", PROGRAM_MODEL },
    { "*LMHeadModel", "from_pretrained", PROGRAM_MODEL }, { "Fast*Model", "from_pretrained", PROGRAM_MODEL },
    { "Fast*Model", "get_peft_model", PROGRAM_ADAPTERS }, { "", "get_peft_model", PROGRAM_WRAPPED },
    { "", "prepare_model_for_*", PROGRAM_PREPARED }, { "", "gradient_checkpointing_enable", PROGRAM_CHECKPOINTED },
    { "", "Accelerator", PROGRAM_ACCELERATOR }, { "", "notebook_launcher", PROGRAM_STARTED },
};

/* An argument of a part, "*" any other, and its name in the rows: NULL its own, "" none, of
 * "lora_*" its own replaces the star. */
static const struct word { enum program_part part; const char *argument, *key; } words[] = {
    { PROGRAM_ARGUMENTS, "0", "output_dir" }, { PROGRAM_ARGUMENTS, "*", NULL },
    { PROGRAM_TRAINER, "max_seq_length", NULL }, { PROGRAM_TRAINER, "packing", NULL }, { PROGRAM_TRAINER, "beta", NULL },
    { PROGRAM_TRAINER, "max_length", NULL }, { PROGRAM_TRAINER, "neftune_noise_alpha", NULL },
    { PROGRAM_TRAINER, "dataset_num_proc", NULL }, { PROGRAM_TRAINER, "*", "" },
    { PROGRAM_MODEL, "0", "model_name_or_path" }, { PROGRAM_MODEL, "pretrained_model_name_or_path", "model_name_or_path" },
    { PROGRAM_MODEL, "model_name", "model_name_or_path" }, { PROGRAM_MODEL, "torch_dtype", NULL }, { PROGRAM_MODEL, "dtype", NULL },
    { PROGRAM_MODEL, "attn_implementation", NULL }, { PROGRAM_MODEL, "use_flash_attention_2", NULL },
    { PROGRAM_MODEL, "max_seq_length", NULL }, { PROGRAM_MODEL, "load_in_4bit", NULL }, { PROGRAM_MODEL, "load_in_8bit", NULL },
    { PROGRAM_MODEL, "*", "" },
    { PROGRAM_ADAPTERS, "r", "lora_r" }, { PROGRAM_ADAPTERS, "model", "" },
    { PROGRAM_ADAPTERS, "lora_alpha", NULL }, { PROGRAM_ADAPTERS, "lora_dropout", NULL },
    { PROGRAM_ADAPTERS, "use_rslora", NULL }, { PROGRAM_ADAPTERS, "use_dora", NULL },
    { PROGRAM_ADAPTERS, "use_gradient_checkpointing", NULL }, { PROGRAM_ADAPTERS, "max_seq_length", NULL },
    { PROGRAM_ADAPTERS, "random_state", "" }, { PROGRAM_ADAPTERS, "inference_mode", "" }, { PROGRAM_ADAPTERS, "*", "lora_*" },
    { PROGRAM_QUANTISATION, "*", NULL },
    { PROGRAM_PREPARED, "use_gradient_checkpointing", NULL }, { PROGRAM_PREPARED, "*", "" },
    { PROGRAM_METHOD, "*", "" },
    { PROGRAM_ACCELERATOR, "gradient_accumulation_steps", NULL },
    { PROGRAM_ACCELERATOR, "*", "" },
};
/* clang-format on */

/* One "*" represents anything. */
static bool fits(const char *pattern, const char *word, size_t n)
{
    const char *star = strchr(pattern, '*');
    size_t m = strlen(pattern), head = star ? (size_t)(star - pattern) : m;
    size_t tail = star ? strlen(star + 1) : 0;
    const char *second = star ? strchr(star + 1, '*') : NULL;
    if (second && !head) { /* "*For*" */
        for (size_t i = 0; i + tail - 1 <= n; i++)
            if (strncmp(word + i, star + 1, tail - 1) == 0)
                return true;
        return false;
    }
    return (star ? n >= head + tail : n == m) && strncmp(pattern, word, head) == 0 &&
           strncmp(star ? star + 1 : "", word + n - tail, tail) == 0;
}

/* PROGRAM_PARTS: it is none. */
static enum program_part part_of(const struct python_call *c)
{
    const char *last = python_last_part(c->function), *from = c->function;
    size_t n = last > from ? (size_t)(last - from) - 1 : 0;
    for (const char *s = c->function; s < last; s++)
        from = *s == '.' && s + 1 < last ? s + 1 : from;
    n -= n ? (size_t)(from - c->function) : 0;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (fits(functions[i].function, last, strlen(last)) &&
            (!functions[i].class[0] || fits(functions[i].class, from, n)))
            return functions[i].part;
    return PROGRAM_PARTS;
}

/* Which calls ---------------------------------------------------------------------- */

/* The call that gave a value; NULL. */
static const struct python_call *maker_of(const struct python *p, const struct value *v)
{
    for (int64_t i = p->calls.n; v && i-- > 0;)
        if (p->calls.v[i].result == v)
            return &p->calls.v[i];
    return NULL;
}

static const struct value *given(const struct python_call *c, const char *name,
                                 const char *place)
{
    const struct value_item *it = c ? value_get(c->arguments, name) : NULL;
    it = !it && c ? value_get(c->arguments, place) : it;
    return it ? it->value : NULL;
}

/* The last call of the part up to a line, and before all in a quotation; with none the
 * first after it. */
static const struct python_call *last_of(const struct python *p, enum program_part part,
                                         int64_t line)
{
    const struct python_call *best = NULL;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (part_of(c) == part && !(best && (c->quoted || c->line > line)))
            best = c;
    }
    return best;
}

/* The call that loads what the trainer is given, by way of those that give it back. */
static const struct python_call *loader_of(struct program *g, const struct value *model)
{
    const struct python_call *c = maker_of(g->python, model);
    for (int i = 0; c && i < CHAIN_MAX; i++) {
        enum program_part part = part_of(c);
        if (part == PROGRAM_MODEL)
            return c;
        if (part != PROGRAM_WRAPPED && part != PROGRAM_PREPARED &&
            part != PROGRAM_ADAPTERS)
            return NULL;
        g->parts[part] = c;
        c = maker_of(g->python, given(c, "model", "0"));
    }
    return NULL;
}

/* The call of a part that an argument is of, else the last before the trainer. */
static void choose(struct program *g, enum program_part part, const struct value *v)
{
    const struct python_call *c = maker_of(g->python, v);
    const struct python_call *from = g->parts[PROGRAM_TRAINER];
    if (!g->parts[part])
        g->parts[part] = c && part_of(c) == part
                             ? c
                             : last_of(g->python, part, from ? from->line : INT64_MAX);
}

static void choose_all(struct program *g)
{
    const struct python_call *trainer = last_of(g->python, PROGRAM_TRAINER, INT64_MAX);
    g->parts[PROGRAM_TRAINER] = trainer;
    g->parts[PROGRAM_MODEL] = loader_of(g, given(trainer, "model", "0"));
    choose(g, PROGRAM_ARGUMENTS, given(trainer, "args", "1"));
    choose(g, PROGRAM_MODEL, NULL);
    choose(g, PROGRAM_WRAPPED, NULL);
    const struct value *peft = given(trainer, "peft_config", "");
    choose(g, PROGRAM_ADAPTERS,
           peft ? peft : given(g->parts[PROGRAM_WRAPPED], "peft_config", "1"));
    /* adapters that nothing is given are none of this training */
    const struct python_call *adapters = g->parts[PROGRAM_ADAPTERS];
    if (adapters && trainer && !peft && !g->parts[PROGRAM_WRAPPED] &&
        strcmp(python_last_part(adapters->function), "LoraConfig") == 0)
        g->parts[PROGRAM_ADAPTERS] = NULL;
    const struct value *quantised =
        given(g->parts[PROGRAM_MODEL], "quantization_config", "");
    if (quantised)
        choose(g, PROGRAM_QUANTISATION, quantised);
    choose(g, PROGRAM_METHOD, NULL);
    choose(g, PROGRAM_PREPARED, NULL);
    choose(g, PROGRAM_CHECKPOINTED, NULL);
    choose(g, PROGRAM_ACCELERATOR, NULL);
    choose(g, PROGRAM_STARTED, NULL);
}

/* Their arguments ------------------------------------------------------------------ */

static const struct word *word_of(enum program_part part, const char *argument)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i].part == part &&
            (words[i].argument[0] == '*' || strcmp(words[i].argument, argument) == 0))
            return &words[i];
    return NULL;
}

/* What was there before goes before, unless it is none or, `on`, switched off. */
static void put(struct program *g, struct arena *arena, const char *key, int64_t line,
                struct value *v, bool on)
{
    const struct value_item *it = value_get(g->words, key);
    if (!it)
        value_add(arena, g->words, key, line, v);
    else if (it->value->kind == VALUE_NONE || (on && launch_is_off(it->value)))
        g->words->items[it - g->words->items] = (struct value_item) { key, line, v };
}

static void put_true(struct program *g, struct arena *arena, const char *key,
                     int64_t line, bool on)
{
    struct value *yes = value_new(arena, VALUE_BOOL, line, 0);
    yes->integer = 1;
    put(g, arena, key, line, yes, on);
}

static void put_part(struct program *g, struct arena *arena, enum program_part part)
{
    const struct python_call *c = g->parts[part];
    for (int32_t i = 0; c && i < c->arguments->n; i++) {
        const struct value_item *it = &c->arguments->items[i];
        const struct word *w = word_of(part, it->key);
        const char *key = w ? w->key : "";
        size_t n = key ? strlen(key) : 0;
        if (!key)
            key = it->key;
        else if (n && key[n - 1] == '*')
            key = arena_printf(arena, "%.*s%s", (int)n - 1, key, it->key);
        if (key[0] && !(key[0] >= '0' && key[0] <= '9'))
            put(g, arena, key, it->line, it->value, false);
    }
}

/* model_init_kwargs={"torch_dtype": ...} of TRL's arguments. */
static void put_inner(struct program *g, struct arena *arena, const char *name)
{
    const struct value_item *it = value_get(g->words, name);
    for (int32_t i = 0; it && it->value->kind == VALUE_DICT && i < it->value->n; i++) {
        const struct value_item *e = &it->value->items[i];
        put(g, arena, e->key, e->line, e->value, false);
    }
}

/* What calls have for arguments that are left out: LoraConfig (PEFT 0.17,
 * peft/tuners/lora/config.py), Unsloth's loader and adapters (unsloth/models/loader.py and
 * llama.py, 2025), as literals; "" is none. */
static const struct {
    enum program_part part;
    const char *class, *key, *value;
} left_out[] = {
    { PROGRAM_ADAPTERS, "LoraConfig", "lora_r", "8" },
    { PROGRAM_ADAPTERS, "LoraConfig", "lora_alpha", "8" },
    { PROGRAM_ADAPTERS, "LoraConfig", "lora_dropout", "0" },
    { PROGRAM_ADAPTERS, "LoraConfig", "lora_target_modules", "" },
    { PROGRAM_ADAPTERS, "get_peft_model", "lora_r", "16" },
    { PROGRAM_ADAPTERS, "get_peft_model", "lora_alpha", "16" },
    { PROGRAM_ADAPTERS, "get_peft_model", "lora_dropout", "0" },
    { PROGRAM_ADAPTERS, "get_peft_model", "lora_target_modules",
      "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj" },
};

static void put_left_out(struct program *g, struct arena *arena)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        const struct python_call *c = g->parts[left_out[i].part];
        if (!c || c->arguments->gap || value_get(g->words, left_out[i].key) ||
            strcmp(python_last_part(c->function), left_out[i].class) != 0)
            continue;
        struct value *v = value_new_string(arena, left_out[i].value, c->line, 0);
        v->kind = *left_out[i].value ? VALUE_STRING : VALUE_NONE;
        put(g, arena, left_out[i].key, c->line, v, false);
    }
}

/* FastLanguageModel loads 4 bits, unless it is asked for others or for all to be
 * trained; their scales are quantized, too. */
static void put_unsloth(struct program *g, struct arena *arena)
{
    static const char *const others[] = { "load_in_4bit", "load_in_8bit",
                                          "load_in_16bit", "full_finetuning" };
    const struct python_call *c = g->parts[PROGRAM_MODEL];
    bool other = false;
    if (!c || !strstr(c->function, "Fast"))
        return;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct value *v = given(c, others[i], "");
        other |= v && (i == 0 || !launch_is_off(v));
    }
    if (!other)
        put_true(g, arena, "load_in_4bit", c->line, false);
    const struct value_item *four = value_get(g->words, "load_in_4bit");
    if (four && launch_true(four->value))
        put_true(g, arena, "bnb_4bit_use_double_quant", c->line, false);
}

/* Adapters are asked for also where what describes them is not known; by another
 * method's class they are refused. */
static void put_adapters(struct program *g, struct arena *arena)
{
    const struct python_call *adapters = g->parts[PROGRAM_ADAPTERS],
                             *method = g->parts[PROGRAM_METHOD],
                             *wrapped = g->parts[PROGRAM_WRAPPED];
    const struct value *config = given(g->parts[PROGRAM_TRAINER], "peft_config", "");
    const struct python_call *made =
        maker_of(g->python, config ? config : given(wrapped, "peft_config", "1"));
    if (made && part_of(made) == PROGRAM_ADAPTERS)
        method = NULL;
    if (method && (wrapped || (config && config->kind != VALUE_NONE)))
        put(g, arena, "peft_type", method->line,
            value_new_string(arena, python_last_part(method->function), method->line,
                             0),
            false);
    else if (adapters)
        put_true(g, arena, "use_peft", adapters->line, false);
    else if (wrapped)
        put_true(g, arena, "use_peft", wrapped->line, false);
    else if (config && config->kind != VALUE_NONE)
        put_true(g, arena, "use_peft", config->line, false);
    put_left_out(g, arena);
    put_unsloth(g, arena);
}

/* What calls do that no argument says. */
static void put_switches(struct program *g, struct arena *arena)
{
    const struct python_call *on = g->parts[PROGRAM_CHECKPOINTED],
                             *prepared = g->parts[PROGRAM_PREPARED];
    const struct value *mixed =
        given(g->parts[PROGRAM_ACCELERATOR], "mixed_precision", "");
    if (on)
        put_true(g, arena, "gradient_checkpointing", on->line, true);
    /* peft/utils/other.py, prepare_model_for_kbit_training: True unless given */
    if (prepared)
        put_true(g, arena, "use_gradient_checkpointing", prepared->line, false);
    put_adapters(g, arena);
    if (mixed && mixed->kind == VALUE_STRING &&
        (strcmp(mixed->text, "bf16") == 0 || strcmp(mixed->text, "fp16") == 0))
        put_true(g, arena, mixed->text, mixed->line, true);
}

void program_gather(struct program *g, struct arena *arena, const struct python *p)
{
    *g = (struct program) { .python = p };
    choose_all(g);
    for (int64_t i = 0; i < p->calls.n; i++)
        g->n_trainers += part_of(&p->calls.v[i]) == PROGRAM_TRAINER;
    g->words = value_new(arena, VALUE_DICT, 1, 0);
    const struct value *model = given(g->parts[PROGRAM_TRAINER], "model", "0");
    if (model && model->kind == VALUE_STRING)
        put(g, arena, "model_name_or_path", model->line,
            (struct value *)(uintptr_t)model, false);
    for (int part = 0; part < PROGRAM_PARTS; part++)
        put_part(g, arena, (enum program_part)part);
    put_inner(g, arena, "model_init_kwargs");
    put_switches(g, arena);
}

const char *program_method(struct arena *arena, const struct program *g)
{
    static const char *const ends[] = { "Trainer", "TrainingArguments", "Config" };
    const struct python_call *of[] = { g->parts[PROGRAM_TRAINER],
                                       g->parts[PROGRAM_ARGUMENTS] };
    for (int i = 0; i < 2; i++) {
        const char *name = of[i] ? python_last_part(of[i]->function) : "";
        for (size_t j = 0; j < sizeof(ends) / sizeof(ends[0]); j++) {
            size_t n = strlen(name), m = strlen(ends[j]);
            if (n >= m && strcmp(name + n - m, ends[j]) == 0)
                return arena_strndup(arena, name, n - m);
        }
    }
    return NULL;
}
