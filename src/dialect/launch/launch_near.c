#define _XOPEN_SOURCE 700 /* realpath */
/* Files near a program that start it: a program whose arguments have no defaults is no
 * training by itself, and what gives them is mostly next to it. */
#include "dialect/launch/launch_near.h"

#include "base/fence.h"
#include "base/file.h"
#include "base/names.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { UP = 2, FILES_MAX = 300, FOLDERS_MAX = 60, FILE_MAX_B = 1 << 20, NAMED_MAX = 3 };

struct search {
    const struct launch *l;
    struct arena *arena;
    const char *program; /* "train.py" */
    const char *folder;  /* the last part of its folder's path: "scripts" */
    bool here;           /* that folder itself is looked into */
    int32_t n_read, n_folders, n_found;
    const char *found[NAMED_MAX];
};

/* Whether the line of a text that has the program's name starts it: a shell's by being
 * there, one of Python by what it has before. */
static bool starts(const char *line, const char *name, bool shell)
{
    static const char *const words[] = {
        "entry_point", "entry_script", "entrypoint",      "torchrun",
        "python",      "accelerate",   "deepspeed",       "%run",
        "command",     "subprocess",   "training_script", NULL
    };
    size_t n = (size_t)(name - line);
    char before[400];
    if (line[strspn(line, " \t\"")] == '#')
        return false;
    n = n < sizeof(before) ? n : sizeof(before) - 1;
    memcpy(before, name - n, n);
    before[n] = '\0';
    return shell || names_within(words, before);
}

/* Whether a text names the folder, as a word: source_dir="scripts". */
static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; n && (at = strstr(at, word)) != NULL; at += n)
        if ((at == text || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[n]) && at[n] != '_' && at[n] != '-')
            return true;
    return false;
}

/* Whether the path before a name may end by the folder: "scripts" of
 * "./scripts/train.py"; one that is not known, or has none, may. */
static bool is_in_folder(const char *text, const char *at, const char *folder)
{
    const char *from = at - (at > text);
    if (at == text || at[-1] != '/')
        return true;
    while (from > text &&
           (isalnum((unsigned char)from[-1]) || strchr("_-.{}$+", from[-1])))
        from--;
    size_t n = (size_t)(at - 1 - from);
    bool open = n == 0 || *from == '.' || memchr(from, '$', n) || memchr(from, '}', n);
    return open || (strlen(folder) == n && strncmp(from, folder, n) == 0);
}

static bool names_program(const struct search *s, const char *text, bool shell)
{
    size_t n = strlen(s->program);
    for (const char *at = text; (at = strstr(at, s->program)) != NULL; at += n) {
        char before = at == text ? ' ' : at[-1], after = at[n];
        const char *line = at;
        if (isalnum((unsigned char)before) || before == '_' || before == '-' ||
            isalnum((unsigned char)after) || after == '_')
            continue;
        while (line > text && line[-1] != '\n')
            line--;
        if (starts(line, at, shell) && is_in_folder(text, at, s->folder))
            return s->here || has_word(text, s->folder);
    }
    return false;
}

static void look_at(struct search *s, const char *path)
{
    static const char *const others[] = { ".ipynb", ".py" };
    bool shell = false, other = false;
    size_t len;
    struct err err = { 0 };
    for (const char *const *end = shell_endings; *end; end++)
        shell |= names_ends(path, *end);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        other |= names_ends(path, others[i]);
    if ((!shell && !other) || s->n_found >= NAMED_MAX || s->n_read >= FILES_MAX ||
        file_same(path, s->l->file) || names_ends(path, "__init__.py"))
        return;
    s->n_read++;
    char *text = file_read(path, FILE_MAX_B, &len, &err);
    if (text && names_program(s, text, shell))
        s->found[s->n_found++] = path;
    free(text);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The files of a folder, and of those in it where `below`. */
static void look_into(struct search *s, const char *folder, bool below)
{
    VEC(const char *) names = { 0 };
    bool here = strcmp(folder, ".") == 0;
    DIR *d =
        s->n_folders++ < FOLDERS_MAX && fence_allows(folder) ? opendir(folder) : NULL;
    for (struct dirent *e; d && names.n < FILES_MAX && (e = readdir(d));)
        if (e->d_name[0] != '.')
            VEC_PUSH(&names, here ? arena_strdup(s->arena, e->d_name)
                                  : arena_printf(s->arena, "%s/%s", folder, e->d_name));
    if (d)
        closedir(d);
    if (names.n)
        qsort(names.v, (size_t)names.n, sizeof(*names.v), by_name);
    for (int64_t i = 0; i < names.n; i++)
        look_at(s, names.v[i]);
    s->here = false;
    for (int64_t i = 0; below && i < names.n && s->n_found < NAMED_MAX; i++) {
        struct stat st;
        if (stat(names.v[i], &st) == 0 && S_ISDIR(st.st_mode))
            look_into(s, names.v[i], false);
    }
    VEC_RELEASE(&names);
}

/* The folder above: of "a/b" it is "a", of "." "..". */
static const char *above(struct arena *arena, const char *folder)
{
    const char *slash = strrchr(folder, '/'), *last = slash ? slash + 1 : folder;
    if (strcmp(last, "..") == 0)
        return arena_printf(arena, "%s/..", folder);
    if (strcmp(folder, ".") == 0)
        return "..";
    return slash == folder ? "/"
           : slash         ? arena_strndup(arena, folder, (size_t)(slash - folder))
                           : ".";
}

/* A path as a word of a shell. */
static const char *word_of(struct arena *arena, const char *path)
{
    for (const char *c = path; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-./+,=:@%", *c))
            return strchr(path, '\'') ? arena_printf(arena, "\"%s\"", path)
                                      : arena_printf(arena, "'%s'", path);
    return path;
}

const char *launch_starters_near(const struct launch *l)
{
    struct arena *arena = &l->loader->arena;
    struct search s = { .l = l, .arena = arena };
    const char *slash = strrchr(l->file, '/'), *all = NULL;
    s.program = slash ? slash + 1 : l->file;
    const char *folder = !slash ? "."
                         : slash == l->file
                             ? "/"
                             : arena_strndup(arena, l->file, (size_t)(slash - l->file));
    if (!names_ends(s.program, ".py") || l->notebook || !file_is_there(l->file))
        return NULL;
    char *whole = realpath(folder, NULL);
    const char *last = whole ? strrchr(whole, '/') : NULL;
    s.folder = arena_strdup(arena, last ? last + 1 : "");
    s.here = true;
    free(whole);
    look_into(&s, folder, true);
    for (int i = 0; i < UP && s.n_found == 0; i++) {
        folder = above(arena, folder);
        look_into(&s, folder, i == 0);
    }
    for (int i = 0; i < s.n_found; i++)
        all = arena_printf(arena, "%s%s%s", all ? all : "", all ? " or " : "",
                           word_of(arena, s.found[i]));
    return all;
}
