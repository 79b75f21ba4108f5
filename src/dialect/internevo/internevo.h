/* InternEvo's configurations: Python files of dictionaries (model, data, parallel), and
 * commands that train by one (train.py --config configs/7B_sft.py).
 *
 * internlm/initialize/launch.py, internlm/model/modeling_{internlm,internlm2,llama}.py
 * and configs/ of InternLM/InternEvo. Names of 2023 (InternLM/InternLM's train.py) are
 * the same. */
#ifndef DIALECT_INTERNEVO_INTERNEVO_H
#define DIALECT_INTERNEVO_INTERNEVO_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

extern const struct dialect_table internevo_tables[];

/* internevo_model.c: the model of "model" and "model_type", from the flat dictionary. */
void internevo_take_model(struct launch_context *t, const struct value *c);

bool internevo_recognises(const struct dialect_input *in);
void internevo_read(struct launch_context *t, const struct dialect_input *in);

#endif
