/* Which part of a model a text freezes whole: a loop over the parameters of one of its
 * modules, "for p in model.bert.encoder.parameters(): p.requires_grad = False", over those
 * of its first layers, or module.requires_grad_(False). */
#include "base/names.h"
#include "dialect/user_script/user_script_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_B = 120, LINE_MAX_B = 160 };

/* Modules by the last word of their paths, as transformers has them, and the words of
 * /training/frozen that they are. */
static const struct part {
    const char *name;
    bool of_body; /* only below one of `bodies` */
    const char *words[5];
} parts[] = {
    { "embeddings", true, { "embeddings", NULL } },
    { "embed_tokens", false, { "embeddings", NULL } },
    { "wte", false, { "embeddings", NULL } },
    { "encoder", true, { "attention", "mlp", "norms", NULL } },
    { "vision_tower", false, { "vision_tower", NULL } },
    { "visual", false, { "vision_tower", NULL } },
    { "vision_model", false, { "vision_tower", NULL } },
    { "multi_modal_projector", false, { "projector", NULL } },
    { "mm_projector", false, { "projector", NULL } },
    { "language_model", false, { "language_model", NULL } },
    { "lm_head", false, { "head", NULL } },
};
/* Attributes that hold all of a model but its head (base_model_prefix). */
static const char *const bodies[] = { "bert",    "roberta",     "distilbert", "electra",
                                      "deberta", "xlm_roberta", "base_model", NULL };
static const char *const body_words[] = { "embeddings", "attention", "mlp", "norms",
                                          NULL };
static const char *const layer_lists[] = { "layer", "layers", "h", "blocks", NULL };
/* Towers, and decoders next to an encoder, have layers of their own. */
static const char *const other_stacks[] = { "decoder", "vision", "visual", "image",
                                            "audio",   "speech", NULL };

/* Whether a path begins with a variable of a model that the text loads, or with a word
 * that is used for any. */
static bool may_be_model(const struct python *p, const char *path)
{
    static const char *const any[] = { "model", "self", NULL };
    char first[PATH_MAX_B];
    snprintf(first, sizeof(first), "%.*s", (int)strcspn(path, "."), path);
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (c->target && strcmp(c->target, first) == 0 &&
            user_script_part_of(c) == SCRIPT_MODEL)
            return true;
    }
    return names_listed(any, first);
}

/* Whether a model of pictures or sound is loaded, whose body has towers too. */
static bool has_towers(const struct python *p)
{
    static const char *const classes[] = { "Vision",  "ImageText", "Llava",
                                           "Qwen2VL", "Speech",    "ConditionalGen",
                                           NULL };
    for (int64_t i = 0; i < p->calls.n; i++)
        if (user_script_part_of(&p->calls.v[i]) == SCRIPT_MODEL &&
            names_mentioned(classes, p->calls.v[i].function))
            return true;
    return false;
}

/* The last word of a path, and the one before it, "" where there is none. */
static void cut_path(char *path, const char **last, const char **before)
{
    char *dot = strrchr(path, '.');
    *last = dot ? dot + 1 : path;
    *before = "";
    if (!dot)
        return;
    *dot = '\0';
    char *second = strrchr(path, '.');
    *before = second ? second + 1 : path;
}

static const char *const *words_of(const struct python *p, const char *written)
{
    char path[PATH_MAX_B];
    const char *last, *before;
    snprintf(path, sizeof(path), "%s", written);
    if (!strchr(path, '.') || !may_be_model(p, path))
        return NULL;
    cut_path(path, &last, &before);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(parts[i].name, last) == 0 &&
            (!parts[i].of_body || names_listed(bodies, before)))
            return parts[i].words;
    return names_listed(bodies, last) && !has_towers(p) ? body_words : NULL;
}

/* The line of a text by its number. */
static bool line_of(const char *text, int64_t number, char *out, size_t size)
{
    for (int64_t i = 1; text && i < number; i++) {
        text = strchr(text, '\n');
        text += text != NULL;
    }
    if (!text || number < 1)
        return false;
    snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
    return true;
}

/* The path of a loop's head, "for name, p in PATH.named_parameters():" of the variable p,
 * or "for p in PATH[:6]:", whose number is `first`, else 0. */
static bool head_of(const char *line, const char *variable, char *path, int64_t *first)
{
    static const char *const ends[] = { ".parameters():", ".named_parameters():" };
    const char *at = line + strspn(line, " \t"), *in = strstr(at, " in ");
    size_t width = strlen(variable);
    char *end = NULL;
    if (strncmp(at, "for ", 4) != 0 || !in || (size_t)(in - at) < 4 + width ||
        strncmp(in - width, variable, width) != 0 ||
        !strchr(" ,", in[-(long)width - 1]))
        return false;
    snprintf(path, PATH_MAX_B, "%s", in + 4);
    for (int i = 0; i < 2 && !end; i++)
        end = strstr(path, ends[i]);
    *first = 0;
    if (!end && (end = strstr(path, "[:"))) {
        char *rest;
        *first = strtoll(end + 2, &rest, 10);
        if (strncmp(rest, "]:", 2) != 0) /* a step, or a sum */
            return false;
    }
    if (!end || (*end == '[' && *first < 1))
        return false;
    *end = '\0';
    return true;
}

/* "p" of "p.requires_grad". */
static bool owner_of(const char *function, char *out)
{
    const char *dot = strrchr(function, '.');
    snprintf(out, PATH_MAX_B, "%.*s", dot ? (int)(dot - function) : 0, function);
    return *out;
}

/* The first layers of a list, over whose parameters a loop within the loop goes. */
static const char *first_layers(struct arena *arena, const struct python *p,
                                int64_t line, const char *variable)
{
    char head[LINE_MAX_B], path[PATH_MAX_B];
    const char *last, *before;
    int64_t first;
    if (!line_of(p->text, line, head, sizeof(head)) ||
        !head_of(head, variable, path, &first) || first < 1 || !may_be_model(p, path) ||
        names_mentioned(other_stacks, path))
        return NULL;
    cut_path(path, &last, &before);
    return names_listed(layer_lists, last)
               ? arena_printf(arena, "layers 0-%" PRId64, first - 1)
               : NULL;
}

static bool add_words(json_t *to, const char *const *words)
{
    for (const char *const *w = words; w && *w; w++)
        json_array_append_new(to, json_string(*w));
    return words;
}

bool user_script_freezes(json_t *to, struct arena *arena, const struct python *p,
                         const struct python_call *c)
{
    char owner[PATH_MAX_B], head[LINE_MAX_B], path[PATH_MAX_B];
    int64_t first;
    if (c->condition || c->unsure || c->imported || !owner_of(c->function, owner))
        return false;
    if (strcmp(python_last_part(c->function), "requires_grad_") == 0 && c->loops == 0)
        return add_words(to, words_of(p, owner));
    if (c->loops < 1 || c->loops > 2 ||
        !line_of(p->text, c->line - 1, head, sizeof(head)) ||
        !head_of(head, owner, path, &first) || first)
        return false;
    if (c->loops == 1)
        return add_words(to, words_of(p, path));
    const char *layers = first_layers(arena, p, c->line - 2, path), *const words[] = {
        layers, NULL
    };
    return layers && add_words(to, words);
}
