#define _GNU_SOURCE /* dladdr, strcasestr */
#define _DARWIN_C_SOURCE

#include "config/datadir.h"

#include "base/file.h"
#include "base/names.h"
#include "base/self.h"
#include "base/vec.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef SMSIM_DATA_DIR
#define SMSIM_DATA_DIR "."
#endif

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

enum { UP_MOST = 3 };

/* The file that holds this code: the shared library, or the executable. */
static int own_file(char path[SELF_PATH_B])
{
    static const char within[] = "";
    Dl_info info;
    if (!dladdr(within, &info) || !info.dli_fname ||
        !strstr(info.dli_fname, "libsmsim."))
        return self_real_path(path);
    char *real = realpath(info.dli_fname, NULL);
    int n = real ? snprintf(path, SELF_PATH_B, "%s", real) : -1;
    free(real);
    return n > 0 && n < SELF_PATH_B ? 0 : -1;
}

static bool is_ours(struct arena *arena, const char *dir)
{
    return is_directory(arena_printf(arena, "%s/models", dir)) &&
           is_directory(arena_printf(arena, "%s/topologies", dir));
}

/* The nearest directory above this code that is our data or has them in share/smsim;
 * else the one fixed at build time. */
static const char *near_code(struct arena *arena)
{
    char path[SELF_PATH_B];
    if (own_file(path))
        return SMSIM_DATA_DIR;
    for (int up = 0; up < UP_MOST; up++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            break;
        *slash = '\0';
        const char *share = arena_printf(arena, "%s/share/smsim", path);
        if (is_ours(arena, share))
            return share;
        if (slash != path && is_ours(arena, path))
            return arena_strdup(arena, path);
    }
    return SMSIM_DATA_DIR;
}

/* The same for the whole process: found once. */
static pthread_once_t found = PTHREAD_ONCE_INIT;
static char found_root[SELF_PATH_B];

static void find_root(void)
{
    struct arena arena;
    arena_init(&arena);
    snprintf(found_root, sizeof(found_root), "%s", near_code(&arena));
    arena_release(&arena);
}

const char *datadir_root(struct arena *arena)
{
    const char *set = getenv("SMSIM_DATA");
    if (set && set[0])
        return arena_strdup(arena, set);
    pthread_once(&found, find_root);
    return found_root;
}

static bool has_suffix(const char *s)
{
    size_t n = strlen(s);
    return n > 5 && strcmp(s + n - 5, ".json") == 0;
}

static bool is_path(const char *name)
{
    return strchr(name, '/') || has_suffix(name);
}

