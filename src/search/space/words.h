/* Values of the fields of a space as people write them: --fix, --allow, and reports. */
#ifndef SEARCH_SPACE_WORDS_H
#define SEARCH_SPACE_WORDS_H

#include "search/space/space.h"

/* "tensor=8" or "tensor=4,8,16..32": the values that a field may have. `fix` takes one
 * value alone. Errors go to diags; so does a field that is fixed twice differently. */
int space_allow(struct space *s, struct arena *arena, struct diags *diags,
                const char *option, const char *text, bool fix);

/* Fills the values of one field, or of every field that has none yet, with those worth
 * trying; stacks are bits of rows of space_stacks. */
void space_default(struct space *s, struct arena *arena, enum space_field f,
                   uint32_t stacks);
void space_defaults(struct space *s, struct arena *arena, uint32_t stacks);

/* A value as it is written, into buf; yields buf. */
char *space_value_text(const struct space *s, enum space_field f, int64_t v, char *buf,
                       size_t size);

#endif
