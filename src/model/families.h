/* Families of models (model_type of a Hugging Face config.json): what their files call
 * each size, and what their design fixes. Private to src/model/. */
#ifndef MODEL_FAMILIES_H
#define MODEL_FAMILIES_H

#include "model/model.h"

enum family_type {
    FAMILY_INT,
    FAMILY_BOOL,
    FAMILY_PROBABILITY, /* the member is a bool: above 0 */
    FAMILY_STRING,
};

/* A model while it is read, with the words that only its family understands. */
struct family_raw {
    struct model m;
    bool multi_query, new_decoder, alibi, bias; /* falcon */
    const char *feed_forward;                   /* T5 */
    const char *activation;                     /* NULL: not said */
};

struct family_field {
    const char *key, *alias; /* another name that Hugging Face reads; or NULL */
    enum family_type type;
    size_t at; /* in struct family_raw */
    bool required;
    int64_t min, max;
};

struct family {
    const char *name;
    struct family_raw usual;                /* what a file leaves unsaid */
    const struct family_field *fields;      /* ended by a NULL key */
    void (*finish)(struct family_raw *raw); /* NULL: nothing to derive */
};

/* The activation of that name; one kernel where the name is no other. */
enum model_activation families_activation(const char *word);

extern const struct family families[]; /* ended by a NULL name */

#endif
