/* Names of models, tasks and data sets, as models/launch/names.json has them. */
#include "base/file.h"
#include "base/names.h"
#include "config/datadir.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/launch/launch_tokenizer.h"
#include "dialect/source/files.h"
#include "dialect/trainer/trainer.h"
#include "model/hub.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_B = 200, ID_TRIES_MAX = 64, ID_FILE_MAX_B = 4 << 20 };

static struct cfg look_up(struct launch_context *t, const char *table, const char *word)
{
    const char *rest;
    return launch_names_row(t, table, word, &rest);
}

/* "google-bert/BERT-Large" to "bert-large", "./run_qa.sh" to "run_qa". */
static const char *plain_name(struct launch_context *t, const char *text, bool ending)
{
    const char *slash = strrchr(text, '/');
    char *name = arena_printf(t->arena, "%.*s", NAME_MAX_B, slash ? slash + 1 : text);
    char *dot = ending ? strrchr(name, '.') : NULL;
    if (dot)
        *dot = '\0';
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return name;
}

static bool is_shipped(struct launch_context *t, const char *name)
{
    const char **all = datadir_list(t->arena, "models");
    while (*all && strcmp(*all, name) != 0)
        all++;
    return *all != NULL;
}

const char *trainer_model_named(struct launch_context *t, const char *path)
{
    const char *plain = arena_strndup(t->arena, path, file_path_length(path)),
               *text = launch_cached_id(t->arena, plain),
               *name = plain_name(t, text, false);
    struct cfg known = look_up(t, "models", name);
    const char *model = NULL;
    struct hub_id id;
    bool own = hub_find(&id, t->l->loader, text) && hub_is_id(text);
    if (own && !id.shipped)
        model = text;
    else if (is_shipped(t, name))
        model = name;
    else if (hub_find(&id, t->l->loader, text))
        model = id.shipped ? id.shipped : text;
    else if (known.json)
        cfg_string(known, &model);
    return model;
}

json_t *trainer_config_next_to(struct launch_context *t, const char *name,
                               const char *type, int64_t line)
{
    bool file = names_ends(name, ".json");
    const struct shell *shell = t->command ? t->command->shell : NULL;
    const char *path = file ? name : arena_printf(t->arena, "%s/config.json", name),
               *own = launch_written_text(t->l, shell, path),
               *at = own    ? NULL
                     : file ? launch_path_next_to(t->l, path, line)
                            : source_files_next_to(t->arena, t->l->where, path);
    const struct value *dir = value_member(t->call->arguments, "source_dir");
    if (!at && !own && dir && dir->kind == VALUE_STRING)
        at = source_files_next_to(t->arena, t->l->where,
                                  arena_printf(t->arena, "%s/%s", dir->text, path));
    struct cfg config = own  ? cfg_parse(t->l->loader, path, own, strlen(own))
                        : at ? cfg_load(t->l->loader, at)
                             : (struct cfg) { 0 };
    bool typed = json_object_get(config.json, "model_type") ||
                 json_object_get(config.json, "architectures");
    if (!json_is_object(config.json) || (!typed && !type))
        return NULL;
    launch_note(t->l, line, DIAG_ASSUMED, "%.160s is read", path);
    json_t *copy = json_deep_copy(config.json);
    if (!typed)
        json_object_set_new(copy, "model_type", json_string(type));
    return copy;
}

/* Whether what is before a place of its line speaks of a model: model_id = "...". */
static bool speaks_of_model(const char *text, const char *at)
{
    static const char *const words[] = { "model", NULL };
    const char *begin = at;
    while (begin > text && begin[-1] != '\n' && at - begin < NAME_MAX_B)
        begin--;
    char before[NAME_MAX_B + 1];
    memcpy(before, begin, (size_t)(at - begin));
    before[at - begin] = '\0';
    return names_mentioned(words, before) && !strchr(before, '#');
}

/* The first id of a known model in quotes that the file names as one: what fills the
 * folder that a program then loads; NULL: there is none. */
static const char *id_in_file(struct launch_context *t)
{
    struct err err = { 0 };
    size_t n;
    bool again = strcmp(t->l->file, "-") != 0; /* standard input is read once */
    char *text = again ? file_read(t->l->file, ID_FILE_MAX_B, &n, &err) : NULL;
    const char *found = NULL;
    int tries = 0; /* each looks for files */
    for (const char *at = text; at && !found && *at && tries < ID_TRIES_MAX; at++) {
        size_t length = *at == '"' || *at == '\'' ? strcspn(at + 1, "\"'\\ \n") : 0;
        const char *id =
            length > 2 && length < NAME_MAX_B && memchr(at + 1, '/', length)
                ? arena_strndup(t->arena, at + 1, length)
                : NULL;
        bool model = id && hub_is_id(id) && speaks_of_model(text, at);
        tries += model;
        if (model && trainer_model_named(t, id))
            found = id;
        at += id ? length : 0;
    }
    free(text);
    return found;
}

