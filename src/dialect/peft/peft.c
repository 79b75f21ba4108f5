/* PEFT's words: peft/tuners/lora/config.py (PEFT 0.17), transformers' BitsAndBytesConfig,
 * trl/trainer/model_config.py (TRL 0.24), axolotl/utils/schemas/peft.py (axolotl 0.13),
 * llamafactory/hparams/finetuning_args.py (LLaMA-Factory 0.9.4). */
#include "dialect/peft/peft.h"

#include "dialect/launch/launch_context.h"

#include <string.h>

static bool off_full(const struct value *v)
{
    return v->kind == VALUE_NONE ||
           (v->kind == VALUE_STRING && strcmp(v->text, "full") == 0);
}

/* Of weights, 16 and 32 bits are none of bitsandbytes'. */
static bool off_from_16(const struct value *v)
{
    double x;
    return v->kind == VALUE_NONE || (launch_real(v, &x) && x >= 16);
}

/* clang-format off */
const struct dialect_option peft_rows[] = {
    ROW_UNSIMULATED("adapter"), ROW("finetuning_type", NULL, .class = DIALECT_UNSIMULATED, .off = off_full), ROW_UNSIMULATED("use_peft"),
    ROW_UNSIMULATED("use_lora"), ROW_UNSIMULATED("use_qlora"), ROW_UNSIMULATED("lora_enable"), ROW_UNSIMULATED("q_lora"),
    ROW_UNSIMULATED("lora_r"), ROW_UNSIMULATED("lora_rank"), ROW_UNSIMULATED("lora_target_modules"),
    ROW_UNSIMULATED("lora_target_linear"), ROW_UNSIMULATED("lora_target_parameters"), ROW_UNSIMULATED("lora_target"),
    ROW_UNSIMULATED("lora_modules_to_save"), ROW_UNSIMULATED("additional_target"),
    ROW_UNSIMULATED("use_dora"), ROW_UNSIMULATED("peft_use_dora"), ROW_UNSIMULATED("peft_layers_*"),
    ROW_UNSIMULATED("load_in_4bit"), ROW_UNSIMULATED("load_in_8bit"), ROW_UNSIMULATED("use_4bit"),
    ROW_UNSIMULATED("use_8bit"), ROW("bits", NULL, .class = DIALECT_UNSIMULATED, .off = off_from_16), ROW_UNSIMULATED("quantization_bit"),
    ROW_UNSIMULATED("quantization_method"), ROW_UNSIMULATED("double_quantization"), ROW_UNSIMULATED("use_bnb_nested_quant"),
    ROW_UNSIMULATED("double_quant"), ROW_UNSIMULATED("bnb_*"), ROW_UNSIMULATED("quant_type"),
    ROW_UNSIMULATED("use_nested_quant"), ROW_UNSIMULATED("pissa_*"), ROW_UNSIMULATED("oft_*"),
    ROW_IDLE("lora_alpha"), ROW_IDLE("lora_dropout"), ROW_IDLE("lora_bias"), ROW_IDLE("lora_task_type"),
    ROW_IDLE("lora_weight_path"), ROW_IDLE("lora_fan_in_fan_out"), ROW_IDLE("lora_model_dir"), ROW_IDLE("lora_on_cpu"),
    ROW_IDLE("use_rslora"), ROW_IDLE("peft_use_rslora"), ROW_IDLE("lora_init*"), ROW_IDLE("peft_init*"),
    ROW_IDLE("loraplus_*"), ROW_IDLE("peft_autocast*"), ROW_IDLE("adapter_name_or_path"), ROW_IDLE("create_new_adapter"),
    ROW_END,
};
/* clang-format on */