const char *datadir_file(struct arena *arena, const char *dir, const char *name)
{
    if (is_path(name))
        return arena_strdup(arena, name);
    return arena_printf(arena, "%s/%s/%s.json", datadir_root(arena), dir, name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **datadir_list(struct arena *arena, const char *dir)
{
    VEC(const char *) names = { 0 };
    DIR *d = opendir(arena_printf(arena, "%s/%s", datadir_root(arena), dir));
    for (struct dirent *e; d && (e = readdir(d));)
        if (has_suffix(e->d_name) && e->d_name[0] != '.')
            VEC_PUSH(&names, arena_strndup(arena, e->d_name, strlen(e->d_name) - 5));
    if (d)
        closedir(d);
    if (names.n)
        qsort(names.v, (size_t)names.n, sizeof(*names.v), by_name);
    const char **list = ARENA_ARRAY(arena, names.n + 1, const char *);
    if (names.n)
        memcpy(list, names.v, (size_t)names.n * sizeof(*list));
    VEC_RELEASE(&names);
    return list;
}

/* Whether letters and digits are the same, in any case. */
static bool same_letters(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a && !isalnum((unsigned char)*a))
            a++;
        while (*b && !isalnum((unsigned char)*b))
            b++;
        if (!*a || tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return *a == *b;
    }
}

const char *datadir_spelling(struct arena *arena, const char *dir, const char *name)
{
    if (is_path(name) || file_is_there(datadir_file(arena, dir, name)))
        return name;
    const char **list = datadir_list(arena, dir);
    for (size_t i = 0; list[i]; i++)
        if (same_letters(list[i], name))
            return list[i];
    return name;
}

int datadir_check(struct arena *arena, const char *dir, struct err *err)
{
    const char *path = arena_printf(arena, "%s/%s", datadir_root(arena), dir);
    DIR *d = opendir(path);
    if (!d)
        return err_set(err, "%s: cannot be read: %s (is SMSIM_DATA set rightly?)", path,
                       strerror(errno));
    closedir(d);
    return 0;
}

/* Whether a word is in a name, from the beginning of one of its own: "h200" is in
 * "H200-SXM-141GB", and not in "GH200". */
static bool has_word(const char *name, const char *word)
{
    for (const char *at = name; (at = strcasestr(at, word)); at++)
        if (at == name || !isalnum((unsigned char)at[-1]))
            return true;
    return false;
}

/* Whether each part of a name, between "-", is in another: "A100-80GB" in
 * "A100-SXM4-80GB". */
static bool has_parts(struct arena *arena, const char *of, const char *name)
{
    char *parts = arena_strdup(arena, name), *state = NULL;
    int n = 0;
    for (char *p = strtok_r(parts, "-_ ", &state); p; p = strtok_r(NULL, "-_ ", &state))
        if (has_word(of, p))
            n++;
        else
            return false;
    return n > 0;
}

/* Whether two names are of one family: the same before the dot ("p4d.24xlarge"). */
static bool is_kin(const char *of, const char *name)
{
    size_t n = strcspn(name, ".");
    return name[n] == '.' && n > 0 && strncasecmp(of, name, n + 1) == 0;
}

/* The parts of a name that some of the list have, joined; nothing where none of them has
 * a digit: of "NVIDIA H100 80GB HBM3" that is "H100 80GB". */
static const char *known_parts(struct arena *arena, const char **list, const char *name)
{
    char *parts = arena_strdup(arena, name), *state = NULL;
    const char *text = "";
    for (char *p = strtok_r(parts, "-_ ", &state); p;
         p = strtok_r(NULL, "-_ ", &state)) {
        size_t i = 0;
        while (list[i] && (!p[1] || !has_word(list[i], p)))
            i++;
        if (list[i])
            text = arena_printf(arena, "%s%s%s", text, *text ? "-" : "", p);
    }
    return strpbrk(text, "0123456789") ? text : "";
}

enum { MEANT_MAX = 4 };

/* Names that may be meant, quoted and joined: the one that is the same but for case, or
 * those that have all parts of it, or those of its family, or those that have its known
 * parts; NULL: none. */
static const char *meant(struct arena *arena, const char **list, const char *name)
{
    const char *text = NULL, *known = known_parts(arena, list, name);
    for (size_t i = 0; list[i]; i++)
        if (strcasecmp(list[i], name) == 0)
            return arena_printf(arena, "\"%s\"", list[i]);
    for (int rule = 0; rule < 3 && !text; rule++) {
        int n = 0;
        for (size_t i = 0; list[i] && n < MEANT_MAX; i++)
            if (rule == 1 ? is_kin(list[i], name)
                          : has_parts(arena, list[i], rule == 0 ? name : known))
                text = n++ ? arena_printf(arena, "%s, \"%s\"", text, list[i])
                           : arena_printf(arena, "\"%s\"", list[i]);
    }
    return text;
}

/* "did you mean ...?", or where names come from when none is near. */
static const char *hint(struct arena *arena, const char *dir, const char *name)
{
    static const char *const listed[] = { "gpus",   "instances",  "fabrics",
                                          "models", "frameworks", "scenarios",
                                          "sweeps", NULL };
    const char **list = datadir_list(arena, dir);
    size_t n = 0;
    while (list[n])
        n++;
    struct name_value *names = ARENA_ARRAY(arena, n + 1, struct name_value);
    for (size_t i = 0; i < n; i++)
        names[i].name = list[i];
    const char *near = names_nearest(names, name), *kind = strrchr(dir, '/');
    const char *several = near && is_kin(near, name) ? NULL : meant(arena, list, name);
    if (several)
        return arena_printf(arena, "did you mean %s?", several);
    if (near)
        return arena_printf(arena, "did you mean \"%s\"?", near);
    kind = kind ? kind + 1 : dir;
    return names_listed(listed, kind)
               ? arena_printf(arena, "smsim list %s shows them; or give a file's path",
                              kind)
               : arena_printf(arena, "write a name from %s/%s, or the path of a file",
                              datadir_root(arena), dir);
}

struct cfg datadir_load(struct cfg_loader *loader, const char *dir, const char *name,
                        struct cfg where)
{
    struct arena *arena = &loader->arena;
    const char *file = datadir_file(arena, dir, name);
    if (file_is_there(file))
        return cfg_load(loader, file);
    loader->inputs.n_unread++;
    const char *why = strerror(errno);
    enum diag_code code =
        errno != ENOENT || is_path(name) ? DIAG_UNREADABLE : DIAG_UNKNOWN_NAME;
    const char *what =
        errno != ENOENT ? arena_printf(arena, "%s: cannot be read: %s", file, why)
        : is_path(name)
            ? arena_printf(arena, "there is no file \"%s\" (check the path)", name)
            : arena_printf(arena, "\"%s\" is not in %s/ (%s)", name, dir,
                           hint(arena, dir, name));
    cfg_error_at(loader, where, code, "%s", what);
    return (struct cfg) { 0 };
}
