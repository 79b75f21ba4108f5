/* Megatron's arguments of the tokenizer: how many entries the vocabulary has, and to
 * what it is padded. */
#include "config/pointer.h"
#include "dialect/launch/launch_tokenizer.h"
#include "dialect/megatron/megatron.h"

#include <inttypes.h>
#include <string.h>

enum { VOCAB_PADDING_MAX = 1 << 16, EXTRA_MAX = 1 << 20 };

/* clang-format off */
const struct dialect_option megatron_vocabulary_rows[] = {
    ROW("--pad-vocab-size-to", "/model/vocab_size", .kind = DIALECT_SIZE),
    ROW("--padded-vocab-size", "/model/vocab_size", .kind = DIALECT_SIZE),
    ROW("--vocab-size", "/model/vocab_size", .kind = DIALECT_SIZE, .written = true),
    ROW_END,
};
/* clang-format on */

/* What the tokenizer reads, in the words of arguments.py and of forks. */
static const struct value_item *path_of(const struct launch_command *c)
{
    static const char *const names[] = {
        "--tokenizer-model",   "--tokenizer-name-or-path",
        "--hf-tokenizer-path", "--tokenizer-file",
        "--vocab-file",        NULL
    };
    return launch_any_option(c, names);
}

/* What Pai's patches read where no other is named: the tokenizer of the checkpoint
 * (megatron_patch/tokenizer/__init__.py). */
static const struct value_item *path_of_patch(const struct launch_command *c,
                                              const struct value_item *patch)
{
    const struct value_item *path = path_of(c);
    return path || !patch ? path : launch_option(c, "--load");
}

/* The class that the programs have where none is named: GPT-2's, which alone reads a file
 * of merges, BERT's or, of rotary models, Llama's. */
static const char *usual_class(const struct launch_context *t,
                               const struct launch_command *c, bool *rotary)
{
    const json_t *position = pointer_get(t->tree, "/model/position_embedding_type");
    *rotary = position && strcmp(json_string_value(position), "rope") == 0 &&
              !launch_option(c, "--merge-file");
    return launch_has(t, "/model/encoder") || launch_has(t, "/model/encoder_decoder")
               ? "BertWordPieceLowerCase"
           : *rotary ? "Llama2Tokenizer"
                     : "GPT2BPETokenizer";
}

/* A path, or the end of one whose beginning is not known: "$ROOT/models/x-100k.model". */
static const char *known_text(const struct value_item *it)
{
    const char *text = it ? it->value->text : NULL,
               *slash = text ? strrchr(text, '/') : NULL;
    if (it && it->value->kind == VALUE_STRING)
        return text;
    return slash && slash[1] && !strpbrk(slash, "$`(?*") ? launch_path_end(text) : NULL;
}

/* What the words rest on, where that is not the name alone. */
static void note_words(struct launch_context *t, struct launch_vocabulary v,
                       const struct value_item *path, const char *name, bool named,
                       int64_t line)
{
    if (v.by)
        launch_note(t->l, path->value->line, DIAG_ASSUMED,
                    "%s: how many words there are is taken to be %" PRId64
                    ", by %s (give --set /model/vocab_size=N)",
                    path->key, v.n, v.by);
    else if (path && !known_text(path))
        launch_note(t->l, path->value->line, DIAG_ASSUMED,
                    "%s: which file it is is not known: the words of %s are taken "
                    "(give --set /model/vocab_size=N)",
                    path->key, name);
    else if (!named && !path)
        launch_note(t->l, line, DIAG_ASSUMED,
                    "no tokenizer is named: as many words as %s has are taken (give "
                    "--set /model/vocab_size=N)",
                    name);
}

/* A rotary model's SentencePiece file, called as Llama's is, of which nothing says more. */
static struct launch_vocabulary usual_pieces(struct launch_context *t, const char *name,
                                             const char *path)
{
    static const char file[] = "tokenizer.model";
    const json_t *position = pointer_get(t->tree, "/model/position_embedding_type");
    bool rotary = position && strcmp(json_string_value(position), "rope") == 0,
         pieces = strstr(name, "SentencePiece") != NULL,
         named = path && strcmp(launch_last_part(path), file) == 0;
    int64_t n =
        rotary && pieces && named ? launch_words_of_class(t, "Llama2Tokenizer") : 0;
    return (struct launch_vocabulary) { n, n ? "Llama 2's, whose file is called so"
                                             : NULL };
}

