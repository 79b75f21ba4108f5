/* Adapters: model.peft (NeMo v2.0, nlp/parts/peft_config.py). */
#include "dialect/nemo/nemo.h"

#include <string.h>

/* clang-format off */
/* Words for several, and those of Megatron-Core. */
static const struct {
    const char *word, *modules[5];
} targets[] = {
    { "attention_qkv", { "linear_qkv" } }, { "attention_dense", { "linear_proj" } },
    { "mlp_fc1", { "linear_fc1" } }, { "mlp_fc2", { "linear_fc2" } },
    { "attention", { "linear_qkv", "linear_proj" } }, { "mlp", { "linear_fc1", "linear_fc2" } },
    { "all", { "linear_qkv", "linear_proj", "linear_fc1", "linear_fc2" } },
};
/* clang-format on */

static void add(json_t *list, const char *module)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), module) == 0)
            return;
    json_array_append_new(list, json_string(module));
}

static void add_word(json_t *list, const char *word)
{
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        if (strcmp(targets[i].word, word) == 0) {
            for (const char *const *m = targets[i].modules; *m; m++)
                add(list, *m);
            return;
        }
    add(list, word);
}

static void take_targets(const struct nemo *n)
{
    static const char at[] = "/training/lora/target_modules";
    const struct value_item *it = nemo_find(n, NEMO_PEFT, "lora_tuning.target_modules");
    json_t *list = json_array();
    for (int32_t i = 0; it && it->value->kind == VALUE_LIST && i < it->value->n; i++)
        if (it->value->items[i].value->kind == VALUE_STRING)
            add_word(list, it->value->items[i].value->text);
    if (!it)
        add_word(list, "attention_qkv");
    if (json_array_size(list)) {
        nemo_set(n, at, list, it, "target_modules' default");
        return;
    }
    json_decref(list);
    launch_unresolved_item(n->t, at, it, "list of modules");
}

static void take_lora(const struct nemo *n, const struct value_item *scheme)
{
    const struct value_item *rank = nemo_find(n, NEMO_PEFT, "lora_tuning.adapter_dim"),
                            *alpha = nemo_find(n, NEMO_PEFT, "lora_tuning.alpha"),
                            *drop =
                                nemo_find(n, NEMO_PEFT, "lora_tuning.adapter_dropout");
    int64_t r = 32; /* LoraPEFTConfig's configurations have it all */
    double x = 0;
    if (rank && (!launch_whole(rank->value, &r) || r < 1)) {
        launch_unresolved_item(n->t, "/training/lora/rank", rank, "rank");
        return;
    }
    nemo_set(n, "/training/lora/rank", json_integer((json_int_t)r),
             rank ? rank : scheme, "");
    if (alpha && launch_real(alpha->value, &x) && x > 0)
        nemo_set(n, "/training/lora/alpha", json_real(x), alpha, "");
    if (drop && launch_real(drop->value, &x) && x > 0 && x < 1)
        nemo_set(n, "/training/lora/dropout", json_real(x), drop, "");
    launch_hear(n->t, drop);
    take_targets(n);
    if (strcmp(scheme->value->text, "qlora") == 0)
        nemo_set(n, "/training/lora/base", json_string("nf4"), scheme, "");
}

void nemo_take_peft(const struct nemo *n)
{
    static const char *const none[] = { "", "none", "null", "None" };
    const struct value_item *it = nemo_find(n, NEMO_PEFT, "peft_scheme");
    if (!it || it->value->kind == VALUE_BOOL)
        return;
    launch_hear(n->t, it);
    for (size_t i = 0; it->value->text && i < sizeof(none) / sizeof(none[0]); i++)
        if (strcmp(it->value->text, none[i]) == 0)
            return;
    if (it->value->kind == VALUE_STRING &&
        (strcmp(it->value->text, "lora") == 0 || strcmp(it->value->text, "qlora") == 0))
        take_lora(n, it);
    else if (it->value->kind == VALUE_STRING)
        diags_add(&n->t->l->loader->diags,
                  launch_diag(n->t->l, DIAG_NOT_SIMULATED, it->line, it->value->column),
                  "%s: %.40s is not simulated (lora and full fine-tuning are)", it->key,
                  it->value->text);
    else
        launch_unresolved_item(n->t, "/training/lora/rank", it, "scheme");
}
