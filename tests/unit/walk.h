/* Every field that a table reads, changed one at a time: what a scenario comes to with
 * each value, and whether any of them says anything. Shared by the tests that walk
 * scenarios and the files they name. */
#ifndef UNIT_WALK_H
#define UNIT_WALK_H

#include "config/cfg.h"

/* What a scenario came to: its numbers as text, and what was said of it. */
struct walk_outcome {
    bool failed;  /* the scenario was refused */
    char *digest; /* of the result's numbers; NULL when it failed */
    json_t *said; /* errors and warnings, as strings */
};

/* One field of a table, found in a document. */
struct walk_field {
    const char *document; /* its name's last part; "" is the scenario */
    const char *pointer;
    const struct cfg_field *table;
    struct cfg_field field;
};

struct walk_fields {
    int n, cap;
    struct walk_field *v;
};

/* What a value of a field did. */
enum walk_effect {
    WALK_NOTHING,
    WALK_ACTS,
    WALK_WARNS,
    WALK_REFUSED, /* and the key is named */
    WALK_UNNAMED, /* refused, but not by name */
};

/* A change of one value in one document that is read on the way. */
struct walk_change {
    const char *document, *pointer;
    json_t *value;
};

/* Simulates a scenario (borrowed) with a change, or none (NULL). `shared` lends what is
 * made of files, and may be NULL. */
void walk_run(struct walk_outcome *out, const json_t *scenario,
              const struct walk_change *change, struct cfg_loader *shared);
void walk_outcome_release(struct walk_outcome *out);

/* All fields of all tables by which a scenario and, with `files`, what it names are
 * read; strings live in the loader's arena. */
void walk_fields_find(struct walk_fields *out, struct cfg_loader *loader,
                      const json_t *scenario, bool files);

/* The value of a field as the loader, by which it was found, has read it, or NULL. */
const json_t *walk_value_of(const struct cfg_loader *loader,
                            const struct walk_field *f);

/* A new array of values to try: of the kind and range of the field, none of them `at`,
 * what is there now (NULL: nothing). `given` is taken instead where it is an array. */
json_t *walk_values(const struct cfg_field *f, const json_t *at, const json_t *given);

/* Whether what is said after a change names the key, and was not said before. */
bool walk_says(const struct walk_outcome *before, const struct walk_outcome *after,
               const char *key);

/* Whether what is said names the object that a pointer's value is in, no section of the
 * whole: "/parallelism/sharding". */
bool walk_blames(const struct walk_outcome *after, const char *pointer);

/* What a change from `before` to `after` says of a key. */
enum walk_effect walk_effect(const struct walk_outcome *before,
                             const struct walk_outcome *after, const char *key);

#endif
