/* Lengths by names and of random words. Inside of the folder. */
#ifndef DIALECT_USER_SCRIPT_USER_SCRIPT_LENGTHS_H
#define DIALECT_USER_SCRIPT_USER_SCRIPT_LENGTHS_H

#include "dialect/user_script/user_script.h"

/* How long the samples are of a data set that makes them of torch.randint(0, n, (length,));
 * NULL: there is none. */
const struct value *user_script_random_length(const struct python *p);
/* user_script_lengths_named.c: lengths by usual names, of a text that `cut`s first by those
 * of cuts; of batches of random words; of a prompt and its answer. */
void user_script_take_named_length(struct launch_context *t,
                                   const struct user_script *g, bool cut);
void user_script_take_random_length(struct launch_context *t,
                                    const struct user_script *g);
void user_script_take_both_lengths(struct launch_context *t,
                                   const struct user_script *g);
/* torch.randint(0, words, (8, 1024)): a batch of random words and how long they are; false:
 * there is none, or several differ. */
bool user_script_random_batch(const struct python *p, const struct value **batch,
                              const struct value **length);

#endif
