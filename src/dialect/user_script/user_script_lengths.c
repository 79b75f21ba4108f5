/* How long sequences are, where no argument of the trainer says it: the length at which
 * tokenizers cut, and numbers with usual names, by which texts are joined into blocks. */
#include "dialect/user_script/user_script_lengths.h"
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/launch_imports.h"
#include "dialect/source/notebook.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

static const char length_at[] = "/training/sequence_length",
                  decoder_at[] = "/training/decoder_length";

/* Names of lengths, and what a loop of its own may count its microbatches by. */
const char *const user_script_kept[] = {
    "block_size", "chunk_size", "context_*",  "max_*length",
    "MAX_LEN*",   "max_len",    "*seq*_len*", "SEQ_LEN",
    "BLOCK_SIZE", "ctx_len",    "cutoff_len", "*accum*",
    "*ACCUM*",    "*grad_acc*", "*GRAD_ACC*", "*batch_size",
    "BATCH_SIZE", "cfg",        "conf",       "*config",
    "*args",      "params",     "CONFIG",     "max_context_width",
    NULL,
};

/* What functions that join texts into blocks are given: partial(chunk, chunk_length=N). */
static const char *const blocks[] = { "chunk_length",   "chunk_size",  "block_size",
                                      "max_seq_length", "max_seq_len", "seq_length" };

/* transformers' own data sets of a text file (data/datasets/language_modeling.py, 4.57). */
static const char *const text_datasets[] = { "TextDataset", "LineByLineTextDataset",
                                             "LineByLineWithRefDataset",
                                             "TextDatasetForNextSentencePrediction",
                                             NULL };

enum { LENGTH_MAX = 1 << 24 };

static bool is_length(const struct value *v, int64_t *n)
{
    return v && v->kind == VALUE_INT && launch_whole(v, n) && *n >= 2 &&
           *n <= LENGTH_MAX;
}

static bool pads(const struct python_call *c)
{
    const struct value_item *it = value_get(c->arguments, "padding"),
                            *old = value_get(c->arguments, "pad_to_max_length");
    return (it && it->value->kind == VALUE_STRING &&
            strcmp(it->value->text, "max_length") == 0) ||
           (old && launch_true(old->value));
}

static void set(struct launch_context *t, const char *pointer, int64_t n,
                const struct value_item *from)
{
    launch_set(t, pointer, json_integer((json_int_t)n), from);
}

/* The calls of a text that tokenise, up to a line. */
struct tokenised {
    const struct python *python;
    int64_t before; /* INT64_MAX: all */
    int64_t at;     /* the line at which the text is; 0: each call's own */
    bool pairs;     /* of an encoder and a decoder, each with texts of its own */
};

/* Whether a name is usual for what a decoder is to give: "labels", "target_encodings". */
static bool names_target(const char *name)
{
    static const char *const usual[] = { "label",   "target", "tgt",
                                         "decoder", "summar", "answer" };
    bool any = false;
    for (size_t i = 0; name && !any && i < sizeof(usual) / sizeof(usual[0]); i++)
        any = strstr(name, usual[i]) != NULL;
    return any;
}

/* A tokenizer's call, or one that pads what was tokenised to a length. */
static bool sets_length(const struct python_call *c)
{
    enum user_script_part part = user_script_part_of(c);
    return part == SCRIPT_TOKENISED || (part == SCRIPT_PADDED && pads(c));
}

static bool is_one(const struct tokenised *k, const struct python_call *c, bool target)
{
    bool of_target =
        value_get(c->arguments, "text_target") ||
        (k->pairs && c->target && names_target(python_last_part(c->target)));
    return sets_length(c) && !c->quoted && c->line < k->before && target == of_target;
}

static bool has_pairs(const struct launch_context *t)
{
    const char *task = json_string_value(pointer_get(t->tree, "/training/task"));
    return task && strcmp(task, "seq2seq") == 0;
}

/* Whether a name begins a part as words of evaluation do: "process_for_evaluate",
 * "ValidationSet"; one that says training as well is of both. */
