/* ms-swift's arguments: options of `swift sft` and `swift pt`, or the document that they
 * name. Keys and defaults: modelscope/ms-swift of 2026-08 (swift/arguments, swift/cli/main.py,
 * swift/config, swift/trainers/arguments.py); words of its versions 2 and 3, too. */
#ifndef DIALECT_SWIFT_SWIFT_H
#define DIALECT_SWIFT_SWIFT_H

#include "dialect/dialect.h"

bool swift_recognises(const struct dialect_input *in);
void swift_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table swift_tables[];

#endif
