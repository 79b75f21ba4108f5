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
    return strstr(text, "add_argument(") != NULL;
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

bool python_has_class(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (const char *c = text; (c = strstr(c, "class ")) != NULL; c += 6)
        if ((c == text || c[-1] == '\n') && strncmp(c + 6, name, len) == 0 &&
            (c[6 + len] == ':' || c[6 + len] == '('))
            return true;
    return false;
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

bool python_is_foreign_class(struct python_parser *r, const char *name)
{
    const struct python_modules *m = r->wanted->modules;
    const char *path = python_class_path(r, name), *dot = strrchr(path, '.');
    const char *file = NULL, *text = NULL;
    if (m && dot && path != name)
        text = m->text(m->of, r->p->arena,
                       arena_strndup(r->p->arena, path, (size_t)(dot - path)), &file);
    return text && python_makes(text) && python_has_class(text, dot + 1);
}
