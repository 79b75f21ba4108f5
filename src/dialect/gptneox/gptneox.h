/* gpt-neox's configurations (YAML): one of them, or those that
 * `python deepy.py train.py -d configs 125M.yml local_setup.yml` joins.
 *
 * Keys and defaults: megatron/neox_arguments/neox_args.py, arguments.py and
 * deepspeed_args.py (EleutherAI/gpt-neox of 2026-05, ea7aefd). Keys are written with "-"
 * or "_". DeepSpeed's own sections are among them.
 *
 * Files of this folder:
 *     gptneox        what it is; degrees, batches, precision, recomputation
 *     gptneox_model  the model's sizes and choices
 *     gptneox_keys   the rows
 *     gptneox_files  the files of a command, joined */
#ifndef DIALECT_GPTNEOX_GPTNEOX_H
#define DIALECT_GPTNEOX_GPTNEOX_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

bool gptneox_recognises(const struct dialect_input *in);
void gptneox_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table gptneox_tables[];

/* Between the files ---------------------------------------------------------------- */

/* Fields of a scenario, and those of its model; keys have "_". */
extern const struct dialect_option gptneox_rows[], gptneox_model_rows[];

/* What DeepSpeed's configuration has of the keys; NULL ends the list. */
extern const char *const gptneox_deepspeed[];

/* The dictionary with "_" for each "-" of its keys. */
struct value *gptneox_plain(struct arena *arena, const struct value *root);

/* The files that a command names as one dictionary; what is not at hand is noted, and
 * what it may say is asked for. */
struct value *gptneox_join(struct launch_context *t, const struct launch_command *c);

/* The model; `tensor` ranks share its vocabulary. */
void gptneox_take_model(struct launch_context *t, const struct value *c);

/* The kernels of attention, by the kinds of layers. */
void gptneox_take_attention(struct launch_context *t, const struct value *c);

#endif
