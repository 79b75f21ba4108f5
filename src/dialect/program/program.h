/* A user's own training program in Python: calls of transformers, TRL, PEFT, Accelerate
 * and Unsloth, gathered as the Trainer's and TRL's words, whose rows read them.
 *
 * Files of this folder:
 *     program_calls    which calls make the training; their arguments by the rows' names
 *     program          the dialect: a script or a notebook that trains by itself
 *
 * A new call is a row of `functions` and rows of `words` in program_calls.c. */
#ifndef DIALECT_PROGRAM_PROGRAM_H
#define DIALECT_PROGRAM_PROGRAM_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"
#include "dialect/source/python.h"

/* What a call is for. */
enum program_part {
    PROGRAM_ARGUMENTS,    /* TrainingArguments(...), SFTConfig(...) */
    PROGRAM_TRAINER,      /* Trainer(...), SFTTrainer(...) */
    PROGRAM_MODEL,        /* AutoModelForCausalLM.from_pretrained(...) */
    PROGRAM_ADAPTERS,     /* LoraConfig(...) */
    PROGRAM_METHOD,       /* IA3Config(...) and other methods of PEFT */
    PROGRAM_QUANTISATION, /* BitsAndBytesConfig(...) */
    PROGRAM_PREPARED,     /* prepare_model_for_kbit_training(...) */
    PROGRAM_CHECKPOINTED, /* gradient_checkpointing_enable() */
    PROGRAM_ACCELERATOR,  /* Accelerator(...) */
    PROGRAM_STARTED,      /* notebook_launcher(...) */
    PROGRAM_WRAPPED,      /* get_peft_model(...): gives back what it is given */
    PROGRAM_PARTS
};

struct program {
    const struct python *python;
    const struct python_call *parts[PROGRAM_PARTS]; /* NULL: there is none */
    int n_trainers;
    struct value *words; /* of the rows: "per_device_train_batch_size", "lora_r" */
};

/* Functions whose calls are wanted of the reader; NULL ends them. */
extern const char *const program_calls[];

/* The calls of a text that make its training, and their arguments. */
void program_gather(struct program *g, struct arena *arena, const struct python *p);

/* What of the program trains: "SFT" of SFTTrainer or SFTConfig, "" the Trainer's own; NULL:
 * nothing does. */
const char *program_method(struct arena *arena, const struct program *g);

/* Takes what the words say, after hyperparameters that go before them. */
void program_take(struct launch_context *t, const struct program *g);

bool program_recognises(const struct dialect_input *in);
void program_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table program_tables[];

#endif
