/* nanoGPT: its train.py, the files of config/ that it executes, and commands that start
 * it: `torchrun --nproc_per_node=8 train.py config/train_gpt2.py --batch_size=12`. Names
 * of the text's own, each a number or a word; the last that is given goes.
 *
 * train.py, configurator.py and model.py (karpathy/nanoGPT, 3adf61e of 2025-11). */
#ifndef DIALECT_NANOGPT_NANOGPT_H
#define DIALECT_NANOGPT_NANOGPT_H

#include "dialect/dialect.h"

bool nanogpt_recognises(const struct dialect_input *in);
void nanogpt_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table nanogpt_tables[];

/* nanogpt_optimizer.c: asks for the optimizer of a copy whose text, or the model.py next to
 * it, makes another than AdamW; false: it makes none. */
bool nanogpt_ask_optimizer(struct launch_context *t, const char *text, int64_t line);

#endif
