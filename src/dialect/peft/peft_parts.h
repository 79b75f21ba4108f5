/* What the files of this folder share: the words of one file while they are read. */
#ifndef DIALECT_PEFT_PEFT_PARTS_H
#define DIALECT_PEFT_PEFT_PARTS_H

#include "dialect/peft/peft.h"

enum { PEFT_WORD_MAX_B = 40 };

struct peft {
    struct launch_context *t;
    const struct peft_kind *kind;
    const struct value_item
        *asks;      /* what asks for adapters, or the first word of them */
    bool quantized; /* it asks for QLoRA */
};

/* The first row of a field, from `*row` on, whose word the file gives; NULL: none. */
const struct value_item *peft_given(const struct peft *p, const char *pointer,
                                    const struct dialect_option **row);

/* A word of a field: of the newest dictionary that has a known one; NULL: none has. */
const struct value_item *peft_first(const struct peft *p, const char *pointer);

/* A text in lower case, cut off; "" of what is none. */
void peft_lower(const struct value *v, char out[PEFT_WORD_MAX_B]);

/* Sets a field that the file leaves open; the reference is stolen. */
void peft_assume(struct peft *p, const char *pointer, json_t *value, const char *what);

/* peft_freeze.c: takes LLaMA-Factory's "freeze"; false: the file does not ask for it. */
bool peft_take_freeze(struct peft *p);

/* axolotl's unfrozen_parameters (utils/freeze.py), regular expressions of what is
 * trained: all of a language model leaves the tower before it. False: they are others. */
bool peft_take_unfrozen(struct peft *p, const struct value_item *it);

/* peft_base.c: how the frozen model is stored. "nf4", "int8", "?" for what is not
 * simulated, and by which word; NULL: it is not quantized. */
const char *peft_quantized(struct peft *p, const struct value_item **from);
void peft_take_base(struct peft *p);

#endif