static bool names_evaluation(const char *name)
{
    static const char *const words[] = { "eval", "valid",   "test",    "infer",
                                         "dev",  "predict", "generate" };
    bool any = false;
    for (const char *s = name; *s; s++) {
        bool begins = s == name || s[-1] == '_' || s[-1] == '.' ||
                      (isupper((unsigned char)*s) && !isupper((unsigned char)s[-1]));
        for (size_t i = 0; begins && i < sizeof(words) / sizeof(words[0]); i++)
            any |= strncasecmp(s, words[i], strlen(words[i])) == 0;
    }
    return any && !strstr(name, "train") && !strstr(name, "Train");
}

/* Whether a call is bound to such a name, or is in such a function. */
static bool is_of_evaluation(const struct python_call *c)
{
    bool any = c->target && names_evaluation(python_last_part(c->target));
    for (const struct python_around *a = c->around; a && !any; a = a->outer)
        any = names_evaluation(a->name);
    return any;
}

/* A length that is the model's: model.config.max_position_embeddings. */
static bool is_of_model(const struct value *v)
{
    return v->kind == VALUE_UNKNOWN && v->why &&
           (strstr(v->why, "max_position_embeddings") ||
            strstr(v->why, "model_max_length"));
}

/* Whether a call's max_length is left to the tokenizer, which is the model's positions
 * where it has learned them (transformers, tokenization_utils_base.py,
 * model_max_length). */
static bool leaves_length(const struct python_call *c)
{
    const struct value_item *n = value_get(c->arguments, "max_length");
    return !n || n->value->kind == VALUE_NONE || is_of_model(n->value);
}

static bool cuts(const struct python_call *c)
{
    const struct value_item *cut = value_get(c->arguments, "truncation");
    return cut && cut->value->kind != VALUE_UNKNOWN && !launch_is_off(cut->value);
}

/* The first call that treats texts so and leaves the length to the tokenizer, or NULL. */
static const struct python_call *tokenizer_s(const struct tokenised *k,
                                             bool (*treats)(const struct python_call *))
{
    for (int64_t i = 0; i < k->python->calls.n; i++) {
        const struct python_call *c = &k->python->calls.v[i];
        if (is_one(k, c, false) && !is_of_evaluation(c) && treats(c) &&
            leaves_length(c))
            return c;
    }
    return NULL;
}

/* The longest at which calls cut, of training or of evaluation. */
static const struct python_call *longest_of(const struct tokenised *k, bool target,
                                            bool evaluation)
{
    const struct python_call *best = NULL;
    int64_t most = 0, n;
    for (int64_t i = 0; i < k->python->calls.n; i++) {
        const struct python_call *c = &k->python->calls.v[i];
        const struct value_item *it = value_get(c->arguments, "max_length");
        if (!is_one(k, c, target) || is_of_evaluation(c) != evaluation || !it ||
            !is_length(it->value, &n) || n <= most)
            continue;
        most = n;
        best = c;
    }
    return best;
}

/* The longest at which any call of the training cuts; of what the decoder is given apart.
 * That of evaluation where nothing else tokenises. */
static const struct python_call *longest(const struct tokenised *k, bool target)
{
    const struct python_call *best = longest_of(k, target, false);
    bool left = tokenizer_s(k, pads) || tokenizer_s(k, cuts);
    return best || left ? best : longest_of(k, target, true);
}

static void take_tokenised(struct launch_context *t, const struct tokenised *k,
                           bool target, const char *pointer)
{
    const struct python_call *c = longest(k, target);
    const struct value_item *it = c ? value_get(c->arguments, "max_length") : NULL;
    int64_t n;
    if (!it || !is_length(it->value, &n))
        return;
    struct value v = { .line = k->at ? k->at : it->line };
    const struct value_item from = { it->key, v.line, &v };
    int64_t less = user_script_left_out(t->arena, k->python, c), more;
    const struct python_call *with =
        target ? NULL : user_script_joined(t->arena, k->python, c);
    bool joined = with && is_length(value_member(with->arguments, "max_length"), &more);
    n += joined ? more : 0;
    n -= less > 0 && less < n ? less : 0;
    set(t, pointer, n, &from);
    if (joined)
        launch_note(t->l, v.line, DIAG_ASSUMED,
                    "what lines %" PRId64 " and %" PRId64
                    " tokenise is joined: their lengths are added",
                    c->line, with->line);
    if (!pads(c))
        launch_note(t->l, v.line, DIAG_ASSUMED,
                    "max_length: texts are cut at %" PRId64
                    ", and shorter ones are not "
                    "padded to it: each is taken to be of that length (give --set "
                    "%s=N for a shorter mean)",
                    n, pointer);
}

