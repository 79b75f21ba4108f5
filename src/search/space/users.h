/* Which libraries, and which degrees of them, the users of a model have. A script of the
 * Hugging Face Trainer runs what the Trainer drives; pretraining scripts have the rest,
 * for the models that they know. Of a library that the user names, what any script of it
 * does with the model counts as theirs. Plans of other
 * libraries are searched too, and listed apart (search/plan/order.h). */
#ifndef SEARCH_SPACE_USERS_H
#define SEARCH_SPACE_USERS_H

#include "search/space/space.h"

enum space_script { SPACE_SCRIPT_PRETRAINING, SPACE_SCRIPT_TRAINER };

/* By what a job of that model and task is trained where nothing else is known: the
 * Trainer where an encoder or a pair of stacks is trained without a task, or for
 * questions or classes, and where adapters are trained (PEFT). `task` NULL: none. */
enum space_script space_users_script(const struct model *m, const char *task,
                                     bool adapters);

/* Whether the users of the space's model can run that point. */
bool space_users_can(const struct space *s, const struct space_point *p);

/* Why not, as a clause: "the Hugging Face Trainer does not run megatron". */
const char *space_users_why(const struct space *s, const struct space_point *p,
                            char *buf, size_t size);

#endif
