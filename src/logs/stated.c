/* Sources of the texts: Megatron-LM, training/arguments.py and initialize.py ("name ....
 * value"); DeepSpeed, runtime/config.py and launcher/launch.py; transformers, trainer.py;
 * torchtitan, trainer.py; Lightning, fabric/utilities/distributed.py; accelerate,
 * state.py; LLaMA-Factory, parser.py; llm-foundry, the configuration as it is printed;
 * nanoGPT, model.py; peft, print_trainable_parameters. */
#include "logs/stated.h"

#include "logs/text.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum shape {
    PLAIN,  /* a number follows the key */
    DOTTED, /* dots lead to the value */
    HUMAN,  /* likewise PLAIN, "6.7B" */
    BEFORE  /* the number ends before the key */
};

/* clang-format off */
static const struct {
    const char *key;
    enum shape shape;
    enum logs_statement is;
    double unit;
} rows[] = {
    { "world size:", PLAIN, STATED_RANKS, 1 },              /* Megatron-LM, LLaMA-Factory */
    { "dist_world_size=", PLAIN, STATED_RANKS, 1 },         /* DeepSpeed */
    { "processes registered. Starting with", PLAIN, STATED_RANKS, 1 }, /* Lightning */
    { "Num processes:", PLAIN, STATED_RANKS, 1 },           /* accelerate */
    { "n_gpus:", PLAIN, STATED_RANKS, 1 },                  /* llm-foundry */
    { "micro_batch_size", DOTTED, STATED_MICRO_BATCH, 1 },  /* Megatron-LM */
    { "train_micro_batch_size_per_gpu", PLAIN, STATED_MICRO_BATCH, 1 }, /* DeepSpeed */
    { "Instantaneous batch size per device =", PLAIN, STATED_MICRO_BATCH, 1 }, /* transformers */
    { "device_train_microbatch_size:", PLAIN, STATED_MICRO_BATCH, 1 }, /* llm-foundry */
    { "seq_length", DOTTED, STATED_SEQUENCE, 1 },           /* Megatron-LM */
    { ", sequence length", PLAIN, STATED_SEQUENCE, 1 },     /* torchtitan */
    { "max_seq_len:", PLAIN, STATED_SEQUENCE, 1 },          /* llm-foundry */
    { "tensor_model_parallel_size", DOTTED, STATED_TENSOR, 1 },
    { "pipeline_model_parallel_size", DOTTED, STATED_PIPELINE, 1 },
    { "num_layers", DOTTED, STATED_LAYERS, 1 },
    { "hidden_size", DOTTED, STATED_HIDDEN, 1 },
    { "Total number of parameters in billions:", PLAIN, STATED_PARAMETERS, 1e9 }, /* Megatron-LM */
    { " total parameters", BEFORE, STATED_PARAMETERS, 1 },  /* torchtitan */
    { "number of parameters:", HUMAN, STATED_PARAMETERS, 1 }, /* nanoGPT, nanotron */
    { "all params:", PLAIN, STATED_PARAMETERS, 1 },         /* peft */
    { "n_params:", PLAIN, STATED_PARAMETERS, 1 },           /* llm-foundry */
};
/* clang-format on */

/* The number that ends at a place, with commas between thousands. */
static int number_before(const char *line, const char *end, double *v)
{
    const char *at = end, *after;
    while (at > line && (isdigit((unsigned char)at[-1]) || strchr(".,", at[-1])))
        at--;
    return line_number(at, false, v, &after) == 0 && after == end ? 0 : -1;
}

static int value_of(const char *line, size_t row, double *v)
{
    enum shape shape = rows[row].shape;
    const char *at =
        shape == BEFORE ? strstr(line, rows[row].key) : line_after(line, rows[row].key);
    if (!at)
        return -1;
    if (shape == BEFORE)
        return number_before(line, at, v);
    if (shape == DOTTED) {
        at += strspn(at, " ");
        size_t dots = strspn(at, ".");
        if (dots < 2)
            return -1;
        at += dots;
    }
    return line_number(at, shape == HUMAN, v, NULL);
}

/* The name of a GPU -------------------------------------------------------------------- */

/* Whether a word is a model's: "A100-SXM4-80GB", "RTX", "GeForce"; and not "NVIDIA-SMI",
 * "Corporation", "Driver". */
static bool is_model(const char *word, size_t n)
{
    static const char *const series[] = { "RTX", "GeForce", "TITAN", "Quadro",
                                          "Instinct" };
    size_t letters = 0;
    for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++)
        if (n == strlen(series[i]) && memcmp(word, series[i], n) == 0)
            return true;
    while (letters < n && isupper((unsigned char)word[letters]))
        letters++;
    return letters >= 1 && letters <= 2 && letters < n &&
           isdigit((unsigned char)word[letters]);
}

/* Whether a word goes on with a name: in capitals ("HBM3", "PCIe"), or from a digit
 * ("80GB"). */
static bool is_of_name(const char *word, size_t n)
{
    static const char *const others[] = { "Ti", "Ada" };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (n == strlen(others[i]) && memcmp(word, others[i], n) == 0)
            return true;
    if (n < 2 || strncmp(word, "GPU", 3) == 0)
        return false;
    return isdigit((unsigned char)word[0]) ||
           (isupper((unsigned char)word[0]) &&
            (isupper((unsigned char)word[1]) || isdigit((unsigned char)word[1])));
}

/* The length of the name at a text: its model, and words after one blank each. */
static size_t name_length(const char *at)
{
    static const char part[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                               "0123456789-";
    enum { WORDS = 5 };
    size_t n = strspn(at, part);
    if (!is_model(at, n))
        return 0;
    for (int words = 1; words < WORDS && at[n] == ' '; words++) {
        size_t length = strspn(at + n + 1, part);
        if (!is_of_name(at + n + 1, length))
            break;
        n += 1 + length;
    }
    return n;
}

static void read_device(struct logs_stated *s, const char *line, struct logs_place at)
{
    static const char *const makers[] = { "NVIDIA ", "Tesla ", "AMD " };
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        const char *name = line_after(line, makers[i]);
        size_t n = name ? name_length(name) : 0;
        if (n == 0)
            continue;
        size_t maker = strlen(makers[i]);
        line_keep(s->device, sizeof(s->device), name - maker, maker + n);
        s->device_at = at;
        return;
    }
}

void logs_stated_read(struct logs_stated *s, const char *line, struct logs_place at)
{
    if (!s->device[0])
        read_device(s, line, at);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double v;
        if (s->at[rows[i].is].line || value_of(line, i, &v) || v <= 0 ||
            (rows[i].unit == 1 && v != floor(v)))
            continue;
        s->of[rows[i].is] = v * rows[i].unit;
        s->at[rows[i].is] = at;
    }
}
