/* YAML as values with lines and columns, read by libfyaml.
 *
 * Plain scalars are what PyYAML makes of them (YAML 1.1: yes, no, on and off too), but
 * for 1e-5, which is a number here, and 1:30, which is text. Anchors, aliases and merge
 * keys (<<) are resolved; what an alias represents is copied, and all values count. A
 * tag but YAML's own gives a value that is not known. A key twice in one mapping is an
 * error, which PyYAML would let pass.
 *
 * Interpolations as OmegaConf has them (${model.hidden_size}, ${.lr}, ${oc.env:N,1})
 * are resolved by yaml_interpolate. */
#ifndef DIALECT_SOURCE_YAML_H
#define DIALECT_SOURCE_YAML_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "dialect/source/value.h"

enum {
    YAML_TEXT_MAX_B = 1 << 20,
    YAML_VALUES_MAX = 1 << 16, /* with the copies that aliases make */
    YAML_KEYS_MAX = 2000,      /* of one mapping */
    YAML_DEPTH_MAX = 60,       /* of values in each other */
    YAML_DOCUMENTS_MAX = 200,
    YAML_STRING_MAX = 1 << 16, /* bytes of a string that interpolation makes */
};

struct yaml {
    struct arena *arena;
    int64_t left;                  /* of YAML_VALUES_MAX */
    VEC(struct value *) documents; /* their roots, in order */
    VEC(struct value_note) notes;
};

/* Reads a stream of documents, UTF-8 text of len bytes; an empty one has none. -1 after
 * an error with its place. */
int yaml_read(struct yaml *y, struct arena *arena, const char *text, size_t len,
              struct err *err);
void yaml_release(struct yaml *y);

/* Replaces interpolations in a document: by the value of the key that they name, an
 * environment variable's default (with a note), multiply and add of numbers; others
 * become values that are not known. */
void yaml_interpolate(struct yaml *y, struct value *root);

/* What a plain scalar means: null, a Boolean, a number or text. */
struct value *yaml_plain(struct arena *arena, const char *text, int64_t line,
                         int64_t column);

#endif
