/* smsim validate --arena: what other simulators predict, next to ours. */
#ifndef CMD_VALIDATE_ARENA_H
#define CMD_VALIDATE_ARENA_H

#include "cmd/options.h"
#include "validation/rivals.h"

/* Of the names, those whose tables some simulator of validate/arena has. */
void arena_keep_known(struct option_list *names);

/* Text of one table where `text`, and its JSON added to the source's. `rival`: a file
 * of the user's, or NULL. row_s: CPU time of a row of ours, 0: not shown. -1 when
 * anything was reported to the loader. */
int arena_table(struct cfg_loader *loader, const struct mapping_run *run,
                const struct summary *ours, const char *rival, double row_s, bool text,
                json_t *source);

/* The claims of publications, as text where `text`. */
json_t *arena_claims(bool text);

#endif
