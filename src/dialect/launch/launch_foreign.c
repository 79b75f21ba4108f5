/* Commands of frameworks whose kernels and libraries are not simulated, by the words that
 * start them: refused by name, though their options may be spelled as the Trainer's. */
#include "dialect/launch/launch_foreign.h"

#include <stdbool.h>
#include <string.h>

/* clang-format off */
/* PaddlePaddle 3, MindSpore 2, JAX's MaxText, and trainers of translation. */
static const struct { const char *word, *why; } foreign[] = {
    { "paddle/distributed/launch.py", "starts PaddlePaddle" },
    { "fleetrun", "starts PaddlePaddle" },
    { "msrun", "starts MindSpore" },
    { "MaxText/train.py", "trains in JAX" },
    { "maxtext/trainers/pre_train/train.py", "trains in JAX" },
    { "fairseq-train", "trains models of fairseq" },
    { "fairseq-hydra-train", "trains models of fairseq" },
    { "onmt_train", "trains models of OpenNMT" },
    { "onmt-main", "trains models of OpenNMT" },
    { "t2t-trainer", "trains in TensorFlow" },
    { "marian", "trains models of Marian" },
    { "sockeye-train", "trains models of Sockeye" },
};
/* clang-format on */

/* A program's name, or the end of its path. */
static bool ends(const char *text, const char *word)
{
    size_t n = strlen(text), m = strlen(word);
    return n >= m && strcmp(text + n - m, word) == 0 &&
           (n == m || text[n - m - 1] == '/');
}

const char *launch_foreign(const struct shell_command *c, const char **why)
{
    for (int32_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < sizeof(foreign) / sizeof(foreign[0]); k++)
            if (ends(c->words[i].text, foreign[k].word)) {
                *why = foreign[k].why;
                return foreign[k].word;
            }
    return NULL;
}
