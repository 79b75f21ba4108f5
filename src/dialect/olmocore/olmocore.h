/* OLMo-core's training scripts: what its configuration's classes are given in Python, read
 * and never run. `TransformerConfig.olmo2_7B(...)`, `TransformerTrainModuleConfig(...)`,
 * `NumpyDataLoaderConfig(...)`, in a function of the script's own.
 *
 * Classes and defaults: olmo_core/nn/transformer/config.py,
 * olmo_core/train/train_module/transformer/config.py, olmo_core/distributed/parallel,
 * olmo_core/internal/experiment.py and olmo_core/script_utils.py (allenai/OLMo-core of
 * 2026-06, fa6c501); of 2024's versions TrainerConfig has rank_microbatch_size, and the
 * model dp_config, ac_config and compile.
 *
 * Files of this folder:
 *     olmocore         what the objects say, joined
 *     olmocore_fields  a field each of what they say
 *     olmocore_model   the model: a name of TransformerConfig, and what changes it
 *     olmocore_values  which calls are read; their members by path */
#ifndef DIALECT_OLMOCORE_OLMOCORE_H
#define DIALECT_OLMOCORE_OLMOCORE_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"
#include "dialect/python/python.h"

extern const char *const olmocore_calls[], *const olmocore_objects[];
extern const struct dialect_table olmocore_tables[];

bool olmocore_recognises(const struct dialect_input *in);
void olmocore_read(struct launch_context *t, const struct dialect_input *in);

/* `common` of a builder's function, `opts` and `overrides` of a script's: what
 * build_config() and the parser of script_utils give them without any argument. */
const struct value *olmocore_argument(const struct python *p, const char *name,
                                      int64_t line);

/* Between its files ----------------------------------------------------------------- */

/* The last call of a class, by the end of its path (".TrainerConfig"); NULL. */
const struct python_call *olmocore_call(const struct python *p, const char *class);
/* The call of a constructor of TransformerConfig, "olmo2_7B"; NULL. */
const struct python_call *olmocore_model_call(const struct python *p);
/* What a call gave or was given: a dictionary. */
const struct value *olmocore_members(const struct python_call *c);

/* Adds members by their paths, those of dictionaries within by theirs; the class of a
 * dictionary is PATH + ".@". */
void olmocore_flatten(struct arena *arena, struct value *out, const char *path,
                      const struct value *v, int depth);

/* The last part of a member of an enumeration, or a text: "hsdp"; `otherwise` where there
 * is neither. */
const char *olmocore_word(const struct value *flat, const char *path,
                          const char *otherwise);

/* The model, and how many entries the vocabulary has. */
void olmocore_take_model(struct launch_context *t, const struct python *p,
                         const struct value *flat);

/* The model of TransformerConfig.llama_like() or llama_like_moe(), of its arguments; NULL:
 * it is another function, or asked for. */
json_t *olmocore_model_made(struct launch_context *t, const struct value *flat,
                            const char *function, int64_t line);
/* Whether an argument ("model.top_k" without "model.") is one of theirs alone. */
bool olmocore_is_of_made(const char *argument);

/* All other fields, of the objects' members by path. */
void olmocore_take_fields(struct launch_context *t, const struct value *c);

#endif
