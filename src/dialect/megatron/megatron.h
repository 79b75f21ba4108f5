/* Arguments of Megatron-LM (megatron/training/arguments.py), and of
 * Megatron-DeepSpeed's and BigScience's of the same names, as a command has them.
 *
 * Files of this folder:
 *     megatron             degrees, batches, length; the order of reading
 *     megatron_model       sizes and choices of the model
 *     megatron_vocabulary  entries of the vocabulary, by the tokenizer
 *     megatron_stack       what several options say together: profile, attention,
 *                          precision, recomputation, what overlaps
 *     megatron_context     what context groups exchange
 *     megatron_stages      pipelines: chunks, layers of each stage
 *     megatron_recompute   what is computed again
 *     megatron_offload     what modules save, on the host
 *     megatron_fsdp        fully sharded data parallelism, instances
 *     megatron_graphs      CUDA graphs
 *     megatron_formats     formats by module
 *     megatron_precision   formats, recipes of fp8 and fp4, optimizer states
 *     megatron_dispatch    who moves experts' tokens
 *     megatron_release     which release has the options that are there
 *     megatron_deepspeed   DeepSpeed's arguments in addition to Megatron's
 *     megatron_template    its configuration made of a template by sed
 *     megatron_fork        adapters and models of forks' own
 *     megatron_keys        options that no field is made of
 *     megatron_yaml        arguments in a file
 *     megatron_file        such a file alone
 *     megatron_other       options that are refused; those of few releases
 *     emit_megatron        a scenario as a script */
#ifndef DIALECT_MEGATRON_MEGATRON_H
#define DIALECT_MEGATRON_MEGATRON_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_shell.h"

bool megatron_recognises(const struct dialect_input *in);
void megatron_read(struct launch_context *t, const struct dialect_input *in);

/* All that options say but the model, which another says. */
void megatron_take_job(struct launch_context *t, const struct launch_command *c);

/* Options that the file of --yaml-cfg says, in place of the command's. */
/* The script that starts what a file of arguments has; NULL: it is none. */
const char *megatron_script_of(struct arena *arena, const struct value *root,
                               const char *file);
void megatron_expand(struct launch_context *t, const struct launch_command *c,
                     struct launch_words *words);

/* Whether an option takes no value, so that what follows is none. */
bool megatron_is_flag(const char *option);

/* Sizes and choices of the model; its vocabulary; the other fields; all tables. */
extern const struct dialect_option megatron_model_rows[], megatron_decoder_rows[],
    megatron_expert_rows[], megatron_latent_rows[], megatron_hybrid_rows[],
    megatron_vocabulary_rows[], megatron_job_rows[];
extern const struct dialect_option megatron_refused_rows[], megatron_later_rows[];
extern const struct dialect_table megatron_tables[];

/* Vocabulary and what follows of several options; after the rows. */
void megatron_settle_model(struct launch_context *t, const struct launch_command *c);
void megatron_take_vocabulary(struct launch_context *t, const struct launch_command *c);

/* Whether no option says the model, which is asked for; else, after its rows, what forks
 * have of their own. */
bool megatron_model_is_elsewhere(struct launch_context *t,
                                 const struct launch_command *c);
/* Which model a program of a fork's own builds, by its text (pretrain_gpt.py: the loss
 * that forward_step reports); NULL: not known. */
const char *megatron_kind_of_text(struct launch_context *t,
                                  const struct launch_command *c);
void megatron_take_fork(struct launch_context *t, const struct launch_command *c);
void megatron_ask_model(struct launch_context *t, const struct launch_command *c);

/* Layers by letters (megatron_hybrid.c); `model`: what the program builds, or NULL. */
void megatron_take_hybrid(struct launch_context *t, const struct launch_command *c,
                          const char *model);

/* What an unknown program builds, by the task that --set gives. */
void megatron_settle_task(struct launch *l, struct cfg root);

/* What several options say together of the profile (after
 * DeepSpeed's configuration), attention, precision, recomputation (after the pipeline)
 * and of what is sharded and overlaps (after the profile). */
void megatron_take_framework(struct launch_context *t, const struct launch_command *c);