/* Blocks of which a text's calls of map() make its data. */
static void take_blocks(struct launch_context *t, const struct tokenised *k)
{
    for (int64_t i = k->python->calls.n; i-- > 0;) {
        const struct python_call *c = &k->python->calls.v[i];
        const char *last = python_last_part(c->function);
        bool partial = strcmp(last, "partial") == 0 ||
                       strcmp(last, "pack_dataset") == 0 ||
                       names_listed(text_datasets, last);
        for (size_t b = 0; partial && b < sizeof(blocks) / sizeof(blocks[0]); b++) {
            const struct value_item *it = value_get(c->arguments, blocks[b]);
            int64_t n;
            if (!it || c->quoted || c->line >= k->before || !is_length(it->value, &n))
                continue;
            struct value v = { .line = k->at ? k->at : it->line };
            const struct value_item from = { blocks[b], v.line, &v };
            set(t, length_at, n, &from);
            return;
        }
    }
}

/* The tokenizer's own length, to which texts are padded or else cut. */
static void take_tokenizer_s(struct launch_context *t, const struct tokenised *k)
{
    const struct python_call *padded = tokenizer_s(k, pads),
                             *cut = tokenizer_s(k, cuts);
    if (!padded && !cut)
        return;
    t->l->lengths = (struct launch_lengths) {
        .program = padded ? "padding=\"max_length\"" : "truncation=True",
        .full = padded != NULL,
        .cut = !padded,
        .line = k->at ? k->at : (padded ? padded : cut)->line,
    };
}

static void take_prepared(struct launch_context *t, const struct tokenised *k)
{
    if (launch_has(t, length_at) || launch_is_unresolved(t, length_at))
        return;
    take_blocks(t, k);
    if (!launch_has(t, length_at))
        take_tokenised(t, k, false, length_at);
    if (!launch_has(t, length_at))
        take_tokenizer_s(t, k);
    if (!launch_has(t, decoder_at))
        take_tokenised(t, k, true, decoder_at);
}

/* A script that the notebook writes for another of its steps. */
static void take_written(struct launch_context *t, const struct source_file *file)
{
    const struct python_wanted wanted = { .calls = user_script_calls,
                                          .same = user_script_same };
    struct python p;
    struct err err = { 0 };
    if (python_read(&p, t->arena, file->text, strlen(file->text), &wanted, &err) == 0)
        take_prepared(t,
                      &(struct tokenised) { &p, INT64_MAX, file->line, has_pairs(t) });
    python_release(&p);
}

void user_script_take_tokenised(struct launch_context *t, const struct python *p,
                                int64_t before)
{
    const struct notebook *nb = t->l->notebook;
    take_prepared(t, &(struct tokenised) { p, before, 0, has_pairs(t) });
    for (int64_t i = nb ? nb->files.n : 0; i-- > 0 && !launch_has(t, length_at);) {
        const struct source_file *file = &nb->files.v[i];
        const char *dot = strrchr(file->name, '.');
        if (dot && strcmp(dot, ".py") == 0 && file->line < before)
            take_written(t, file);
    }
}

void user_script_take_padded(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *trainer = g->parts[SCRIPT_TRAINER];
    const struct tokenised k = { g->python, trainer ? trainer->line : INT64_MAX,
                                 g->line, false };
    const struct python_call *c = longest(&k, false);
    if (c && pads(c) && !value_get(g->words, "max_length") &&
        !value_get(g->words, "max_seq_length"))
        take_tokenised(t, &k, false, length_at);
}

/* Whether a call pads or cuts at a length that is not known: tokenizer(text,
 * max_length=self.max_length). */
static bool cuts_openly(const struct python *p)
{
    const struct tokenised k = { p, INT64_MAX, 0, false };
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        const struct value *n = user_script_given(c, "max_length", "");
        if (is_one(&k, c, false) && !is_of_evaluation(c) && n &&
            n->kind == VALUE_UNKNOWN && !is_of_model(n))
            return true;
    }
    return false;
}

