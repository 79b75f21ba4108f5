/* torchtitan's configuration in TOML (torchtitan/config/job_config.py, v0.1 to v0.2;
 * torchtitan/config_manager.py of 2024 for the older names). */
#ifndef DIALECT_TORCHTITAN_TORCHTITAN_H
#define DIALECT_TORCHTITAN_TORCHTITAN_H

#include "dialect/dialect.h"

extern const struct dialect_table torchtitan_tables[];

bool torchtitan_recognises(const struct dialect_input *in);
void torchtitan_read(struct launch_context *t, const struct dialect_input *in);

#endif
