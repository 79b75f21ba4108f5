/* What arguments say of the model next to its name. */
#include "base/names.h"
#include "dialect/trainer/trainer.h"
#include "scenario/attention.h"

#include <string.h>

/* A tower of images before the model, of LLaVA's scripts and their like
 * (haotian-liu/LLaVA, llava/train/train.py): the model's name is that of its language
 * model alone. */
void trainer_take_image_tower(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it)
{
    if (it->value->kind == VALUE_NONE || launch_is_off(it->value))
        return;
    launch_hear(t, it);
    if (it->value->kind == VALUE_STRING && trainer_take_pair(t, row, it))
        return;
    launch_add_unresolved(t, row->pointer, it->value->line,
                          "%s: a tower of images is before the language model, and is "
                          "no part of its name (a config.json with vision_config has "
                          "both)",
                          it->key);
}

/* "rope_theta=8000000,use_cache=false": whether all that is given leaves the model's sizes
 * and its work as they are. */
static bool keeps_sizes(const char *text)
{
    static const char *const idle[] = {
        "rope_theta",
        "use_cache",
        "initializer_range",
        "rms_norm_eps",
        "layer_norm_eps",
        "layer_norm_epsilon",
        "bos_token_id",
        "eos_token_id",
        "pad_token_id",
        "torch_dtype",
        NULL,
    };
    char key[80];
    for (const char *at = text; at && *at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        size_t n = strcspn(at, "=,");
        if (at[n] != '=' || n >= sizeof(key))
            return false;
        memcpy(key, at, n);
        key[n] = '\0';
        if (!names_listed(idle, key))
            return false;
    }
    return true;
}

/* run_clm.py makes a model of other sizes: "n_embd=7168,n_layer=40". */
void trainer_take_overrides(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    if (it->value->kind == VALUE_NONE)
        return;
    launch_hear(t, it);
    if (it->value->kind == VALUE_STRING && keeps_sizes(it->value->text)) {
        launch_note(t->l, it->line, DIAG_LEFT_OUT,
                    "%s: \"%.80s\" changes no product's size", it->key,
                    it->value->text);
        return;
    }
    launch_add_unresolved(t, row->pointer, it->value->line,
                          "%s: sizes of the model are other than its name's (a "
                          "config.json with them would do)",
                          it->key);
}

/* from_pretrained's attn_implementation. */
void trainer_take_attention(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "";
    int word;
    /* kernels of the Hub: "kernels-community/vllm-flash-attn3" */
    if (strncmp(text, "kernels-community/", 18) == 0)
        text = strstr(text, "flash-attn3")  ? "flash_attention_3"
               : strstr(text, "flash-attn") ? "flash_attention_2"
                                            : text;
    if (strcmp(text, "flex_attention") == 0) {
        text = "flash";
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: flex_attention is simulated as flash attention", it->key);
    }
    if (it->value->kind == VALUE_UNKNOWN)
        launch_leave_out(t, it, "");
    else if (names_find(attention_words, text, &word) == 0)
        launch_set(t, row->pointer, json_string(text), it);
    else if (it->value->kind != VALUE_NONE)
        launch_unresolved_item(t, row->pointer, it, "attention that is simulated");
}
