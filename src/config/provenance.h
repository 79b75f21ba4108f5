/* Where the numbers of a data file are from, as its key "provenance_kind" says; the text
 * under "provenance" is for people, and nobody else reads it. Of a file whose numbers are
 * of several kinds it names that of most of those which decide times. */
#ifndef CONFIG_PROVENANCE_H
#define CONFIG_PROVENANCE_H

#include "config/cfg.h"

#include <stdbool.h>

enum provenance_kind {
    PROVENANCE_UNKNOWN, /* first: what a file does not say */
    PROVENANCE_INFERRED,
    PROVENANCE_TRANSFERRED, /* from another part, or another release */
    PROVENANCE_DATASHEET,
    PROVENANCE_PUBLISHED, /* in documents of who sells or runs it */
    PROVENANCE_FITTED,    /* to measurements */
    PROVENANCE_MEASURED
};
extern const struct name_value provenance_kind_names[]; /* as written in files */

/* "unknown" too. */
const char *provenance_kind_text(enum provenance_kind kind);

/* Whether the numbers are no better than a guess. */
bool provenance_is_guessed(enum provenance_kind kind);

/* Warns that a file does not say its kind, and what that is taken for. */
void provenance_check(struct cfg file, enum provenance_kind kind);

#define CFG_PROVENANCE(T, m) CFG_ENUM("provenance_kind", T, m, provenance_kind_names)

#endif
