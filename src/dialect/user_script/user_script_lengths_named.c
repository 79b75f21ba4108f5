/* How long sequences are by numbers of usual names, of a batch of random words, and of a
 * prompt and its answer. */
#include "config/pointer.h"
#include "dialect/user_script/user_script_lengths.h"

#include <inttypes.h>
#include <string.h>

static const char length_at[] = "/training/sequence_length";

enum {
    LENGTH_MAX = 1 << 24,
    USUAL_MIN = 16 /* of what a usual name alone says: block_size = 4 is of layers */
};

/* Blocks that a function of the script cuts joined texts into (transformers'
 * examples: group_texts), then what tokenizers are given. */
static const char *const names[] = {
    "block_size",        "chunk_size",
    "context_length",    "max_seq_length",
    "max_source_length", "max_input_length",
    "max_length",        "MAX_LENGTH",
    "MAX_LEN",           "max_len",
    "seq_length",        "sequence_length",
    "max_seq_len",       "seq_len",
    "SEQ_LEN",           "BLOCK_SIZE",
    "context_size",      "ctx_len",
    "cutoff_len",        "tokenizer.model_max_length",
    "MAX_SEQ_LENGTH",    "MAX_SEQ_LEN",
    "CONTEXT_LENGTH",    "max_context_width",
};
static bool is_length(const struct value *v, int64_t *n)
{
    return v && v->kind == VALUE_INT && launch_whole(v, n) && *n >= 2 &&
           *n <= LENGTH_MAX;
}

static void set(struct launch_context *t, const char *pointer, int64_t n,
                const struct value_item *from)
{
    launch_set(t, pointer, json_integer((json_int_t)n), from);
}

static bool has_pairs(const struct launch_context *t)
{
    const char *task = json_string_value(pointer_get(t->tree, "/training/task"));
    return task && strcmp(task, "seq2seq") == 0;
}

/* A number of a usual name; of a text that cuts, by those of cuts before any other. Chunks
 * of another text may be a loss's. */
static const struct value *named(const struct python *p, bool cut, const char **name)
{
    static const char chunk[] = "chunk_size";
    int64_t n;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value *bound = user_script_usual(p, names[i]);
        if ((cut && !strstr(names[i], "max_len") && !strstr(names[i], "MAX_LEN")) ||
            (!cut && strcmp(names[i], chunk) == 0) || !is_length(bound, &n) ||
            n < USUAL_MIN)
            continue;
        *name = names[i];
        return bound;
    }
    const struct value *bound = cut ? NULL : user_script_usual(p, chunk);
    *name = chunk;
    return is_length(bound, &n) && n >= USUAL_MIN ? bound : NULL;
}

void user_script_take_named_length(struct launch_context *t,
                                   const struct user_script *g, bool cut)
{
    const char *name = "";
    const struct value *bound = cut ? named(g->python, true, &name) : NULL;
    bound = bound ? bound : named(g->python, false, &name);
    if (!bound)
        return;
    int64_t line = bound->line < 0 ? -bound->line : bound->line;
    struct value v = { .line = g->line ? g->line : line };
    const struct value_item from = { name, v.line, &v };
    set(t, length_at, bound->integer, &from);
    launch_note(t->l, v.line, DIAG_ASSUMED,
                "%s = %" PRId64 " is taken to be the length of sequences", name,
                bound->integer);
}

/* Samples that a data set makes of random tokens. */
void user_script_take_random_length(struct launch_context *t,
                                    const struct user_script *g)
{
    const struct value *made = user_script_random_length(g->python), *batch, *length;
    int64_t n;
    if (!made && !g->parts[SCRIPT_LOADER] && g->parts[SCRIPT_BACKWARD] &&
        user_script_random_batch(g->python, &batch, &length))
        made = length;
    if (!is_length(made, &n) || n < USUAL_MIN)
        return;
    struct value v = { .line = g->line ? g->line : made->line };
    const struct value_item from = { "torch.randint", v.line, &v };
    set(t, length_at, n, &from);
}

/* A prompt and its answer, which a decoder reads as one text. */
void user_script_take_both_lengths(struct launch_context *t,
                                   const struct user_script *g)
{
    static const char *const both[][2] = {
        { "max_prompt_len", "max_ans_len" },
        { "max_prompt_len", "max_answer_len" },
        { "max_prompt_length", "max_answer_length" },
        { "max_prompt_length", "max_response_length" },
        { "max_prompt_seq_len", "max_answer_seq_len" },
        { "max_source_length", "max_target_length" },
    };
    for (size_t i = 0; i < sizeof(both) / sizeof(both[0]) && !has_pairs(t); i++) {
        const struct value *a = user_script_usual(g->python, both[i][0]),
                           *b = user_script_usual(g->python, both[i][1]);
        int64_t prompt, answer;
        if (!is_length(a, &prompt) || !is_length(b, &answer))
            continue;
        struct value v = { .line = g->line ? g->line : a->line };
        const struct value_item from = { both[i][0], v.line, &v };
        set(t, length_at, prompt + answer, &from);
        launch_note(t->l, v.line, DIAG_ASSUMED,
                    "%s + %s = %" PRId64 " is taken to be the length of sequences",
                    both[i][0], both[i][1], prompt + answer);
        return;
    }
}
