/* The model that a fine-tuned one's name says it was made of: "Llama-3.1-Swallow-8B" of
 * Llama-3.1-8B. */
#include "model/hub.h"

#include "base/names.h"

#include <ctype.h>
#include <string.h>

enum { WORDS_MAX = 24, TEXT_MAX_B = 200, STEM_MIN = 3, FEWEST = 2 };

/* A name in small letters, in its words: "gemma2-9b" is "gemma", "2", "9b". */
struct words {
    char text[TEXT_MAX_B];
    const char *v[WORDS_MAX];
    int n;
};

/* clang-format off */
/* Words that a model's name has and those of its fine-tuned variants need not. */
static const char *const free_words[] = {
    "base", "llm", "meta", "hf", "instruct", "chat", "it", "pt", "sft", "bf16", "fp16", "pretrain", NULL
};
/* Words of sizes that are no numbers; a variant that has one more is of another size. */
static const char *const size_words[] = {
    "tiny", "mini", "nano", "micro", "small", "medium", "large", "xl", "xxl", "huge", "giant", "lite", "half", NULL
};
/* Words of another architecture than that of the name without them. */
static const char *const other_words[] = {
    "vl", "vision", "llava", "audio", "omni", "moe", "pro", "mamba", "eagle", "medusa", "mtp", "draft", "pruned", "prune",
    "slim", "upscaled", "expanded", "depth", "layers", "layer", "code", "coder", "embedding", "embed", "reward", "rm",
    /* of another vocabulary: hfl/chinese-llama-2-7b has 55296 words, elyza's "fast" 45043 */
    "chinese", "japanese", "korean", "ko", "ja", "vocab", "fast", "extended", NULL
};
/* Folders within a run, whose name is that of the folder above. */
static const char *const of_runs[] = { "checkpoint", "ckpt", "epoch", "step", "global_step", "final", "best", "merged", "last" };
/* clang-format on */

static bool is_number(const char *word)
{
    return *word && word[strspn(word, "0123456789.")] == '\0';
}

/* "7b", "0.5b", "135m", "8x7b", "a3b". */
static bool is_size(const char *word)
{
    const char *at = word + (*word == 'a');
    size_t n = strspn(at, "0123456789.x");
    return names_listed(size_words, word) ||
           (n > 0 && (at[n] == 'b' || at[n] == 'm') && !at[n + 1]);
}

/* Whether a number begins here after letters that it ends the word of: "gemma2". */
static bool is_break(const char *word, const char *c)
{
    const char *rest = c + strspn(c, "0123456789.");
    size_t n = 0;
    while (isalpha((unsigned char)word[n]))
        n++;
    return n >= STEM_MIN && !word[n] && isdigit((unsigned char)*c) &&
           (!*rest || strchr("-_ ", *rest));
}

static void end_word(struct words *w, size_t begin, size_t *n)
{
    if (*n > begin && w->n < WORDS_MAX)
        w->v[w->n++] = w->text + begin;
    *n += *n > begin;
}

static void split(struct words *w, const char *name)
{
    const char *slash = strrchr(name, '/');
    size_t n = 0, begin = 0;
    memset(w, 0, sizeof(*w));
    for (const char *c = slash ? slash + 1 : name; *c && n + 2 < TEXT_MAX_B; c++) {
        bool point = *c == '_' && n > begin && isdigit((unsigned char)w->text[n - 1]) &&
                     isdigit((unsigned char)c[1]); /* internlm2_5 */
        bool gap = !point && strchr("-_ ", *c);
        if (gap || is_break(w->text + begin, c)) {
            end_word(w, begin, &n);
            begin = n;
        }
        if (!gap)
            w->text[n++] = point ? '.' : (char)tolower((unsigned char)*c);
    }
    end_word(w, begin, &n);
}

/* Whether a folder of a run has the name, which says nothing of its model. */
static bool is_of_run(const char *name)
{
    for (size_t i = 0; i < sizeof(of_runs) / sizeof(of_runs[0]); i++)
        if (strncmp(name, of_runs[i], strlen(of_runs[i])) == 0)
            return true;
    return false;
}

/* "runs/qwen2-7b/checkpoint-500" without the folders of a run at its end. */
static const char *without_run(struct arena *arena, const char *path)
{
    char *name = arena_strdup(arena, path), *slash;
    while ((slash = strrchr(name, '/')) && (!slash[1] || is_of_run(slash + 1)))
        *slash = '\0';
    return name;
}

/* Where a word is, from a place on; -1: nowhere. */
static int find(const struct words *w, const char *word, int from)
{
    for (int i = from; i < w->n; i++)
        if (strcmp(w->v[i], word) == 0)
            return i;
    return -1;
}

/* How many words of a known name the asked one has, in their order and numbers next to
 * what they number; 0: it is no variant of it. */
static int shared(const struct words *known, const struct words *asked)
{
    int n = 0, at = -1, first = 0;
    bool sized = false, after = false;
    for (int i = 0; i < known->n; i++) {
        const char *word = known->v[i];
        int next = find(asked, word, at + 1);
        if (next < 0 && names_listed(free_words, word))
            continue;
        if (next < 0 || (is_number(word) && after && next != at + 1))
            return 0;
        first = n ? first : next;
        sized |= is_size(word);
        after = true;
        at = next;
        n++;
    }
    bool numbered = first + 1 < asked->n && is_number(asked->v[first + 1]);
    bool own = known->n > 1 && is_number(known->v[1]);
    bool stem = strlen(known->v[0]) >= STEM_MIN || first == 0; /* "Yi-6B-to-mg" */
    return n >= FEWEST && stem && numbered == own && (sized || first == 0) ? n : 0;
}

/* Whether the asked name says a size or a kind that the known one does not. */
static bool differs(const struct words *known, const struct words *asked)
{
    for (int i = 0; i < asked->n; i++)
        if ((is_size(asked->v[i]) || names_listed(other_words, asked->v[i])) &&
            find(known, asked->v[i], 0) < 0)
            return true;
    return false;
}

/* "llama2_models-70B-hf" of ".../llama2_models/70B-hf": a size and words of variants say
 * nothing of the family. */
static const char *with_folder(struct arena *arena, const char *path)
{
    char *name = arena_strdup(arena, path), *slash = strrchr(name, '/');
    struct words last;
    bool sized = false, other = false;
    split(&last, name);
    for (int i = 0; i < last.n; i++) {
        sized |= is_size(last.v[i]);
        other |= !is_size(last.v[i]) && !names_listed(free_words, last.v[i]);
    }
    if (slash && sized && !other)
        *slash = '-';
    return name;
}

const char *hub_original(struct cfg_loader *loader, const char *id)
{
    struct words asked, known;
    const char *best = NULL;
    int most = 0;
    int64_t n;
    const struct hub_id *ids = hub_ids(loader, &n);
    split(&asked, with_folder(&loader->arena, without_run(&loader->arena, id)));
    for (int64_t i = 0; i < n; i++) {
        split(&known, ids[i].name);
        int k = shared(&known, &asked);
        if (k > most && !differs(&known, &asked)) {
            most = k;
            best = ids[i].name;
        }
    }
    return best;
}
