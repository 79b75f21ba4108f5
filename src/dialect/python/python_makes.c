/* Modules of the user's own that make what a training is of: a model, adapters, arguments,
 * a loop's loaders, optimizers and wrappers. Their text is looked at, not read. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <string.h>

bool python_makes(const char *text)
{
    static const char *const parts[] = {
        "from_pretrained(", "LoraConfig(", "get_peft_model(", "TrainingArguments(",
        "BitsAndBytesConfig(", "SFTConfig(",
        /* of loops */
        ".backward(", "autocast(", "DataLoader(", "DistributedDataParallel(", "DDP(",
        "FullyShardedDataParallel(", "FSDP(", "fully_shard(", "deepspeed.initialize(",
        "DistributedOptimizer(", "clip_grad_norm_(", "optim.", "Accelerator(",
        "GradScaler(", "nn.Module)", /* of a model of its own */
        "add_argument(", "init_process_group(", NULL
    };
    return names_within(parts, text);
}

void python_spend(const struct python_modules *m, const char *text)
{
    *m->left -= 1 + (int)(strlen(text) >> 12);
}

bool python_parses(const char *text)
{
    static const char *const parts[] = {
        "add_argument(", "ArgumentParser",
        "TrlParser",     "parse_args_into_dataclasses(",
        "tyro.cli(",     NULL
    };
    return names_within(parts, text);
}

/* Modules that parse the command line are given it as the text is. */
void python_hand_command(const struct python_parser *r, const char *text,
                         struct python_wanted *to)
{
    bool parses = python_parses(text);
    to->given = parses ? r->wanted->given : NULL;
    to->words = parses ? r->wanted->words : NULL;
}

void python_share_environment(struct python_parser *r, struct value *bound)
{
    struct value *environment = python_find(r, PYTHON_ENVIRONMENT);
    if (environment)
        python_put(r, bound, PYTHON_ENVIRONMENT, bound->line, environment);
}

/* After the name of a class where a text defines it; NULL: it does not. */
static const char *class_at(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (const char *c = text; (c = strstr(c, "class ")) != NULL; c += 6)
        if ((c == text || c[-1] == '\n') && strncmp(c + 6, name, len) == 0 &&
            (c[6 + len] == ':' || c[6 + len] == '('))
            return c + 6 + len;
    return NULL;
}

bool python_has_class(const char *text, const char *name)
{
    return class_at(text, name) != NULL;
}

const char *python_class_path(struct python_parser *r, const char *function)
{
    const struct value *v = python_find(r, function);
    bool class = v && v->kind == VALUE_DICT && v->text;
    for (int64_t i = r->foreign.n; class && i-- > 0;)
        if (strcmp(r->foreign.v[i].name, function) == 0)
            return r->foreign.v[i].path;
    return function;
}

/* The text of the module of a class that is imported, by its name here; its own name. */
static const char *module_of(struct python_parser *r, const char *name,
                             const char **class)
{
    const struct python_modules *m = r->wanted->modules;
    const char *path = python_class_path(r, name), *dot = strrchr(path, '.');
    const char *file = NULL;
    *class = dot ? dot + 1 : path;
    return m && dot && path != name
               ? m->text(m->of, r->p->arena,
                         arena_strndup(r->p->arena, path, (size_t)(dot - path)), &file)
               : NULL;
}

/* How long a block's text is that follows a header: up to a line of its column or less. */
static size_t block_length(const char *body, size_t column)
{
    const char *s = body;
    while ((s = strchr(s, '\n')) != NULL) {
        size_t in = strspn(++s, " ");
        if (in <= column && s[in] && !strchr("\n\r#)\t", s[in]))
            return (size_t)(s - body);
    }
    return strlen(body);
}

/* A method of a class, from its name on, or of what that derives from in the same text;
 * NULL. */
static const char *method_text(struct python_parser *r, const char *text,
                               const char *class, const char *name)
{
    enum { BASES_MAX = 8 };
    for (int i = 0; i < BASES_MAX; i++) {
        const char *body = class_at(text, class);
        if (!body)
            break;
        const char *own = arena_strndup(r->p->arena, body, block_length(body, 0));
        const char *def = strstr(own, arena_printf(r->p->arena, " def %s(", name));
        if (def)
            return arena_strndup(r->p->arena, def, block_length(def, 4));
        class = arena_strndup(r->p->arena, body + (*body == '('),
                              strcspn(body + (*body == '('), ",)"));
    }
    return NULL;
}

bool python_computes_fields(struct python_parser *r, const char *name)
{
    const char *class, *text = module_of(r, name, &class);
    return text && (method_text(r, text, class, "__init__") ||
                    method_text(r, text, class, "__post_init__"));
}

bool python_method_sets(struct python_parser *r, const char *name, const char *method)
{
    const char *class, *text = module_of(r, name, &class);
    const char *body = text ? method_text(r, text, class, method) : NULL;
    for (const char *s = body; s && (s = strstr(s, "self.")) != NULL;) {
        s += 5;
        s += strcspn(s, " \n=(.[,)");
        s += strspn(s, " ");
        s += strspn(s, "+-*/|") ? strspn(s, "+-*/|") : 0;
        if (*s == '=' && s[1] != '=')
            return true;
    }
    return false;
}

bool python_is_foreign_class(struct python_parser *r, const char *name)
{
    const char *class, *text = module_of(r, name, &class);
    return text && python_makes(text) && python_has_class(text, class);
}

/* Whether what a class of a text derives from in the end, as far as the text has it, is
 * PyTorch's module or nothing. */
static bool is_plain(struct python_parser *r, const char *text, const char *class)
{
    enum { BASES_MAX = 8 };
    for (int i = 0; i < BASES_MAX; i++) {
        const char *body = class_at(text, class);
        if (!body)
            return i == 0 || !*class || names_ends(class, "Module") ||
                   strcmp(class, "object") == 0;
        class = *body == '('
                    ? arena_strndup(r->p->arena, body + 1, strcspn(body + 1, ",)"))
                    : "";
    }
    return false;
}

bool python_is_own_class(struct python_parser *r, const char *name)
{
    const struct python_modules *m = r->wanted->modules;
    const struct value *v = python_find(r, name);
    bool imported = v && v->kind == VALUE_UNKNOWN && v->text && v->why &&
                    strcmp(v->why, "it is imported") == 0;
    const char *path = imported ? v->text : python_class_path(r, name),
               *dot = strrchr(path, '.'), *file = NULL;
    const char *text =
        m && dot
            ? m->text(m->of, r->p->arena,
                      arena_strndup(r->p->arena, path, (size_t)(dot - path)), &file)
            : NULL;
    return text && is_plain(r, text, dot + 1);
}
