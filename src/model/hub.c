#include "model/hub.h"

#include "base/vec.h"
#include "config/cache.h"
#include "config/datadir.h"
#include "model/families/families.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_B = 160 };

static const struct cfg NOWHERE = { NULL, NULL, "" };

struct table {
    struct hub_id *v;
    int64_t n;
    struct cfg refused; /* families that are not modelled, each with its ids */
};

/* The table ------------------------------------------------------------------------ */

typedef VEC(struct hub_id) hub_vec;

static int read_row(hub_vec *ids, struct cfg base, const char *name, struct cfg row)
{
    struct hub_id id = { .name = name, .base = base, .row = row };
    struct cfg also = cfg_get(row, "also"), twice = cfg_get(row, "stored_twice");
    struct cfg family = cfg_get(row, "model_type");
    if (!cfg_present(family))
        family = cfg_get(base, "model_type");
    struct cfg file = cfg_get(row, "shipped");
    if (cfg_present(file))
        family = NOWHERE;
    if ((cfg_present(file) && cfg_string(file, &id.shipped) < 0) ||
        cfg_int(cfg_get(row, "parameters"), &id.parameters, 1, INT64_MAX) < 0 ||
        cfg_string(cfg_get(row, "source"), &id.source) < 0 ||
        (cfg_present(twice) && cfg_bool(twice, &id.stored_twice) < 0) ||
        (cfg_present(family) && cfg_string(family, &id.family) < 0))
        return -1;
    VEC_PUSH(ids, id);
    for (int64_t i = 0; i < cfg_len(also); i++) {
        id.alias = true;
        if (cfg_string(cfg_at(also, i), &id.name) < 0)
            return -1;
        VEC_PUSH(ids, id);
    }
    return 0;
}

static const void *make_table(struct cfg_loader *loader, const char *name,
                              struct cfg where)
{
    struct cfg root = datadir_load(loader, "models/hub", name, where);
    struct cfg groups = cfg_get(root, "groups");
    struct table *t = ARENA_NEW(&loader->arena, struct table);
    hub_vec ids = { 0 };
    int rc = cfg_present(root) ? 0 : -1;
    for (int64_t i = 0; i < cfg_len(groups) && rc == 0; i++) {
        struct cfg base = cfg_get(cfg_at(groups, i), "base");
        struct cfg models = cfg_get(cfg_at(groups, i), "models");
        for (void *it = cfg_first(models); it && rc == 0; it = cfg_next(models, it))
            rc = read_row(&ids, base, cfg_key(it), cfg_member(models, it));
    }
    *t = (struct table) { ARENA_ARRAY(&loader->arena, ids.n + 1, struct hub_id), ids.n,
                          cfg_get(root, "refused") };
    if (ids.n)
        memcpy(t->v, ids.v, (size_t)ids.n * sizeof(*t->v));
    VEC_RELEASE(&ids);
    return rc ? NULL : t;
}

static const struct table *table_of(struct cfg_loader *loader)
{
    return cache_get(loader, "hub", "ids", NOWHERE, make_table);
}

const struct hub_id *hub_ids(struct cfg_loader *loader, int64_t *n)
{
    const struct table *t = table_of(loader);
    *n = t ? t->n : 0;
    return t ? t->v : NULL;
}

/* Names by rule -------------------------------------------------------------------- */

/* Organisations that put up others' models under the same names; those that ModelScope
 * has for the authors' own, from its registry (ms-swift, swift/model/models). */
/* clang-format off */
static const char *const mirrors[] = {
    "unsloth", "NousResearch", "huggyllama", "RedHatAI", "neuralmagic", "mlx-community",
    "TheBloke", "lmstudio-community", "bartowski", "nm-testing", "hugging-quants",
    "casperhansen", "axolotl-ai-co", "axolotl-quants", "mistral-community",
    "ModelCloud", "LLM-Research", "AI-ModelScope", "ZhipuAI", "THUDM", "zai-org",
    "modelscope", "swift", "Shanghai_AI_Laboratory", "PaddlePaddle", "Tencent-Hunyuan",
    "OpenBMB", "01ai", "openai-mirror", "baichuan-inc", "CohereForAI", "CohereLabs",
    NULL
};

