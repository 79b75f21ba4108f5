#include "dialect/launch/launch_tokenizer.h"

#include "base/file.h"
#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/source/files.h"
#include "model/hub.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 1 << 26, VOCABULARY_MAX_B = 64 << 20 };

/* How far above a file the model's directory is: MODEL/tokenizer/tokenizer.json. */
enum { MODEL_ABOVE = 2 };

/* Sizes of vocabularies that names of files have. */
enum { NAMED_MIN = 8000, NAMED_MAX = 600000 };

int64_t launch_words_of_class(struct launch_context *t, const char *name)
{
    struct cfg known = cfg_get(launch_names(t, "vocabularies"), name);
    int64_t n = 0;
    if (known.json)
        cfg_int(known, &n, 1, WORDS_MAX);
    return n;
}

int64_t launch_words_of_hub(struct launch_context *t, const char *id)
{
    struct hub_id found;
    int64_t n = 0;
    if (!hub_find(&found, t->l->loader, id))
        return 0;
    struct cfg all = hub_load(t->l->loader, found.name, (struct cfg) { 0 }),
               own = cfg_get(all, "vocab_size");
    if (!cfg_present(own))
        own = cfg_get(cfg_get(all, "text_config"), "vocab_size");
    if (cfg_present(own))
        cfg_int(own, &n, 1, WORDS_MAX);
    return n;
}

int64_t launch_words_within(struct launch_context *t, const char *text)
{
    struct cfg all = launch_flavor(t, "nemo", "vocabularies");
    size_t longest = 0;
    int64_t n = 0;
    char *plain = arena_strdup(t->arena, text);
    for (char *c = plain; *c; c++)
        *c = *c == '-' || *c == ' ' || *c == '.' ? '_'
                                                 : (char)tolower((unsigned char)*c);
    for (void *it = cfg_first(all); it; it = cfg_next(all, it))
        if (strlen(cfg_key(it)) > longest && strstr(plain, cfg_key(it))) {
            longest = strlen(cfg_key(it));
            cfg_int(cfg_member(all, it), &n, 1, WORDS_MAX);
        }
    return n;
}

/* Files ---------------------------------------------------------------------------- */

static int64_t count_lines(const char *text, size_t len)
{
    int64_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n' || i + 1 == len;
    return n;
}

/* vocab.json has its words as keys; tokenizer.json has them below, and those that were
 * added in a list. */
static int64_t count_keys(const char *text, size_t len)
{
    json_t *all = json_loadb(text, len, 0, NULL);
    const json_t *words = json_object_get(json_object_get(all, "model"), "vocab"),
                 *added = json_object_get(all, "added_tokens"), *token;
    size_t i, n = json_object_size(words ? words : all);
    if (words && json_is_array(words)) /* a unigram's, with their scores */
        n = json_array_size(words);
    json_array_foreach(added, i, token)
    {
        const char *word = json_string_value(json_object_get(token, "content"));
        n += json_is_object(words) && word && !json_object_get(words, word);
    }
    json_decref(all);
    return n > 1 && n < WORDS_MAX ? (int64_t)n : 0;
}

static int64_t words_in_file(struct launch_context *t, const char *name)
{
    bool json = names_ends(name, ".json");
    struct err err = { 0 };
    size_t len = 0;
    if (!json && !names_ends(name, ".txt"))
        return 0;
    const char *path = source_files_next_to(t->arena, t->l->where, name);
    char *text = path ? file_read(path, VOCABULARY_MAX_B, &len, &err) : NULL;
    int64_t n = !text ? 0 : json ? count_keys(text, len) : count_lines(text, len);
    free(text);
    return n;
}

/* The Hub's cache ------------------------------------------------------------------ */

/* "Qwen1.5" of "Qwen1___5", as ModelScope names folders (modelscope 1.9, hub/utils). */
static const char *with_dots(struct arena *arena, const char *text)
{
    static const char mark[] = "___";
    char *name = strstr(text, mark) ? arena_strdup(arena, text) : NULL;
    for (char *at = name; at && (at = strstr(at, mark)) != NULL;) {
        *at++ = '.';
        memmove(at, at + 2, strlen(at + 2) + 1);
    }
    return name ? name : text;
}

