/* DeepSpeed's configuration (ds_config.json), alone or with arguments.
 *
 * Files of this folder:
 *     deepspeed           batches, precision, optimizer
 *     zero_optimization   that section
 *     deepspeed_keys      the keys that no field is made of
 *     ds_config           the file; what is "auto"
 *     emit_deepspeed      a scenario as a configuration
 *
 * What the keys mean, and their defaults: DeepSpeed's "DeepSpeed Configuration JSON"
 * and deepspeed/runtime/zero/config.py. "auto" is for the Hugging Face Trainer to fill
 * in, from its arguments and the model's hidden size
 * (transformers/integrations/deepspeed.py). */
#ifndef DIALECT_DEEPSPEED_DEEPSPEED_H
#define DIALECT_DEEPSPEED_DEEPSPEED_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

bool deepspeed_recognises(const struct dialect_input *in);
void deepspeed_read(struct launch_context *t, const struct dialect_input *in);

/* The file as a value, its lines kept; NULL when it cannot be read, which is reported
 * to the loader. */
struct value *deepspeed_load(struct cfg_loader *loader, const char *file);

/* The same of a text that begins on that line of a file. */
const struct value *deepspeed_parse(struct cfg_loader *loader, const char *file,
                                    const char *text, int64_t line);

/* A configuration of that name: next to the script, in its source_dir there, as the
 * path is; NULL: it is nowhere. */
const char *deepspeed_find(struct launch_context *t, const char *name);

/* Takes from the dictionary what a scenario has of it; the rest is noted, misspelt and
 * impossible values are errors. `prefix` precedes the keys in what is shown. */
void deepspeed_take(struct launch_context *t, const struct value *config,
                    const char *prefix);

/* The same for the Trainer or Accelerate, whose models are transformers'. */
void deepspeed_take_for_trainer(struct launch_context *t, const struct value *config,
                                const char *prefix);

/* The hyperparameter of that name: a file next to the script, or the dictionary. */
void deepspeed_take_file(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it);

/* After all other rows: marks as unresolved what is "auto" and not filled in. */
void deepspeed_unresolved_autos(struct launch_context *t);

/* Sizes that are "auto" are of the model's hidden size, known once --set is through. */
void deepspeed_settle_autos(struct launch *l, struct cfg root);

/* Between the files ---------------------------------------------------------------- */

/* One configuration under way. */
struct deepspeed {
    struct launch_context *t;
    const struct value *root, *zero; /* zero: NULL without one */
    const struct value_item *where;  /* what says the stage */
    const char *prefix;
    bool of_trainer; /* transformers' models: they checkpoint by their own word */
    int64_t stage;
    int width_B; /* of a gradient on the wire */
};

/* The keys of each section; "" is the whole. */
extern const struct dialect_table deepspeed_tables[];

/* Types of optimizers, in any case of letters. */
extern const struct dialect_word deepspeed_optimizers[];

/* Says of each key that is not taken why. */
void deepspeed_check_keys(const struct deepspeed *c);

/* Reports "FILE:LINE: prefix where key: what". */
void deepspeed_wrong(const struct deepspeed *c, const struct value_item *it,
                     const char *where, enum diag_code code, const char *what);

/* The same of a value: "VALUE is what". */
void deepspeed_bad_value(const struct deepspeed *c, const struct value_item *it,
                         const char *where, const char *what);

/* Reports what is neither true nor false (as null is), nor a word or number for it. */
void deepspeed_check_switch(const struct deepspeed *c, const struct value_item *it,
                            const char *where);

bool deepspeed_is_auto(const struct value_item *it);

/* Sets a field, which is shown as of "prefix + key"; what was said before is kept. */
void deepspeed_set(const struct deepspeed *c, const char *pointer, json_t *value,
                   const char *key, const struct value_item *it);

/* A whole number of at least `least`, also as 5e8; false: absent, "auto", or an
 * error. */
bool deepspeed_whole(const struct deepspeed *c, const struct value_item *it,
                     const char *where, int64_t least, int64_t *n);

/* If it is "auto": that the Trainer's argument fills the field in, or the hidden size h
 * as linear h + squared h^2, with that unit. */
void deepspeed_auto(const struct deepspeed *c, const struct value_item *it,
                    struct launch_auto filled);

/* zero_optimization.c: the stage before, the rest after the precision. */
int64_t deepspeed_stage(const struct deepspeed *c);
void deepspeed_take_zero(const struct deepspeed *c);

/* emit_deepspeed.c: what rows write that no field says alone. */
json_t *deepspeed_give_accumulation(const struct scenario *s);
json_t *deepspeed_give_clipping(const struct scenario *s);
json_t *deepspeed_give_stage(const struct scenario *s);
json_t *deepspeed_give_overlap(const struct scenario *s);
json_t *deepspeed_give_bucket(const struct scenario *s);
json_t *deepspeed_give_mics(const struct scenario *s);
json_t *deepspeed_give_hierarchical(const struct scenario *s);
json_t *deepspeed_give_fp16(const struct scenario *s);
json_t *deepspeed_give_bf16(const struct scenario *s);
json_t *deepspeed_give_amp(const struct scenario *s);
json_t *deepspeed_give_autocast(const struct scenario *s);
json_t *deepspeed_give_states(const struct scenario *s);
json_t *deepspeed_give_params(const struct scenario *s);

#endif