/* DeepSpeed's configuration that the script makes of a template next to it; NULL: it
 * makes none, or not of what is at hand. */
const struct value *megatron_template(struct launch_context *t,
                                      const struct launch_command *c);

/* The stage of ZeRO that it puts into a template; NULL: none. */
const struct value_item *megatron_template_stage(struct launch_context *t,
                                                 const struct launch_command *c);

/* The profile of the release that the options are of, which is noted. */
void megatron_take_release(struct launch_context *t, const struct launch_command *c);
void megatron_take_attention(struct launch_context *t, const struct launch_command *c);
/* Layers without experts: all but every --expert-interval'th, which is every second by
 * default (microsoft/Megatron-DeepSpeed, megatron/arguments.py). */
void megatron_take_interval(struct launch_context *t, const struct launch_command *c);
/* Whether the options are of Megatron-Core, with Transformer Engine's layers where
 * --transformer-impl does not say otherwise. */
bool megatron_is_core(const struct launch_command *c);
/* "0:768 250B:1536": batches, each from so many tokens or samples on (NVIDIA/Megatron-LM,
 * megatron/core/num_microbatches_calculator.py). */
void megatron_take_schedule(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it);
/* Whether an option is of that release of Megatron-Core ("0.18"), or of a later one. */
bool megatron_is_since(const struct launch_command *c, const char *release);
void megatron_take_precision(struct launch_context *t, const struct launch_command *c);
void megatron_take_recompute(struct launch_context *t, const struct launch_command *c);
void megatron_take_overlaps(struct launch_context *t, const struct launch_command *c);
bool megatron_uses_deepspeed(const struct launch_command *c);

/* How a context group exchanges keys and heads, and the sizes of its two levels; each
 * may be NULL. */
void megatron_take_context(struct launch_context *t, const struct value_item *how,
                           const struct value_item *sizes);

/* What says how layers are divided among a pipeline's stages; NULL: not given. */
struct megatron_stages {
    const struct value_item *each, *many;  /* layers of a chunk, chunks of a stage */
    const struct value_item *first, *last; /* layers of that stage */
    const struct value_item *embedding, *loss; /* count as layers */
    const struct value_item *layout;           /* "Et*3|(tt|)*29,m|L" */
    const struct value_item *defers, *limit;   /* gradients of the head */
};

/* Experts' tokens; NULL: not given. */
struct megatron_dispatch {
    const struct value_item *type, *backend, *enable; /* "flex"; "hybridep" */
    const struct value_item *sms, *shared, *pairs;
    int64_t
        line; /* of the command, whose default is all-gathers; 0: nobody's default */
};

/* Of a model without shared experts, takes back that they overlap. */
void megatron_settle_overlap(struct launch *l, struct cfg root);

/* Reads them; after the degrees. */
void megatron_take_dispatch(struct launch_context *t,
                            const struct megatron_dispatch *given);

/* Reads them; after the model's layers and the pipeline's degree. */
void megatron_take_stages(struct launch_context *t,
                          const struct megatron_stages *given);

/* CUDA graphs: who captures, by either name, and what; NULL: not given. */
struct megatron_graphs {
    const struct value_item *impl, *own, *engine, *scope;
};
void megatron_take_graphs(struct launch_context *t, const struct megatron_graphs *o);

/* The precision of a word of --fp8-recipe; NULL: it is not simulated. */
const char *megatron_recipe(const char *word);

/* Parameters are kept and gathered as products read them, by the item or a default. */
void megatron_take_gathers(struct launch_context *t, const struct value_item *it);

/* Formats of modules' products; after the precision and the layers that predict further
 * tokens. */
void megatron_take_formats(struct launch_context *t, const struct launch_command *c);
/* Layers of further tokens in bf16 in a job of a recipe; NULL: not given. */
void megatron_take_mtp_format(struct launch_context *t, const struct value_item *it);

/* FSDP in place of Megatron's own data parallelism, before the library is decided:
 * whether it is; instances of the sharded optimizer, after all degrees. */
