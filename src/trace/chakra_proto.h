/* Messages of Chakra's et_def.proto in protobuf's wire format, each preceded by its
 * length, as its readers expect them. Private to chakra.c. */
#ifndef TRACE_CHAKRA_PROTO_H
#define TRACE_CHAKRA_PROTO_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum chakra_type { /* NodeType */
                   CHAKRA_COMP = 4,
                   CHAKRA_SEND = 5,
                   CHAKRA_RECV = 6,
                   CHAKRA_COLLECTIVE = 7,
};

struct chakra_proto {
    struct strbuf node, attribute;
};

void chakra_proto_init(struct chakra_proto *p);
void chakra_proto_release(struct chakra_proto *p);

/* The message that a file begins with. */
void chakra_write_metadata(struct chakra_proto *p, FILE *out);

/* A node is begun, given attributes, and written. */
void chakra_begin(struct chakra_proto *p, uint64_t id, const char *name,
                  enum chakra_type type, int32_t n_deps, const uint64_t *deps,
                  uint64_t duration_us);
void chakra_add_bool(struct chakra_proto *p, const char *name, bool value);
void chakra_add_int32(struct chakra_proto *p, const char *name, int64_t value);
void chakra_add_int64(struct chakra_proto *p, const char *name, int64_t value);
void chakra_add_string(struct chakra_proto *p, const char *name, const char *value);
void chakra_write(struct chakra_proto *p, FILE *out);

#endif