/* How long a loop of the text's own is. */
static void take_steps(struct launch_context *t, const struct user_script *g)
{
    static const char at[] = "/training/steps";
    static const char *const counts[] = { "train_steps",     "max_train_steps",
                                          "num_train_steps", "training_steps",
                                          "total_steps",     "max_steps" };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        const struct value *bound = user_script_usual(g->python, counts[i]);
        if (!bound || g->n_trainers || launch_has(t, at) ||
            launch_has(t, "/training/epochs"))
            continue;
        int64_t line = bound->line < 0 ? -bound->line : bound->line;
        struct value v = { .line = g->line ? g->line : line };
        const struct value_item from = { counts[i], v.line, &v };
        set(t, at, bound->integer, &from);
    }
}

/* What the decoder is given, where tokenizers are switched to targets or take both. */
static void take_target(struct launch_context *t, const struct user_script *g)
{
    static const char *const targets[] = { "max_target_length", "max_output_length",
                                           "max_answer_length", "max_summary_length" };
    int64_t n;
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        const struct value *bound = user_script_usual(g->python, targets[i]);
        if (!has_pairs(t) || !is_length(bound, &n))
            continue;
        struct value v = { .line = g->line ? g->line : bound->line };
        const struct value_item from = { targets[i], v.line, &v };
        set(t, decoder_at, n, &from);
        return;
    }
}

/* A module of the user's own whose functions the text hands to others: dataset.map(f),
 * collate_fn=f. true: it tokenises. */
static bool take_imported(struct launch_context *t, const char *path, const char *text,
                          int64_t line)
{
    const struct python_wanted wanted = { .calls = user_script_calls,
                                          .same = user_script_same };
    struct python p;
    struct err err = { 0 };
    if (python_read(&p, t->arena, text, strlen(text), &wanted, &err) == 0)
        take_prepared(t, &(struct tokenised) { &p, INT64_MAX, line, has_pairs(t) });
    bool any = launch_has(t, length_at) || t->l->lengths.program;
    if (any)
        launch_note(t->l, line, DIAG_ASSUMED,
                    "the length is that at which %.80s cuts or pads texts", path);
    python_release(&p);
    return any;
}

static void take_modules(struct launch_context *t, const struct user_script *g)
{
    struct launch_imports imports;
    const struct python_modules *m = launch_imports(&imports, t->l, g->program);
    for (int64_t i = 0; i < g->python->names.n; i++) {
        const struct value *v = g->python->names.v[i].value;
        const char *dot = v && v->text ? strrchr(v->text, '.') : NULL, *path;
        if (!dot || v->kind != VALUE_UNKNOWN || strcmp(v->why, "it is imported") != 0 ||
            imports.left-- <= 0)
            continue;
        const char *text =
            m->text(m->of, t->arena,
                    arena_strndup(t->arena, v->text, (size_t)(dot - v->text)), &path);
        if (text && strstr(text, "tokenizer") &&
            take_imported(t, path, text, g->line ? g->line : v->line))
            return;
    }
}

void user_script_take_lengths(struct launch_context *t, const struct user_script *g)
{
    int64_t n;
    if (user_script_trains(g))
        take_steps(t, g);
    const struct value *block = python_name(g->python, "block_size");
    const struct tokenised k = { g->python, INT64_MAX, g->line, has_pairs(t) };
    if (launch_has(t, length_at) || launch_is_unresolved(t, length_at))
        return;
    if (!is_length(block, &n))
        take_blocks(t, &k);
    if (!is_length(block, &n) &&
        !launch_has(t, length_at)) /* blocks are made of what tokenizers gave */
        take_tokenised(t, &k, false, length_at);
    /* of a model of the text's own they are of anything */
    if (!launch_has(t, length_at) && user_script_trains(g))
        user_script_take_named_length(t, g, cuts_openly(g->python));
    if (!launch_has(t, length_at) && user_script_trains(g))
        user_script_take_both_lengths(t, g);
    if (!launch_has(t, length_at))
        user_script_take_random_length(t, g);
    if (!launch_has(t, length_at))
        take_tokenizer_s(t, &k);
    if (!launch_has(t, length_at) && !t->l->lengths.program)
        take_modules(t, g);
    if (!launch_has(t, decoder_at))
        take_tokenised(t, &k, true, decoder_at);
    if (!launch_has(t, decoder_at))
        take_target(t, g);
}
