/* What a file says that its family has no row for: what makes another model of it is
 * refused, what may is warned of, and what makes none is let be. */
#include "model/families/families.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

/* Words that change layers or add parts, where the family has no row for them: what they
 * say, unless it is `plain` (NULL: false, null, 0 or nothing). */
static const char EXPERTS[] = "experts", QK_NORMS[] = "norms of queries and keys",
                  CAUSAL[] = "layers that attend to words before them alone",
                  CROSSING[] = "sublayers of attention to another stack",
                  POSITIONS[] = "positions of that kind",
                  DRAFTS[] = "drafts of words from another model's layers";
static const struct {
    const char *key, *plain, *why;
} changes[] = {
    { "position_embedding_type", "absolute", POSITIONS },
    { "feed_forward_type", "original", "MLPs of that kind" },
    { "qk_layernorm", NULL, QK_NORMS },
    { "qk_norm", NULL, QK_NORMS },
    { "use_qk_norm", NULL, QK_NORMS },
    { "attn_config/qk_ln", NULL, QK_NORMS },
    { "attn_config/qk_gn", NULL, QK_NORMS },
    { "ffn_config/moe_num_experts", NULL, EXPERTS },
    { "num_experts", NULL, EXPERTS },
    { "num_local_experts", NULL, EXPERTS },
    { "n_routed_experts", NULL, EXPERTS },
    { "moe_num_experts", NULL, EXPERTS },
    { "is_decoder", NULL, CAUSAL },
    { "add_cross_attention", NULL, CROSSING },
    { "chronos_config/input_patch_size", NULL, "patches of series" },
    { "lora_adaptations", NULL, "adapters of tasks within the model" },
    { "visual", NULL, "parts that read pictures" },
    { "vision_config", NULL, "parts that read pictures" },
    { "vision_tower", NULL, "parts that read pictures" },
    { "mm_vision_tower", NULL, "parts that read pictures" },
    { "audio_config", NULL, "parts that read sounds" },
    { "audio", NULL, "parts that read sounds" },
    { "num_kv_shared_layers", NULL, "layers that take keys and values of others" },
    { "altup_num_inputs", NULL, "several residual streams" },
    { "kv_lora_rank", NULL, "latent keys and values" },
    { "block_configs", NULL, "layers that differ" },
    { "draft_vocab_size", NULL, DRAFTS }, /* EAGLE-3 */
    { "eagle_config", NULL, DRAFTS },
    { "dflash_config", NULL, DRAFTS },
    { "num_target_layers", NULL, DRAFTS },
    { "pruned_heads", NULL, "heads that are cut out of layers" },
};

/* Words that change no weights and no shapes, or that others read: how the model is
 * loaded, makes text, or starts; "*" is any letters. */
