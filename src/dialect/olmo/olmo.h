/* OLMo's configuration (YAML), of a file or of `scripts/train.py FILE --key.key=value`.
 *
 * Keys and defaults: olmo/config.py (allenai/OLMo of 2025-09, 59a53e3). */
#ifndef DIALECT_OLMO_OLMO_H
#define DIALECT_OLMO_OLMO_H

#include "dialect/dialect.h"

bool olmo_recognises(const struct dialect_input *in);
void olmo_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table olmo_tables[];

#endif
