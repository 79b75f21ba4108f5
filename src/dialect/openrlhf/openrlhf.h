/* Options of OpenRLHF's supervised training, openrlhf.cli.train_sft: DeepSpeed's ZeRO
 * around a model of transformers. Since 2026 options are named by part: --train.batch_size
 * was --train_batch_size. Names, defaults and DeepSpeed's configuration:
 * OpenRLHF/OpenRLHF of 2024 to 2026 (openrlhf/cli/train_sft.py,
 * openrlhf/utils/deepspeed/deepspeed_utils.py, deepspeed.py). */
#ifndef DIALECT_OPENRLHF_OPENRLHF_H
#define DIALECT_OPENRLHF_OPENRLHF_H

#include "dialect/dialect.h"

bool openrlhf_recognises(const struct dialect_input *in);
void openrlhf_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table openrlhf_tables[];

#endif
