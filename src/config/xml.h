/* Small XML files as trees of elements: a thin wrapper of expat.
 *
 * Elements and attributes alone: text between tags, comments and processing
 * instructions are skipped. A DOCTYPE is refused, so nothing expands and nothing is
 * fetched. Files are UTF-8. Memory lives in the loader. Errors are reported there as
 * "file:line:column: what"; reading stops at the first. O(bytes). */
#ifndef CONFIG_XML_H
#define CONFIG_XML_H

#include "config/cfg.h"

enum {
    XML_BYTES_MAX = 4 << 20,
    XML_ELEMENTS_MAX = 1 << 14, /* NCCL's own limit is 640 below one element */
    XML_DEPTH_MAX = 64,
    XML_ATTRIBUTES_MAX = 32, /* of one element; NCCL writes at most 16 */
    XML_VALUE_MAX = 1024,    /* bytes of one attribute; NCCL takes 255 */
};

struct xml_attribute {
    const char *name, *value;
};

struct xml_doc;

struct xml_element {
    const char *name;
    int32_t n_attributes;
    const struct xml_attribute *attributes;
    const struct xml_doc *doc;
    size_t offset;                           /* of its '<' in the text */
    struct xml_element *parent;              /* NULL: the root */
    struct xml_element *first, *last, *next; /* children; the next sibling */
};

/* The root element, or NULL after reporting. */
struct xml_element *xml_load(struct cfg_loader *loader, const char *file);

/* The value of an attribute, or NULL. */
const char *xml_attribute(const struct xml_element *e, const char *name);

bool xml_is(const struct xml_element *e, const char *name);

/* Reports at an element; returns -1. */
int xml_error(const struct xml_element *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A whole number in decimal, or in hexadecimal after 0x, within min..max. An absent
 * attribute, or one that is no such number, is reported; then -1. */
int xml_int(const struct xml_element *e, const char *name, int64_t *v, int64_t min,
            int64_t max);

#endif
