/* Lists of a file that say which layer is what. */
#include "model/families/families.h"
#include "model/pattern.h"

#include <inttypes.h>
#include <string.h>

/* Sliding and full attention, counted. */
int families_read_types(struct cfg list, struct family_layers *layers)
{
    const char *word;
    if (!cfg_is_array(list))
        return cfg_error(list, DIAG_WRONG_TYPE,
                         "the types of all layers are an array of words");
    layers->of = ARENA_ARRAY(cfg_arena(list), cfg_len(list) + 1, bool);
    for (struct cfg item = cfg_at(list, 0); cfg_present(item);
         item = cfg_at(list, ++layers->n)) {
        if (cfg_string(item, &word) < 0)
            return -1;
        bool sliding = strcmp(word, "sliding_attention") == 0;
        if (!sliding && strcmp(word, "full_attention") != 0)
            return cfg_error(
                item, DIAG_NOT_SIMULATED,
                "layers of \"%s\" are not modelled (\"full_attention\" and "
                "\"sliding_attention\" are)",
                word);
        layers->of[layers->n] = sliding;
        layers->sliding += sliding;
    }
    return 0;
}

int families_read_shares(struct cfg value, struct family_layers *layers)
{
    double share = 0;
    bool is_list = cfg_is_array(value);
    int64_t n = is_list ? cfg_len(value) : 1;
    layers->of = ARENA_ARRAY(cfg_arena(value), n + 1, bool);
    for (; layers->n < n; layers->n++) {
        if (cfg_real(is_list ? cfg_at(value, layers->n) : value, &share, 0, 1) < 0)
            return -1;
        layers->of[layers->n] = share > 0;
    }
    return 0;
}

int families_read_mlps(struct cfg list, struct family_raw *raw)
{
    const char *word;
    int64_t n = 0, dense = 0, leading = 0;
    if (!cfg_is_array(list))
        return cfg_error(list, DIAG_WRONG_TYPE,
                         "the MLPs of all layers are an array of words");
    for (struct cfg item = cfg_at(list, 0); cfg_present(item);
         item = cfg_at(list, ++n)) {
        if (cfg_string(item, &word) < 0)
            return -1;
        bool plain = strcmp(word, "dense") == 0;
        if (!plain && strcmp(word, "sparse") != 0)
            return cfg_error(item, DIAG_NOT_SIMULATED,
                             "an MLP of \"%s\" is not modelled (\"dense\" and "
                             "\"sparse\" are)",
                             word);
        leading += plain && leading == n;
        dense += plain;
    }
    if (n != raw->m.layers)
        return cfg_error(list, DIAG_CONTRADICTION,
                         "%" PRId64 " MLPs are listed, for %" PRId64 " layers", n,
                         raw->m.layers);
    raw->m.mlp.dense_layers = dense;
    raw->interleaved = dense > leading;
    return 0;
}

/* What layers are called in lists of them. */
static int find_kind(const char *word, struct model_kind *kind)
{
    static const struct {
        const char *word;
        struct model_kind kind;
    } words[] = {
        { "mamba", { MODEL_MIXER_STATE, MODEL_INNER_NONE, 0 } },
        { "mamba2", { MODEL_MIXER_STATE, MODEL_INNER_NONE, 0 } },
        { "conv", { MODEL_MIXER_STATE, MODEL_INNER_NONE, 0 } },
        { "linear_attention", { MODEL_MIXER_STATE, MODEL_INNER_NONE, 0 } },
        { "attention", { MODEL_MIXER_ATTENTION, MODEL_INNER_NONE, 0 } },
        { "full_attention", { MODEL_MIXER_ATTENTION, MODEL_INNER_NONE, 0 } },
        { "mlp", { MODEL_MIXER_NONE, MODEL_INNER_DENSE, 0 } },
        { "moe", { MODEL_MIXER_NONE, MODEL_INNER_MLP, 0 } },
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].word, word) == 0) {
            *kind = words[i].kind;
            return 0;
        }
    return -1;
}

static int read_letters(struct cfg value, struct family_pattern *p)
{
    const char *text;
    if (cfg_string(value, &text) < 0)
        return -1;
    p->kinds = ARENA_ARRAY(cfg_arena(value), strlen(text) + 1, struct model_kind);
    p->n = model_pattern_parse(text, p->kinds);
    if (p->n > 0)
        return 0;
    return cfg_error(value, DIAG_NOT_SIMULATED,
                     "a pattern of other layers than M (state), * (attention), - (MLP) "
                     "and E (experts) is not modelled");
}

/* Kinds of layers as letters, as words; or numbers of those with attention. */
int families_read_pattern(struct cfg value, struct family_pattern *p)
{
    const char *word;
    if (cfg_is_string(value))
        return read_letters(value, p);
    if (!cfg_is_array(value))
        return cfg_error(value, DIAG_WRONG_TYPE,
                         "the kinds of all layers are letters, or an array of words");
    p->kinds = ARENA_ARRAY(cfg_arena(value), cfg_len(value) + 1, struct model_kind);
    for (p->n = 0; p->n < cfg_len(value); p->n++) {
        struct cfg item = cfg_at(value, p->n);
        if (cfg_string(item, &word) < 0)
            return -1;
        if (find_kind(word, &p->kinds[p->n]) < 0)
            return cfg_error(item, DIAG_NOT_SIMULATED,
                             "layers of \"%s\" are not modelled", word);
    }
    return 0;
}

int families_read_members(struct cfg value, struct family_pattern *p)
{
    enum { MOST = 10000 };
    int64_t at;
    if (!cfg_is_array(value))
        return cfg_error(value, DIAG_WRONG_TYPE,
                         "this is an array of the layers' numbers");
    p->kinds = ARENA_ARRAY(cfg_arena(value), MOST, struct model_kind);
    for (int64_t i = 0; i < MOST; i++)
        p->kinds[i].mixer = MODEL_MIXER_STATE;
    for (int64_t i = 0; i < cfg_len(value); i++) {
        if (cfg_int(cfg_at(value, i), &at, 0, MOST - 1) < 0)
            return -1;
        p->kinds[at].mixer = MODEL_MIXER_ATTENTION;
    }
    return 0;
}

int families_read_items(struct cfg value, struct family_items *items)
{
    enum { MOST = 10000 };
    if (!cfg_is_array(value) || cfg_len(value) > MOST)
        return cfg_error(value, DIAG_WRONG_TYPE,
                         "this is an array of at most %d whole numbers", MOST);
    items->n = cfg_len(value);
    items->of = ARENA_ARRAY(cfg_arena(value), items->n + 1, int64_t);
    for (int64_t i = 0; i < items->n; i++)
        if (cfg_int(cfg_at(value, i), &items->of[i], 0, MOST) < 0)
            return -1;
    return 0;
}

int families_read_sides(struct cfg value, struct family_sides *sides, int64_t most)
{
    int64_t one;
    if (!cfg_is_array(value)) {
        if (cfg_int(value, &one, 1, most) < 0)
            return -1;
        *sides = (struct family_sides) { one, one };
        return 0;
    }
    if (cfg_len(value) != 2)
        return cfg_error(value, DIAG_WRONG_TYPE,
                         "this is one number, or an array of rows and columns");
    return cfg_int(cfg_at(value, 0), &sides->rows, 1, most) |
           cfg_int(cfg_at(value, 1), &sides->columns, 1, most);
}