/* Words of a name that change weights, not sizes. */
static const char *const variants[] = {
    "instruct", "chat", "it", "hf", "sft", "dpo", "mpo", "pt", "rl", "qat", "bf16", "fp16",
    "ms", "unsloth", "reasoning", "thinking", "dequantized", "deduped", NULL
};

/* And those that say how the weights are stored. */
static const char *const quantised[] = {
    "bnb", "4bit", "8bit", "awq", "gptq", "int4", "int8", "fp8", "nf4", "nvfp4", "mxfp4",
    "gguf", "exl2", "w4a16", "w8a8", NULL
};
/* clang-format on */

static const char *plain_of(const char *id)
{
    const char *slash = strrchr(id, '/');
    return slash ? slash + 1 : id;
}

static size_t organisation(const char *id)
{
    const char *slash = strchr(id, '/');
    return slash ? (size_t)(slash - id) : 0;
}

/* Whether it says how large the model is: "7b", "0.5B", "135M". */
static bool is_size(const char *word)
{
    size_t n = strspn(word, "0123456789.");
    return n > 0 && (word[n] == 'b' || word[n] == 'm') && !word[n + 1];
}

/* Appends a word to a name of n letters, with "-" between; its letters now. */
static size_t add_word(char to[NAME_MAX_B], size_t n, const char *word, size_t k)
{
    if (n > 0)
        to[n++] = '-';
    if (k > NAME_MAX_B - 1 - n)
        k = NAME_MAX_B - 1 - n;
    memcpy(to + n, word, k);
    return n + k;
}

/* Small letters without the words that change no size; `whole` keeps them. "-base" goes
 * where the name is a user's or says a size before it: t5-base is no t5. */
static void simplify(char to[NAME_MAX_B], const char *id, bool whole, bool base)
{
    const char *from = plain_of(id);
    size_t n = 0;
    if (strncasecmp(from, "Meta-", 5) == 0)
        from += 5;
    while (*from && n + 2 < NAME_MAX_B) {
        char word[NAME_MAX_B];
        size_t k = 0;
        for (; *from && *from != '-' && *from != '_'; from++)
            if (k + 1 < sizeof(word))
                word[k++] = (char)tolower((unsigned char)*from);
        word[k] = '\0';
        from += *from != '\0';
        base |= is_size(word);
        if (!whole && (names_listed(variants, word) || names_listed(quantised, word) ||
                       (base && strcmp(word, "base") == 0)))
            continue;
        n = add_word(to, n, word, k);
    }
    to[n] = '\0';
}

/* What is asked for, with its name and its name by the rules. */
struct asked {
    const char *id;
    char whole[NAME_MAX_B], simple[NAME_MAX_B];
};

static struct asked asked_for(const char *id)
{
    struct asked asked = { .id = id };
    simplify(asked.whole, id, true, false);
    simplify(asked.simple, id, false, true);
    return asked;
}

/* How near a row is to that: 3 the id itself, 2 its name, 1 its name by the rules, 0
 * another model. */
static int match(const char *name, const struct asked *asked)
{
    char own[NAME_MAX_B];
    if (strcasecmp(name, asked->id) == 0)
        return 3;
    simplify(own, name, true, false);
    if (strcmp(own, asked->whole) == 0)
        return 2;
    simplify(own, name, false, false);
    return asked->simple[0] && strcmp(own, asked->simple) == 0;
}

bool hub_is_id(const char *word)
{
    const char *slash = strchr(word, '/');
    size_t n = strlen(word);
    return slash && slash != word && slash[1] && !strchr(slash + 1, '/') &&
           word[0] != '.' && word[0] != '~' &&
           !(n > 5 && strcmp(word + n - 5, ".json") == 0);
}

bool hub_find(struct hub_id *found, struct cfg_loader *loader, const char *id)
{
    int64_t n;
    int best = 0;
    const struct hub_id *ids = hub_ids(loader, &n);
    const struct asked asked = asked_for(id);
    for (int64_t i = 0; i < n && best < 3; i++) {
        int near = match(ids[i].name, &asked);
        if (near > best) {
            best = near;
            *found = ids[i];
        }
    }
    return best > 0;
}

bool hub_knows(struct cfg_loader *loader, const char *id)
{
    struct hub_id found;
    return hub_find(&found, loader, id);
}