const char *launch_cached_id(struct arena *arena, const char *text)
{
    static const char mark[] = "models--";
    const char *at = strstr(text, mark);
    if (!at || (at != text && at[-1] != '/'))
        return with_dots(arena, text);
    at += strlen(mark);
    size_t n = strcspn(at, "/");
    char *id = arena_strndup(arena, at, n), *dashes = strstr(id, "--");
    if (!dashes)
        return id;
    *dashes = '/';
    memmove(dashes + 1, dashes + 2, strlen(dashes + 2) + 1);
    return id;
}

/* Paths ---------------------------------------------------------------------------- */

const char *launch_path_end(const char *path)
{
    const char *at = path + strlen(path);
    int parts = 2;
    while (at > path && parts > 0)
        parts -= *--at == '/';
    return at + (*at == '/');
}

/* Whether the path says so itself: "gpt2-vocab.json" of GPT-2's class. */
static bool is_own(struct launch_context *t, const char *name, const char *path)
{
    const char *stem = NULL;
    struct cfg own = cfg_get(launch_names(t, "vocabulary_files"), name);
    char *plain = arena_strdup(t->arena, launch_path_end(path));
    for (char *c = plain; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return own.json && cfg_string(own, &stem) == 0 && strstr(plain, stem);
}

static int64_t words_of_path(struct launch_context *t, const char *path)
{
    char *plain = arena_strndup(t->arena, path, file_path_length(path));
    int64_t words = launch_words_of_hub(t, launch_cached_id(t->arena, plain));
    for (int up = 0; up < MODEL_ABOVE && !words; up++) { /* of a file in it */
        char *slash = strrchr(plain, '/');
        if (!slash || slash == plain)
            break;
        *slash = '\0';
        words = launch_words_of_hub(t, plain);
    }
    return words;
}

/* A number from `at`, "131072" or "64k"; 0: it is none that is like a size. `end` is
 * after it. */
static int64_t size_at(const char *at, const char **end)
{
    char *after;
    long long n = strtoll(at, &after, 10);
    bool thousands = (*after == 'k' || *after == 'K') && n < NAMED_MAX / 1000;
    *end = after + thousands;
    n = thousands ? n * 1000 : n;
    return isalnum((unsigned char)**end) || n < NAMED_MIN || n > NAMED_MAX ? 0 : n;
}

/* The one size within a name; 0: there is none, or several. */
static int64_t size_within(const char *name)
{
    int64_t found = 0;
    const char *end;
    for (const char *c = name; *c; c = end) {
        int64_t n = isdigit((unsigned char)*c) ? size_at(c, &end) : (end = c + 1, 0);
        if (n && found && n != found)
            return 0;
        found = n ? n : found;
    }
    return found;
}

/* A SentencePiece file that somebody called after what it is: not as the class's own. */
static bool is_another(const char *path)
{
    static const char usual[] = "tokenizer.model";
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    return names_ends(last, ".model") && strcmp(last, usual) != 0;
}

static struct launch_vocabulary guess(struct launch_context *t, int64_t of_class,
                                      const char *name, const char *path)
{
    const char *end = launch_path_end(path),
               *by = arena_printf(t->arena, "the name \"%.60s\"", end);
    int64_t n = launch_words_within(t, end);
    n = n ? n : size_within(end);
    const char *of = n ? NULL : hub_original(t->l->loader, path);
    if (of) { /* "Yi-6B-to-mg-tp1" */
        n = launch_words_of_hub(t, of);
        by = arena_printf(t->arena, "\"%.60s\", which is like %.60s", end, of);
    }
    if (!n && is_another(path))
        of_class = 0;
    if (!n && of_class)
        by = arena_printf(t->arena, "%.60s's own, as %.60s is not here", name, end);
    n = n ? n : of_class;
    return (struct launch_vocabulary) { n, n ? by : NULL };
}

struct launch_vocabulary launch_vocabulary_of(struct launch_context *t,
                                              const char *name, const char *path)
{
    struct launch_vocabulary v = { name ? launch_words_of_class(t, name) : 0, NULL };
    if (!path || !*path)
        return v;
    int64_t n = words_in_file(t, path);
    if (!n && v.n && is_own(t, name, path))
        return v;
    n = n ? n : words_of_path(t, path);
    return n ? (struct launch_vocabulary) { n, NULL } : guess(t, v.n, name, path);
}
