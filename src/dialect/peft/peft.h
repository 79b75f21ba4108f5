/* PEFT's words, and bitsandbytes' next to them, as scripts, TRL, axolotl and
 * LLaMA-Factory write them: low-rank adapters and quantized weights, as /training/lora.
 *
 * Files of this folder:
 *     peft_words      the words: a row each, by the field that they are of
 *     peft            whether adapters are trained, and which
 *     peft_base       how the frozen model is stored
 *     peft_imported   adapters that a module next to the program makes
 *     peft_section    a section of a document, as these words
 *     peft_modules    names of modules: lists, text, regular expressions
 *     emit_peft       a scenario's adapters as these words
 *     peft_script     calls of PEFT in a script, as these words */
#ifndef DIALECT_PEFT_PEFT_H
#define DIALECT_PEFT_PEFT_H

#include "dialect/launch/launch_context.h"
#include "dialect/option.h"
#include "dialect/python/python.h"

#define PEFT_LORA "/training/lora"
/* What is proposed where adapters are trained that are not known. */
#define PEFT_EXAMPLE "'{\"rank\": 16}'"
#define PEFT_RANK PEFT_LORA "/rank"
#define PEFT_ALPHA PEFT_LORA "/alpha"
#define PEFT_DROPOUT PEFT_LORA "/dropout"
#define PEFT_TARGETS PEFT_LORA "/target_modules"
#define PEFT_BASE PEFT_LORA "/base"
#define PEFT_DTYPE PEFT_LORA "/dtype"
#define PEFT_DOUBLE PEFT_LORA "/double_quantization"
#define PEFT_TRAINED PEFT_LORA "/trained"

/* The words; which field each is of is its pointer. */
extern const struct dialect_option peft_rows[];

/* The row of an option; NULL: it is none of them. */
const struct dialect_option *peft_row(const char *option);

/* How a framework asks for adapters, and what it has for what a file leaves open. */
struct peft_kind {
    const char *asks; /* the one word that asks: "adapter"; NULL: any of the rows */
    bool usual;       /* adapters without that word */
    int64_t rank;     /* 0: it is asked for */
    int64_t alpha, alpha_ranks; /* a number, or so many ranks; 0: not said */
    double dropout;
    const char *targets;      /* NULL: PEFT's of the model's family */
    bool double_quantization; /* of NF4 */
    const char *from;         /* "LLaMA-Factory's" */
};

/* Before the rows of all else: what the context's hyperparameters say of adapters. A
 * kind of NULL is a script of one's own. What cannot be simulated is refused. Whether
 * they say anything of adapters, be it that there are none. */
bool peft_take(struct launch_context *t, const struct peft_kind *kind);

/* After them, with defaults: how the frozen model is stored. */
void peft_settle(struct launch_context *t);

/* The type of training, "bf16" or "fp16", of a framework that loads the model in it:
 * adapters next to such weights stay fp32, which autocast casts. */
void peft_take_half(struct launch_context *t, const struct dialect_option *row,
                    const struct value_item *it, const char *type);

/* Whether a text has that part, in upper or lower case. */
bool peft_has(const char *text, const char *part);

/* Whether the name of a script or a job, or any text, has a word of adapters:
 * "train_qlora.py". */
bool peft_is_named(const char *text);

/* peft_imported.c: of a program whose own text has no training, asks for adapters that a
 * module which it imports makes; `line` names the program. */
void peft_ask_imported(struct launch_context *t, const char *program, int64_t line);
/* After all is taken, where the text that loads the model is not read: how it is loaded,
 * unless a word says it or what shards converts it. */
void peft_ask_base(struct launch_context *t, int64_t line);

/* peft_section.c: opens the sections of a program's own document that describe adapters,
 * lora_config: {r: 64}, as options, and says so; a method that is named alone, too. */
void peft_open_sections(struct launch_context *t, struct value *all);

enum { PEFT_CALLS_MAX = 40 };
/* Functions whose calls peft_of_script wants; NULL ends them. */
extern const char *const peft_calls[];

/* What a script's calls say, as hyperparameters, all of one line or, of 0, of their own;
 * NULL: nothing. The job's own go before them. */
const struct value *peft_of_script(struct launch_context *t, const struct python *p,
                                   int64_t line);

/* Whether a script makes a LoraConfig whatever holds: a description of another method
 * under a condition that is not known is then not the one. */
bool peft_makes_lora(const struct python *p);

/* Names of modules as JSON: of a list, of text with commas, or of a regular expression
 * over modules' paths. What is none is asked for, at the pointer; NULL then. */
json_t *peft_modules(struct launch_context *t, const char *pointer,
                     const struct value_item *it, uint32_t (*of)(const char *));

/* emit_peft.c: what rows write. */
json_t *peft_give_use(const struct scenario *s);
json_t *peft_give_rank(const struct scenario *s);
json_t *peft_give_dropout(const struct scenario *s);
json_t *peft_give_targets(const struct scenario *s);
json_t *peft_give_trained(const struct scenario *s);
json_t *peft_give_4bit(const struct scenario *s);
json_t *peft_give_8bit(const struct scenario *s);
json_t *peft_give_double(const struct scenario *s);
json_t *peft_give_dtype(const struct scenario *s);

#endif