const char *hub_refused(struct cfg_loader *loader, const char *id)
{
    const struct table *t = table_of(loader);
    struct cfg refused = t ? t->refused : NOWHERE;
    const struct asked asked = asked_for(id);
    for (void *it = cfg_first(refused); it; it = cfg_next(refused, it)) {
        struct cfg list = cfg_member(refused, it);
        const char *name;
        for (int64_t i = 0; i < cfg_len(list); i++)
            if (cfg_string(cfg_at(list, i), &name) == 0 && match(name, &asked) > 0)
                return cfg_key(it);
    }
    return NULL;
}

const char *hub_refusal(struct cfg_loader *loader, const char *id)
{
    const char *family = hub_refused(loader, id),
               *why = family ? family_refusal(family) : NULL;
    return family
               ? arena_printf(&loader->arena,
                              "\"%.80s\" is of family \"%s\", which is not modelled: "
                              "%s",
                              id, family, why ? why : "nothing is known of it")
               : NULL;
}

/* Ids of the same family ------------------------------------------------------------- */

enum { KIN_MAX = 3, STEM_MIN = 3, OTHER_SIZE = 1000 };

/* The letters that a word begins with. */
static size_t letters(const char *word)
{
    size_t n = 0;
    while (isalpha((unsigned char)word[n]))
        n++;
    return n;
}

static bool has_stem(const char *name, const char *stem, size_t n)
{
    char own[NAME_MAX_B];
    simplify(own, name, false, false);
    return letters(own) == n && strncmp(own, stem, n) == 0;
}

/* The size that a simplified name says, or "". */
static void size_of(char to[NAME_MAX_B], const char *simple)
{
    char words[NAME_MAX_B], *rest = NULL;
    snprintf(words, sizeof(words), "%s", simple);
    to[0] = '\0';
    for (char *w = strtok_r(words, "-", &rest); w; w = strtok_r(NULL, "-", &rest))
        if (is_size(w))
            snprintf(to, NAME_MAX_B, "%s", w);
}

/* How far a row is from what is asked for: its letters, after its size. */
static int distance(const char *name, const char *simple)
{
    char own[NAME_MAX_B], a[NAME_MAX_B], b[NAME_MAX_B];
    simplify(own, name, false, false);
    size_of(a, own);
    size_of(b, simple);
    return names_distance(own, simple) + (strcmp(a, b) == 0 ? 0 : OTHER_SIZE);
}

/* The nearest rows of a stem; how many there are. */
static int kin_of(const struct hub_id *kin[KIN_MAX], const struct table *t,
                  const char *simple, const char *stem)
{
    int far[KIN_MAX], n = 0;
    size_t len = letters(stem);
    for (int64_t i = 0; len >= STEM_MIN && i < t->n; i++) {
        if (t->v[i].alias || !has_stem(t->v[i].name, stem, len))
            continue;
        int d = distance(t->v[i].name, simple), at = n < KIN_MAX ? n++ : KIN_MAX;
        for (; at > 0 && far[at - 1] > d; at--)
            if (at < KIN_MAX) {
                far[at] = far[at - 1];
                kin[at] = kin[at - 1];
            }
        if (at < KIN_MAX) {
            far[at] = d;
            kin[at] = &t->v[i];
        }
    }
    return n;
}

const char *hub_kin(struct cfg_loader *loader, const char *id)
{
    const struct table *t = table_of(loader);
    const struct hub_id *kin[KIN_MAX];
    char simple[NAME_MAX_B];
    const char *text = NULL;
    simplify(simple, id, false, true);
    for (const char *word = simple; t && word && !text;) {
        int n = kin_of(kin, t, simple, word);
        for (int i = 0; i < n; i++)
            text = arena_printf(&loader->arena, "%s%s%s", text ? text : "",
                                text ? ", " : "", kin[i]->name);
        word = strchr(word, '-');
        word = word ? word + 1 : NULL;
    }
    return text;
}

/* Its config.json ------------------------------------------------------------------ */