static const char *const harmless[] = {
    "_*",
    "*_id",
    "*_ids",
    "*_token",
    "*_token_index",
    "*_eps",
    "*_epsilon",
    "*_version",
    "*_init",
    "*_init_*",
    "*initializer*",
    "*_std",
    "*_gain",
    "*_multiplier",
    "*_scale",
    "*_scaling",
    "*_scaling_*",
    "*_coef",
    "*_coef*",
    "*rope*",
    "*rotary*",
    "*theta*",
    "*rotate*",
    "partial_rotary_factor",
    "*dtype*",
    "*_map",
    "*_plan",
    "*dropout*",
    "*_pdrop*",
    "*dropout",
    "*_dropout_*",
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "auto_map",
    "quantization_config", /* warned of */
    "compression_config",
    "use_cache",
    "task_*",
    "finetuning_task",
    "output_*",
    "return_dict*",
    "gradient_checkpointing*",
    "pretraining_tp",
    "tp_plan",
    "*_attn_implementation",
    "attn_implementation",
    "use_flash_attn*",
    "use_memory_efficient_attention",
    "flash_attn*",
    "*_softcapping",
    "query_pre_attn_scalar",
    "max_position_embeddings",
    "max_seq_len",
    "max_length",
    "min_length",
    "num_beam*",
    "pooler_*",
    "directionality",
    "static_position_embeddings",
    "extra_pos_embeddings",
    "encoder_stride",
    "length_penalty",
    "no_repeat_ngram_size",
    "early_stopping",
    "do_sample",
    "temperature",
    "top_k",
    "top_p",
    "repetition_penalty",
    "prefix",
    "suffix",
    "tokenizer_class",
    "name_or_path",
    "chronos_config",
    "is_encoder_decoder",
    "is_llama_config",
    "decoder_start*",
    "forced_*",
    "classifier_*",
    "summary_*",
    "vocab_size",
    "hidden_act*",
    "activation_function",
    "mscale*",
    "seq_length",
    "n_ctx",
    "n_positions",
    "model_max_length",
    "*window*",
    "layer_types",
    "norm_topk_prob",
    "*topk_method",
    "scoring_func",
    "*aux_loss*",
    "*_loss*",
    "router_*",
    "*z_loss*",
    "routed_scaling_factor",
    "ep_size",
    "pad_*",
    "scale_*",
    "residual_*",
    "logits_*",
    "logit_*",
    "attention_multiplier",
    "embedding_multiplier",
    "mup_*",
    "dim_model_base",
    "clip_qkv",
    "attention_softmax_*",
    "apply_*",
    "bias_dropout_fusion",
    "layernorm_*",
    "rmsnorm",
    "original_*",
    "gated_repr_*",
    "inference_*",
    "keys_to_ignore*",
    "torchscript",
    "use_bfloat16",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "n_special",
    "predict_special_tokens",
    "skip_*",
    "sep_*",
    "remove_*",
    "typical_p",
    "diversity_penalty",
    "encoder_no_repeat*",
    "bad_words_ids",
    "num_return_sequences",
    "exponential_decay*",
    "begin_suppress*",
    "suppress_tokens",
    "tf_*",
    "encoder_layerdrop",
    "decoder_layerdrop",
    "layerdrop",
    "normalize_*",
    "image_*",
    "video_*",
    "patch_*",
    "spatial_*",
    "transformers_weights",
    "unsloth_*",
    "freq_*",
    "use_sliding_window",
    "max_window_layers",
    "use_mrope",
    "sliding_window_pattern",
    "is_causal",
    "init_*",
    "verbose",
    "reference_compile",
    "mask_*",
    "masked_*",
    "apply_spec_augment",
    "median_filter_width",
    "num_mel_bins",
    "max_source_positions",
    "max_target_positions",
    "*_layers_block_type",
    "cache_implementation",
    "tie_encoder_decoder",
    "adapter_*",
    "neftune*",
    "no_*_layer*",
    "use_return_dict",
    "tie_word_embeddings",
    "model_type",
    "relative_attention_max_distance",
    "architectures",
    "text_config",
    "torch_*",
    "time_*",
    "num_logits_to_keep",
    "*_kernels",
    "n_group",
    "topk_group",
    "score_function",
    "norm_head",
    "norm_softmax",
    "mamba_d_head",
    "mamba_norm_before_gate",
    "mamba_use_mlp",
    "mlp_expansion_factor",
    "mlp_multipliers",
    "ssm_multipliers",
    "normalization_function",
    "norm_before_gate",
    "is_composition",
    "in_channels",
    "out_*",
    "stage_names",
    "reshape_hidden_states",
    "seq_aux",
    "use_rmsnorm",
    "learned_embeddings",
    "*_noise",
    "block_use_*",
    "num_heads",
    "block_dim",
    "conv_dim*",
    "use_pos_enc",
    "expand",
    "mamba_hidden_act",
    "rescale_*",
    "attn_output_gate",
    "post_layer_norm",
    "default_output_length",
    "standardize",
};

static bool has_row(const struct family *family, const char *key)
{
    for (const struct family_field *f = family->fields; f->key; f++) {
        size_t n = strcspn(f->key, "/");
        bool part = f->key[n] == '/' && strlen(key) == n && !strncmp(f->key, key, n);
        if (part || !strcmp(f->key, key) || (f->alias && !strcmp(f->alias, key)))
            return true;
    }
    return false;
}

/* Nothing asked for: null, false, 0, "" or an empty list. */
static bool says_nothing(struct cfg value)
{
    return !cfg_present(value) || json_is_false(value.json) ||
           (json_is_number(value.json) && json_number_value(value.json) == 0) ||
           (cfg_is_string(value) && !*json_string_value(value.json)) ||
           ((cfg_is_array(value) || cfg_is_object(value)) && cfg_len(value) == 0);
}

/* Of a number of experts one is none. */
static bool is_plain(struct cfg value, const char *plain)
{
    if (says_nothing(value) ||
        (json_is_integer(value.json) && !plain && json_integer_value(value.json) == 1))
        return true;
    return plain && cfg_is_string(value) &&
           !strcmp(json_string_value(value.json), plain);
}

/* What the row at hand says, where the family does not read it. */
static int refuse_change(struct cfg root, const struct family *family, int i)
{
    const char *slash = strchr(changes[i].key, '/');
    char outer[64];
    snprintf(outer, sizeof(outer), "%.*s",
             (int)(slash ? slash - changes[i].key : (long)strlen(changes[i].key)),
             changes[i].key);
    struct cfg at = cfg_get(root, outer);
    if (slash)
        at = cfg_is_object(at) ? cfg_get(at, slash + 1) : (struct cfg) { 0 };
    if (has_row(family, changes[i].key) || is_plain(at, changes[i].plain))
        return 0;
    return cfg_error(at, DIAG_NOT_SIMULATED,
                     "%s are not modelled for family \"%s\" (give the config.json of a "
                     "model without, or of the family that has them)",
                     changes[i].why, family->name);
}

static bool is_harmless(const char *key)
{
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (fnmatch(harmless[i], key, 0) == 0)
            return true;
    return false;
}

