/* What trainers say before the first step. Sources of the texts: transformers,
 * trainer.py; DeepSpeed, runtime/config.py (print) and Megatron-LM, training/arguments.py
 * ("name ........ value"); torchtitan, trainer.py; llm-foundry, the configuration as it
 * is printed; nanoGPT, train.py. */
#include "logs/logs.h"
#include "logs/text.h"

#include <math.h>
#include <string.h>

enum setting { BATCH, TOKENS, STEPS };

static const struct {
    const char *key;
    bool dotted; /* dots lead to the value */
    enum setting is;
} rows[] = {
    { "Total train batch size (w. parallel, distributed & accumulation) =", false,
      BATCH },
    { "train_batch_size", true, BATCH },
    { "global_batch_size", true, BATCH },
    { "global batch size", false, BATCH },
    { "global_train_batch_size:", false, BATCH },
    { "tokens per iteration will be:", false, TOKENS },
    { "Total optimization steps =", false, STEPS },
};

/* A bar of a program that evaluates, or makes data, looks as one that trains. */
bool logs_speaks_of_training(const char *line)
{
    static const char *const words[] = { "loss",
                                         "Loss",
                                         "learning_rate",
                                         "Running training",
                                         "Training Arguments",
                                         "train_runtime" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(line, words[i]))
            return true;
    return false;
}

void logs_read_settings(struct logs *l, const char *line)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *at = line_after(line, rows[i].key);
        double v;
        if (!at)
            continue;
        at += strspn(at, " ");
        if (rows[i].dotted && (*at != '.' || at[1] != '.'))
            continue;
        at += rows[i].dotted ? strspn(at, ".") : 0;
        if (line_number(at, false, &v, NULL) || v < 1 || v != floor(v))
            continue;
        if (rows[i].is == BATCH) {
            l->global_batch = v;
            l->batch_by_clock = false;
        } else if (rows[i].is == TOKENS) {
            l->tokens_batch = v;
        } else {
            l->total_steps = (int64_t)v;
        }
        return;
    }
}