static void assume_vocabulary(struct launch_context *t, const struct launch_command *c)
{
    static const char at[] = "/model/vocab_size";
    const struct value_item *own = launch_option(c, "--patch-tokenizer-type"),
                            *type = own ? own : launch_option(c, "--tokenizer-type"),
                            *more =
                                launch_option(c, launch_has(t, "/model/encoder_decoder")
                                                     ? "--vocab-extra-ids"
                                                     : "--extra-vocab-size"),
                            *path = path_of_patch(c, own);
    bool rotary = false, named = known_text(type) != NULL;
    const char *name = named ? type->value->text : usual_class(t, c, &rotary);
    struct launch_vocabulary v = launch_vocabulary_of(t, name, known_text(path));
    int64_t of_class = own && more && v.by ? launch_words_of_class(t, name) : 0;
    if (of_class) { /* the model's name counts the entries that a patch adds */
        v = (struct launch_vocabulary) { of_class, NULL };
        path = NULL;
    }
    const struct value_item *by = path && known_text(path) ? path : type;
    struct value place = { .line = by ? by->value->line : c->command->line };
    const struct value_item from = { by ? by->key : "assumed", place.line, &place };
    int64_t extra = 0;
    if (!v.n)
        v = usual_pieces(t, name, known_text(path));
    launch_hear(t, type);
    launch_hear(t, path);
    launch_hear(t, more);
    if (!v.n) {
        launch_add_unresolved(t, at, place.line,
                              "%s: how many words %s%.60s has is not known", from.key,
                              by == type ? "" : "the tokenizer of ",
                              by == path && by ? launch_path_end(by->value->text)
                              : by             ? by->value->text
                                               : name);
        return;
    }
    note_words(t, v, path, name, named || !rotary, place.line);
    if (more && more->value->kind == VALUE_UNKNOWN) {
        launch_add_unknown(t, at, more->key, more->value);
        return;
    }
    if (more && launch_whole(more->value, &extra) && extra > 0 && extra < EXTRA_MAX)
        v.n += extra;
    launch_set(t, at, json_integer((json_int_t)v.n), &from);
}

/* --vocab-size is NullTokenizer's and TikTokenizer's: any other has as many words as it
 * has (megatron/training/tokenizer/tokenizer.py). Where that is certain, it is heeded. */
static bool is_not_heeded(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *given = launch_option(c, "--vocab-size"),
                            *own = launch_option(c, "--patch-tokenizer-type"),
                            *type = own ? own : launch_option(c, "--tokenizer-type"),
                            *path = path_of_patch(c, own);
    const char *name = known_text(type);
    int64_t n = 0;
    if (!given || !name || strstr(name, "Null") || strstr(name, "Tik") ||
        launch_option(c, "--pad-vocab-size-to") ||
        launch_option(c, "--padded-vocab-size") || !launch_whole(given->value, &n))
        return false;
    struct launch_vocabulary v = launch_vocabulary_of(t, name, known_text(path));
    bool other = v.n && !v.by && v.n != n && (!path || known_text(path));
    if (!other)
        return false;
    launch_hear(t, given);
    launch_note(t->l, given->line, DIAG_WITHOUT_EFFECT,
                "--vocab-size: without effect: Megatron reads it for NullTokenizer and "
                "TikTokenizer, and %.60s has %" PRId64 " entries (give --set "
                "/model/vocab_size=%" PRId64 " for a program that heeds it)",
                name, v.n, n);
    return true;
}

void megatron_take_vocabulary(struct launch_context *t, const struct launch_command *c)
{
    static const char at[] = "/model/vocab_size", padding[] = "/training/vocab_padding";
    static const char *const none[] = { "--no-pad-vocab-size",
                                        "--disable-pad-vocab-size", NULL };
    const struct value_item *it = launch_option(c, "--make-vocab-size-divisible-by"),
                            *bare = launch_any_option(c, none);
    int64_t tensor = launch_number(t, "/parallelism/tensor", 1), n;
    if (!is_not_heeded(t, c))
        launch_take_rows(t, megatron_vocabulary_rows, &c->options);
    if (!launch_has(t, at) && !launch_is_unresolved(t, at))
        assume_vocabulary(t, c);
    if (bare && !launch_is_off(bare->value)) { /* main of 2026 */
        launch_hear(t, bare);
        launch_set(t, padding, json_integer(1), bare);
        return;
    }
    if (!it || !launch_whole(it->value, &n) || n < 1 || n > VOCAB_PADDING_MAX)
        n = 128; /* arguments.py's default */
    struct value v = { .line = it ? it->value->line : c->command->line };
    const struct value_item from = { it ? it->key
                                        : "make-vocab-size-divisible-by's default",
                                     v.line, &v };
    launch_hear(t, it);
    if (tensor <= VOCAB_PADDING_MAX / n)
        launch_set(t, padding, json_integer((json_int_t)(n * tensor)), &from);
}
