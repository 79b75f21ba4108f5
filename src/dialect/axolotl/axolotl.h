/* axolotl's configuration (YAML): its own words, PEFT's and the Trainer's.
 *
 * Keys and defaults: axolotl/utils/schemas (axolotl 0.18). */
#ifndef DIALECT_AXOLOTL_AXOLOTL_H
#define DIALECT_AXOLOTL_AXOLOTL_H

#include "dialect/dialect.h"

bool axolotl_recognises(const struct dialect_input *in);
void axolotl_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table axolotl_tables[];

#endif