struct megatron_fsdp {
    const struct value_item *own, *torch, *how, *keeps; /* NULL: not given */
};
bool megatron_take_shards(struct launch_context *t, const struct megatron_fsdp *given);
bool megatron_take_fsdp(struct launch_context *t, const struct launch_command *c);
bool megatron_is_fsdp(
    const struct launch_context *t); /* decided: PyTorch's or its own */
void megatron_take_instances(struct launch_context *t, const struct launch_command *c);

/* Recomputation of whole layers, that `it` asks for, by a method (block, or uniform as
 * without one) and a number of layers (1); NULL: not given. After the pipeline. */
void megatron_recompute_layers(struct launch_context *t, const struct value_item *it,
                               const struct value_item *method,
                               const struct value_item *count);

/* Recomputation of modules of each layer, likewise; NULL: of attention alone. */
void megatron_recompute_modules(struct launch_context *t, const struct value_item *it,
                                const struct value_item *modules);

/* What modules save, on the host, where `on` asks for it; NULL: not given. */
void megatron_take_offload(struct launch_context *t, const struct value_item *on,
                           const struct value_item *modules);

/* All that the first layers save, likewise; NULL: not given. */
struct megatron_offload {
    const struct value_item *on, *layers, *activations, *weights;
};
void megatron_take_offloaded_layers(struct launch_context *t,
                                    const struct megatron_offload *given);

/* Layers by letters: the pattern, and their number where no option gives it. */
void megatron_take_pattern(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it);
/* Which layers have experts, as a row takes it: every n-th, or a list. */
void megatron_take_frequency(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it);

/* --deepspeed, --deepspeed_config, --zero-stage; after
 * the batch and precision, which go before what the configuration says. */
void megatron_take_deepspeed(struct launch_context *t, const struct launch_command *c);

/* emit_megatron.c: what rows write that no field says alone. */
json_t *megatron_give_layers(const struct scenario *s);
json_t *megatron_give_bf16(const struct scenario *s);
json_t *megatron_give_fp16(const struct scenario *s);
json_t *megatron_give_bucket(const struct scenario *s);
json_t *megatron_give_granularity(const struct scenario *s);
json_t *megatron_give_modules(const struct scenario *s);
json_t *megatron_give_method(const struct scenario *s);
json_t *megatron_give_group(const struct scenario *s);
json_t *megatron_give_grouped(const struct scenario *s);
json_t *megatron_give_dispatcher(const struct scenario *s);
json_t *megatron_give_backend(const struct scenario *s);
json_t *megatron_give_deepep_sms(const struct scenario *s);
json_t *megatron_give_hybridep_sms(const struct scenario *s);
json_t *megatron_give_shared_overlap(const struct scenario *s);
json_t *megatron_give_pairs(const struct scenario *s);
json_t *megatron_give_padding(const struct scenario *s);
json_t *megatron_give_instances(const struct scenario *s);
json_t *megatron_give_offload(const struct scenario *s);
json_t *megatron_give_offloaded(const struct scenario *s);
json_t *megatron_give_captures(const struct scenario *s);
json_t *megatron_give_scope(const struct scenario *s);
json_t *megatron_give_virtual(const struct scenario *s);
json_t *megatron_give_layout(const struct scenario *s);
json_t *megatron_give_exchange(const struct scenario *s);
json_t *megatron_give_levels(const struct scenario *s);
json_t *megatron_give_embedding(const struct scenario *s);
json_t *megatron_give_loss(const struct scenario *s);
json_t *megatron_give_fp8(const struct scenario *s);
json_t *megatron_give_fp4(const struct scenario *s);
json_t *megatron_give_recipe(const struct scenario *s);
json_t *megatron_give_fp8_gather(const struct scenario *s);
json_t *megatron_give_fp4_gather(const struct scenario *s);
json_t *megatron_give_layers_16bit(const struct scenario *s);
json_t *megatron_give_first_16bit(const struct scenario *s);
json_t *megatron_give_last_16bit(const struct scenario *s);
json_t *megatron_give_mtp_format(const struct scenario *s);
json_t *megatron_give_aware(const struct scenario *s);
json_t *megatron_give_wide(const struct scenario *s);

#endif
