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

#endif