/* Whether a path is of what lives as long as a job: a folder that the program fills. */
static bool is_of_job(const char *path)
{
    return strncmp(path, "/tmp/", 5) == 0 || strncmp(path, "/opt/ml/", 8) == 0;
}

/* Asks for the config.json of a model whose name is not known. */
static void ask_model(struct launch_context *t, const char *pointer,
                      const struct value_item *it)
{
    const char *text = it->value->text, *kin = hub_kin(t->l->loader, text);
    const char *named = kin || hub_is_id(text) ? NULL : id_in_file(t);
    if (is_of_job(text) && !kin)
        launch_add_unresolved(t, pointer, it->value->line,
                              "%s: \"%.80s\" is a folder that the job fills, and with "
                              "which model is not known",
                              it->key, text);
    else
        launch_add_unresolved(t, pointer, it->value->line,
                              "%s: \"%.80s\" is not in models/ nor an id that "
                              "models/hub has; its config.json would do%s%s",
                              it->key, text, kin ? "; of its family are " : "",
                              kin ? kin : "");
    if (named)
        launch_add_example(t, pointer, named);
    if (kin)
        launch_add_example(t, pointer, arena_strndup(t->arena, kin, strcspn(kin, ",")));
}

/* Why a network of pictures by a short name of timm's or torchvision's is refused; NULL:
 * it is none of those. */
static const char *picture_refusal(struct launch_context *t, const char *name)
{
    const char *why = NULL;
    struct cfg row =
        strchr(name, '/') ? (struct cfg) { 0 } : look_up(t, "pictures_refused", name);
    if (row.json)
        cfg_string(row, &why);
    return why;
}

/* The model by the name of what it was made of; false: the name says none. */
static bool take_original(struct launch_context *t, const char *pointer,
                          const struct value_item *it)
{
    const char *text = launch_cached_id(t->arena, it->value->text),
               *id = hub_original(t->l->loader, text);
    if (!id)
        return false;
    launch_set(t, pointer, json_string(id), it);
    launch_note(t->l, it->value->line, DIAG_ASSUMED,
                "%s: \"%.80s\" is not known, and is taken to have the sizes and the "
                "vocabulary of %s, which its name is made of (give --set "
                "%s=PATH/config.json for its own)",
                it->key, text, id, pointer);
    return true;
}

void trainer_take_model(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    if (it->value->kind != VALUE_STRING) {
        launch_unresolved_item(t, row->pointer, it, "string");
        return;
    }
    json_t *own = trainer_config_next_to(t, it->value->text, NULL, it->value->line);
    if (own) {
        launch_set(t, row->pointer, own, it);
        return;
    }
    const char *model = trainer_model_named(t, it->value->text);
    const char *refusal = model ? NULL : hub_refusal(t->l->loader, it->value->text);
    if (!model && !refusal)
        refusal = picture_refusal(t, it->value->text);
    const char *like = model ? hub_namesake(t->l->loader, it->value->text) : NULL;
    if (like && strcmp(model, it->value->text) != 0)
        launch_note(t->l, it->value->line, DIAG_ASSUMED,
                    "%s: \"%.80s\" is taken to have the sizes and the vocabulary of "
                    "%s, by its name (give --set %s=PATH/config.json for its own)",
                    it->key, it->value->text, like, row->pointer);
    if (model)
        launch_set(t, row->pointer, json_string(model), it);
    else if (refusal)
        launch_add_unresolved(t, row->pointer, it->value->line, "%s: %s", it->key,
                              refusal);
    else if (!take_original(t, row->pointer, it))
        ask_model(t, row->pointer, it);
}

void trainer_take_config_name(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it)
{
    if (it->value->kind != VALUE_NONE && !launch_is_off(it->value))
        trainer_take_model(t, row, it);
}

void trainer_take_task(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    const char *task = NULL;
    if (it->value->kind != VALUE_STRING)
        return;
    struct cfg known = look_up(t, "tasks", plain_name(t, it->value->text, true));
    if (known.json && cfg_string(known, &task) == 0)
        launch_set(t, row->pointer, json_string(task), it);
}

void trainer_take_samples(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it)
{
    int64_t n = 0;
    if (it->value->kind != VALUE_STRING)
        return;
    struct cfg known = look_up(t, "samples", plain_name(t, it->value->text, false));
    if (known.json && cfg_int(known, &n, 1, INT64_MAX) == 0)
        launch_set(t, row->pointer, json_integer((json_int_t)n), it);
}
