/* An instance as a file of topologies/instances, which instance_get reads back. */
#ifndef HARDWARE_INSTANCE_WRITE_H
#define HARDWARE_INSTANCE_WRITE_H

#include "base/strbuf.h"
#include "hardware/instance.h"

/* Appends the JSON. Quantities are written to six digits. */
void instance_write(struct strbuf *out, const struct instance *inst);

#endif
