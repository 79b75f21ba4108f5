/* PEFT's words: peft/tuners/lora/config.py (PEFT 0.17), transformers' BitsAndBytesConfig
 * (4.57), trl/trainer/model_config.py (TRL 0.24), axolotl/utils/schemas/peft.py (axolotl
 * 0.13), llamafactory/hparams/finetuning_args.py (LLaMA-Factory 0.9.4),
 * examples/sft/train.py of PEFT, llama-recipes' configs/training.py, artidoro/qlora's
 * qlora.py, FastChat's train_lora.py. */
#include "dialect/peft/peft.h"

#include <string.h>

static bool off_full(const struct value *v)
{
    return launch_is_off(v) ||
           (v->kind == VALUE_STRING && strcmp(v->text, "full") == 0);
}

/* Of weights, 16 and 32 bits are none of bitsandbytes'. */
static bool off_from_16(const struct value *v)
{
    double x;
    return launch_is_off(v) || (launch_real(v, &x) && x >= 16);
}

/* clang-format off */
#define ASKS(NAME)    ROW(NAME, PEFT_LORA, .kind = DIALECT_SWITCH)
#define ASKS_4(NAME)  ROW(NAME, PEFT_LORA, .kind = DIALECT_SWITCH, .value = "nf4")
#define METHOD(NAME)  ROW(NAME, PEFT_LORA, .kind = DIALECT_TEXT, .off = off_full)
#define BITS_4(NAME)  ROW(NAME, PEFT_BASE, .kind = DIALECT_SWITCH, .value = "nf4")
#define BITS_8(NAME)  ROW(NAME, PEFT_BASE, .kind = DIALECT_SWITCH, .value = "int8")
#define BITS(NAME)    ROW(NAME, PEFT_BASE, .kind = DIALECT_WHOLE, .off = off_from_16)
const struct dialect_option peft_rows[] = {
    METHOD("adapter"), METHOD("finetuning_type"), METHOD("peft_method"), METHOD("peft_type"), METHOD("tuner_type"),
    METHOD("train_type"), METHOD("sft_type"), METHOD("tuning_type"), METHOD("tuning_mode"), METHOD("finetune_method"), METHOD("tune_type_llm"),
    ROW("use_peft", PEFT_LORA, .kind = DIALECT_SWITCH, .give = peft_give_use), ASKS("use_lora"), ASKS("use_peft_lora"), ASKS("lora_enable"), ASKS("enable_lora"), ASKS("with_lora"),
    ASKS("lora"), ASKS("peft"), ASKS("use_adapter"), ASKS("lora_training"),
    ASKS_4("use_qlora"), ASKS_4("q_lora"), ASKS_4("qlora"),
    ROW("lora_r", PEFT_RANK, .give = peft_give_rank), ROW_ACTS("lora_rank", PEFT_RANK), ROW_ACTS("peft_lora_r", PEFT_RANK), ROW_ACTS("lora_dim", PEFT_RANK), ROW_ACTS("use_llm_lora", PEFT_RANK),
    ROW_ACTS("lora_alpha", PEFT_ALPHA), ROW_ACTS("peft_lora_alpha", PEFT_ALPHA),
    ROW("lora_dropout", PEFT_DROPOUT, .give = peft_give_dropout), ROW_ACTS("lora_droppout", PEFT_DROPOUT),
    ROW_ACTS("lora_target_linear", NULL), ROW("lora_target_modules", PEFT_TARGETS, .give = peft_give_targets), ROW_ACTS("lora_target", PEFT_TARGETS),
    ROW_ACTS("lora_modules", PEFT_TARGETS), ROW_ACTS("target_modules", PEFT_TARGETS), ROW_ACTS("trainable", PEFT_TARGETS),
    ROW("lora_modules_to_save", PEFT_TRAINED, .give = peft_give_trained), ROW_ACTS("modules_to_save", PEFT_TRAINED), ROW_ACTS("additional_target", PEFT_TRAINED),
    ROW("load_in_4bit", PEFT_BASE, .kind = DIALECT_SWITCH, .value = "nf4", .give = peft_give_4bit), BITS_4("use_4bit"), BITS_4("use_4bit_quantization"), BITS_4("load_4bit"), BITS_4("use_int4_training"),
    ROW("load_in_8bit", PEFT_BASE, .kind = DIALECT_SWITCH, .value = "int8", .give = peft_give_8bit), BITS_8("use_8bit"), BITS_8("use_8bit_quantization"), BITS_8("load_8bit"), BITS_8("use_int8_training"),
    BITS("bits"), BITS("quantization_bit"), BITS("quant_bits"), BITS("bnb_bits"), BITS("quantization"),
    ROW("bnb_4bit_use_double_quant", PEFT_DOUBLE, .give = peft_give_double), ROW_ACTS("use_bnb_nested_quant", PEFT_DOUBLE), ROW_ACTS("use_nested_quant", PEFT_DOUBLE),
    ROW_ACTS("double_quantization", PEFT_DOUBLE), ROW_ACTS("double_quant", PEFT_DOUBLE), ROW_ACTS("use_double_quant", PEFT_DOUBLE),
    ROW_ACTS("bnb_config_kwargs", PEFT_DOUBLE),
    ROW_UNSIMULATED("use_dora"), ROW_UNSIMULATED("peft_use_dora"), ROW_UNSIMULATED("pissa_*"), ROW_UNSIMULATED("oft_*"),
    ROW_UNSIMULATED("peft_layers_*"), ROW_UNSIMULATED("layers_to_transform"), ROW_UNSIMULATED("layers_pattern"),
    ROW_UNSIMULATED("peft_layer_replication"), ROW_UNSIMULATED("layer_replication"), ROW_UNSIMULATED("rank_pattern"),
    ROW_UNSIMULATED("lora_rank_pattern"), ROW_UNSIMULATED("lora_layers_to_transform"), ROW_UNSIMULATED("lora_layers_pattern"), ROW_UNSIMULATED("lora_target_parameters"), ROW_UNSIMULATED("target_parameters"),
    ROW_UNSIMULATED("exclude_modules"), ROW_UNSIMULATED("lora_exclude_modules"), ROW_UNSIMULATED("peft_trainable_token_indices"),
    ROW_UNSIMULATED("trainable_token_indices"), ROW_UNSIMULATED("use_lisa"), ROW_UNSIMULATED("use_backbone_lora"),
    ROW_IDLE("lora_bias"), ROW_IDLE("lora_task_type"), ROW_IDLE("lora_weight_path"), ROW_IDLE("lora_fan_in_fan_out"), ROW_IDLE("lora_model_dir"),
    ROW_IDLE("lora_on_cpu"), ROW_IDLE("lora_alpha_pattern"), ROW_IDLE("alpha_pattern"), ROW_IDLE("use_rslora"), ROW_IDLE("peft_use_rslora"),
    ROW_IDLE("lora_init*"), ROW_IDLE("peft_init*"), ROW_IDLE("loraplus_*"), ROW_IDLE("peft_autocast*"), ROW_IDLE("peft_ensure*"),
    ROW_IDLE("adapter_name_or_path"), ROW_IDLE("create_new_adapter"), ROW_IDLE("dequantize"), ROW_UNSIMULATED("use_mxfp4"), ROW_UNSIMULATED("mxfp4"), ROW_UNSIMULATED("use_awq"), ROW_UNSIMULATED("use_gptq"),
    ROW_UNSIMULATED("use_hqq"), ROW_UNSIMULATED("spectrum_*"), ROW_UNSIMULATED("unfrozen_parameters"), ROW_UNSIMULATED("lisa_*"), ROW_IDLE("quantization_method"), ROW_IDLE("quantization_type"),
    ROW_IDLE("quantization_device_map"), ROW_IDLE("quant_type"), ROW_IDLE("bnb_*"), ROW_IDLE("llm_int8_*"), ROW_IDLE("merge_adapters"),
    ROW_IDLE("merge_weights"), ROW_IDLE("merge_lora"), ROW_IDLE("qlora_sharded_model_loading"),
    ROW_END,
};
/* clang-format on */

const struct dialect_option *peft_row(const char *option)
{
    static const struct dialect_table tables[] = {
        { "", peft_rows, DIALECT_UNKNOWN_IDLE },
        { NULL, NULL, DIALECT_UNKNOWN_IDLE },
    };
    return dialect_option_of(tables, "", option);
}
