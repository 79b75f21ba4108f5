/* PEFT's words, and bitsandbytes' next to them, as scripts, TRL, axolotl
 * and LLaMA-Factory write them: low-rank adapters and quantised weights. */
#ifndef DIALECT_PEFT_PEFT_H
#define DIALECT_PEFT_PEFT_H

#include "dialect/option.h"

extern const struct dialect_option peft_rows[];

#endif