static bool is_change(const char *key)
{
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        if (strcmp(changes[i].key, key) == 0)
            return true;
    return false;
}

/* The format of weights that the file says: a scenario's base says it, not the model. */
static void warn_format(struct cfg root)
{
    static const char *const keys[] = { "quantization_config", "compression_config" };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct cfg at = cfg_get(root, keys[i]);
        json_t *method =
            cfg_is_object(at) ? json_object_get(at.json, "quant_method") : NULL;
        if (!says_nothing(at))
            cfg_warn(
                at, DIAG_NOT_SIMULATED,
                "the weights' format%s%.40s%s is not taken from the file: they are "
                "counted at the training's precision (/training/lora/base says "
                "that of frozen ones)",
                json_is_string(method) ? " (" : "",
                json_is_string(method) ? json_string_value(method) : "",
                json_is_string(method) ? ")" : "");
    }
}

/* The letters and digits of a name, in lower case. */
static void letters_of(char *out, size_t size, const char *name)
{
    size_t n = 0;
    for (; *name && n + 1 < size; name++)
        if (isalnum((unsigned char)*name))
            out[n++] = (char)tolower((unsigned char)*name);
    out[n] = '\0';
}

/* Versions are written in many ways, and do not count. */
static bool is_called(const char *code, const char *family)
{
    char own[64];
    letters_of(own, sizeof(own), family);
    size_t n = strcspn(own, "0123456789");
    return strncmp(code, own, n > 2 ? n : strlen(own)) == 0;
}

/* Code of the file's own whose class is not called as the family, or one of the same
 * words, is. */
static void warn_code(struct cfg root, const struct family *family)
{
    char code[128];
    struct cfg map = cfg_get(root, "auto_map");
    struct cfg at = cfg_is_object(map) ? cfg_get(map, "AutoModelForCausalLM") : map;
    if (cfg_is_object(map) && !cfg_present(at))
        at = cfg_get(map, "AutoModel");
    if (!cfg_is_string(at))
        return;
    const char *text = json_string_value(at.json), *dot = strrchr(text, '.');
    bool known = false;
    letters_of(code, sizeof(code), dot ? dot + 1 : text);
    for (const struct family *f = NULL; (f = family_next(f)) != NULL;)
        known |= f->fields == family->fields && is_called(code, f->name);
    if (!known)
        cfg_warn(at, DIAG_INFERRED,
                 "\"%.80s\" is code of the model's own, which is not read: layers are "
                 "those of family \"%s\"",
                 text, family->name);
}

/* Positions by rotation, which those of a rotary family are. */
static bool says_rotary(struct cfg root)
{
    struct cfg at = cfg_get(root, "position_embedding_type");
    const char *word = cfg_is_string(at) ? json_string_value(at.json) : "";
    return strcmp(word, "rope") == 0 || strcmp(word, "rotary") == 0;
}

/* An activation that no list has, which may be a slip or code of the model's own. */
static void warn_activation(struct cfg root, const struct family *family)
{
    for (const struct family_field *f = family->fields; f->key; f++) {
        struct cfg at = cfg_get(root, f->key);
        if (f->type == FAMILY_STRING &&
            f->at == offsetof(struct family_raw, activation) && cfg_is_string(at) &&
            !families_knows_activation(json_string_value(at.json)))
            cfg_warn(at, DIAG_ASSUMED,
                     "\"%.60s\" is not known: an activation of one kernel is counted",
                     json_string_value(at.json));
    }
}

int families_unread(struct cfg root, const struct family *family, const struct model *m)
{
    struct strbuf words;
    int n = 0;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        if (!(m->mlp.experts > 0 && changes[i].why == EXPERTS) &&
            !(m->attention.q_norm > 0 && changes[i].why == QK_NORMS) &&
            !(m->arch != MODEL_ENCODER && changes[i].why == CAUSAL) &&
            !(m->crosses && changes[i].why == CROSSING) &&
            !(m->attention.rotary && changes[i].why == POSITIONS &&
              says_rotary(root)) &&
            refuse_change(root, family, (int)i) < 0)
            return -1;
    warn_format(root);
    warn_code(root, family);
    warn_activation(root, family);
    const char *latent = m->attention.latent_kv > 0 ? "num_key_value_heads" : "";
    strbuf_init(&words);
    for (void *it = cfg_first(root); it; it = cfg_next(root, it))
        if (!has_row(family, cfg_key(it)) && !is_harmless(cfg_key(it)) &&
            !is_change(cfg_key(it)) && strcmp(cfg_key(it), latent) != 0 &&
            !says_nothing(cfg_member(root, it)))
            strbuf_printf(&words, "%s%s", n++ ? ", " : "", cfg_key(it));
    if (n > 0)
        cfg_warn(root, DIAG_NOT_SIMULATED,
                 "not read, and may make another model of it than family \"%s\": %s",
                 family->name, strbuf_get(&words));
    strbuf_release(&words);
    return 0;
}
