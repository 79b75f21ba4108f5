/* XTuner's configurations in Python, and commands that name one ("xtuner train FILE
 * --deepspeed deepspeed_zero2"): mmengine's dictionaries of a runner, gathered as the
 * Trainer's words, whose rows read them. */
#ifndef DIALECT_XTUNER_XTUNER_H
#define DIALECT_XTUNER_XTUNER_H

#include "dialect/dialect.h"

bool xtuner_recognises(const struct dialect_input *in);
void xtuner_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table xtuner_tables[];

#endif
