#include "trace/chakra_proto.h"

#include <string.h>

/* protobuf.dev, "Encoding": numbers in groups of seven bits, the lowest first; a field
 * is its number and how it is written, then its value. */
enum { AS_VARINT = 0, AS_BYTES = 2 };

/* Numbers of fields in et_def.proto. */
enum { METADATA_VERSION = 1 };
enum {
    NODE_ID = 1,
    NODE_NAME = 2,
    NODE_TYPE = 3,
    NODE_DATA_DEPS = 5,
    NODE_DURATION_MICROS = 7,
    NODE_ATTR = 10,
};
enum {
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_INT32 = 7,
    ATTRIBUTE_INT64 = 9,
    ATTRIBUTE_BOOL = 27,
    ATTRIBUTE_STRING = 29,
};

static void add_varint(struct strbuf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        strbuf_addch(b, (char)(v | 0x80));
    strbuf_addch(b, (char)v);
}

static int32_t varint_length(uint64_t v)
{
    int32_t n = 1;
    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

static void add_number(struct strbuf *b, int field, uint64_t v)
{
    add_varint(b, (uint64_t)(field << 3 | AS_VARINT));
    add_varint(b, v);
}

static void add_bytes(struct strbuf *b, int field, const char *s, size_t n)
{
    add_varint(b, (uint64_t)(field << 3 | AS_BYTES));
    add_varint(b, n);
    strbuf_add(b, s, n);
}

static void write_delimited(struct strbuf *b, FILE *out)
{
    char length[10];
    size_t n = 0;
    uint64_t v = b->len;
    for (; v >= 0x80; v >>= 7)
        length[n++] = (char)(v | 0x80);
    length[n++] = (char)v;
    fwrite(length, 1, n, out);
    fwrite(strbuf_get(b), 1, b->len, out);
    b->len = 0;
}

void chakra_proto_init(struct chakra_proto *p)
{
    strbuf_init(&p->node);
    strbuf_init(&p->attribute);
}

void chakra_proto_release(struct chakra_proto *p)
{
    strbuf_release(&p->node);
    strbuf_release(&p->attribute);
}

void chakra_write_metadata(struct chakra_proto *p, FILE *out)
{
    static const char version[] = "0.0.4"; /* of the schema */
    add_bytes(&p->node, METADATA_VERSION, version, strlen(version));
    write_delimited(&p->node, out);
}

void chakra_begin(struct chakra_proto *p, uint64_t id, const char *name,
                  enum chakra_type type, int32_t n_deps, const uint64_t *deps,
                  uint64_t duration_us)
{
    struct strbuf *b = &p->node;
    int32_t packed = 0;
    add_number(b, NODE_ID, id);
    add_bytes(b, NODE_NAME, name, strlen(name));
    add_number(b, NODE_TYPE, type);
    for (int32_t i = 0; i < n_deps; i++)
        packed += varint_length(deps[i]);
    if (n_deps > 0) {
        add_varint(b, NODE_DATA_DEPS << 3 | AS_BYTES);
        add_varint(b, (uint64_t)packed);
    }
    for (int32_t i = 0; i < n_deps; i++)
        add_varint(b, deps[i]);
    if (duration_us > 0)
        add_number(b, NODE_DURATION_MICROS, duration_us);
}

static void begin_attribute(struct chakra_proto *p, const char *name)
{
    p->attribute.len = 0;
    add_bytes(&p->attribute, ATTRIBUTE_NAME, name, strlen(name));
}

static void end_attribute(struct chakra_proto *p)
{
    add_bytes(&p->node, NODE_ATTR, strbuf_get(&p->attribute), p->attribute.len);
}

static void add_attribute(struct chakra_proto *p, const char *name, int field,
                          uint64_t value)
{
    begin_attribute(p, name);
    add_number(&p->attribute, field, value);
    end_attribute(p);
}

void chakra_add_bool(struct chakra_proto *p, const char *name, bool value)
{
    add_attribute(p, name, ATTRIBUTE_BOOL, value);
}

void chakra_add_int32(struct chakra_proto *p, const char *name, int64_t value)
{
    add_attribute(p, name, ATTRIBUTE_INT32, (uint64_t)value);
}

void chakra_add_int64(struct chakra_proto *p, const char *name, int64_t value)
{
    add_attribute(p, name, ATTRIBUTE_INT64, (uint64_t)value);
}

void chakra_add_string(struct chakra_proto *p, const char *name, const char *value)
{
    begin_attribute(p, name);
    add_bytes(&p->attribute, ATTRIBUTE_STRING, value, strlen(value));
    end_attribute(p);
}

void chakra_write(struct chakra_proto *p, FILE *out)
{
    write_delimited(&p->node, out);
}