static const char *nearest(struct cfg_loader *loader, const char *id)
{
    int64_t n;
    const struct hub_id *ids = hub_ids(loader, &n);
    struct name_value *names = ARENA_ARRAY(&loader->arena, n + 1, struct name_value);
    for (int64_t i = 0; i < n; i++)
        names[i].name = ids[i].name;
    const char *near = names_nearest(names, id);
    for (int64_t i = 0; i < n && !near; i++)
        names[i].name = plain_of(ids[i].name);
    return near ? near : names_nearest(names, plain_of(id));
}

static void unknown(struct cfg_loader *loader, const char *id, struct cfg where)
{
    const char *refusal = hub_refusal(loader, id);
    if (refusal) {
        cfg_error_at(loader, where, DIAG_NOT_SIMULATED, "%s", refusal);
        return;
    }
    const char *near = nearest(loader, id);
    const char *text = arena_printf(
        &loader->arena,
        "no file or folder \"%s\", and models/hub/ids.json has no such id (%s%s%sgive "
        "the path of its config.json)",
        id, near ? "did you mean \"" : "", near ? near : "", near ? "\"? Else " : "");
    cfg_error_at(loader, where, DIAG_UNKNOWN_NAME, "%s", text);
}

static bool is_mirror(const char *id)
{
    size_t n = organisation(id);
    for (const char *const *m = mirrors; *m; m++)
        if (strlen(*m) == n && strncasecmp(*m, id, n) == 0)
            return true;
    return n == 0;
}

/* Organisations whose models the Hub finds without them, as it did at first. */
static const char *const unnamed[] = { "google-bert",      "distilbert", "FacebookAI",
                                       "openai-community", "google-t5",  "albert",
                                       "almanach",         "xlnet",      NULL };

/* Whether a name without organisation or number may mean another's: bert-base. */
static bool is_vague(const struct hub_id *found, const char *id)
{
    char owner[NAME_MAX_B];
    snprintf(owner, sizeof(owner), "%.*s", (int)organisation(found->name), found->name);
    return !strpbrk(id, "0123456789") && !names_listed(unnamed, owner);
}

/* Whether an id has only the name of the row, and is another organisation's. */
static bool is_namesake(const struct hub_id *found, const char *id)
{
    size_t n = organisation(id);
    if (n == 0)
        return is_vague(found, id);
    bool same = n == organisation(found->name) && strncasecmp(id, found->name, n) == 0;
    return !same && !is_mirror(id);
}

const char *hub_namesake(struct cfg_loader *loader, const char *id)
{
    struct hub_id found;
    return hub_is_id(id) && hub_find(&found, loader, id) &&
                   strcasecmp(found.name, id) != 0 && is_namesake(&found, id)
               ? found.name
               : NULL;
}

/* Says what of the id the sizes do not hold. */
static void warn(const struct hub_id *found, const char *id, struct cfg where)
{
    char whole[NAME_MAX_B], *rest = NULL;
    if (!where.doc)
        return;
    if (is_namesake(found, id))
        cfg_warn(where, DIAG_INFERRED, "\"%s\" is read as %s, by its name", id,
                 found->name);
    simplify(whole, id, true, false);
    for (char *word = strtok_r(whole, "-", &rest); word;
         word = strtok_r(NULL, "-", &rest))
        if (names_listed(quantised, word)) {
            cfg_warn(where, DIAG_NOT_SIMULATED,
                     "\"%s\": its weights' format (%s) is not taken from its name; "
                     "weights are counted at the training's precision",
                     id, word);
            return;
        }
}

static struct cfg join(struct cfg_loader *loader, const struct hub_id *id)
{
    static const char *const own[] = { "parameters", "source", "stored_twice", "also",
                                       NULL };
    json_t *tree = json_deep_copy(id->base.json);
    const char *key;
    json_t *value;
    json_object_foreach(id->row.json, key, value) if (!names_listed(own, key))
        json_object_set_new(tree, key, json_deep_copy(value));
    return cfg_from_tree(loader, arena_printf(&loader->arena, "%s", id->name), tree);
}

struct cfg hub_load(struct cfg_loader *loader, const char *id, struct cfg where)
{
    struct hub_id found;
    if (!hub_find(&found, loader, id)) {
        unknown(loader, id, where);
        return NOWHERE;
    }
    warn(&found, id, where);
    return found.shipped ? datadir_load(loader, "models", found.shipped, where)
                         : join(loader, &found);
}
