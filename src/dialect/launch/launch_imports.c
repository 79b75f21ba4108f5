#include "dialect/launch/launch_imports.h"

#include "base/file.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "dialect/launch/launch_found.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/source/files.h"
#include "dialect/source/hydra.h"
#include "dialect/source/yaml.h"

#include <stdlib.h>
#include <string.h>

enum {
    MODULES_MAX = 400,
    MODULE_MAX_B = 1 << 18,
    PROGRAM_MAX_B = 1 << 20,
    LINE_MAX_B = 300
};

/* A module by one part is in the folder of what imports it; one in a package may be in a
 * folder above, as sys.path has the repository's root, or in that root's src/, from which
 * it is installed. */
static const char *find(struct arena *arena, const char *where, const char *name)
{
    const char *path = source_files_next_to(arena, where, name);
    const char *slash = strrchr(where, '/');
    int n = slash ? (int)(slash - where + 1) : 0;
    if (!path && strchr(name, '/'))
        path = source_files_next_to(arena, where, arena_printf(arena, "src/%s", name));
    bool bare = !strchr(name, '/'); /* one of the folder itself */
    return path && bare &&
                   strcmp(path, arena_printf(arena, "%.*s%s", n, where, name)) != 0
               ? NULL
               : path;
}

/* What the text in quotes after `s` in its line names, joined by "/": "../src" of
 * os.path.join(here, "..", "src"); "": nothing. Moves `s` to the next line; one of a
 * notebook is as JSON has it. */
static const char *joined_folder(struct arena *arena, const char **s)
{
    size_t n = strnlen(*s, LINE_MAX_B);
    const char *line = arena_strndup(arena, *s, n), *next = strstr(line, "\\n"),
               *out = "";
    n = strcspn(line, "\n");
    const char *end = next && next < line + n ? next : line + n;
    for (const char *c = line; c < end; c++) {
        const char *close = *c == '"' || *c == '\'' ? strchr(c + 1, *c) : NULL;
        if (!close || close > end)
            continue;
        int quoted = (int)(close - c - 1);
        quoted -= quoted && close[-1] == '\\'; /* of JSON */
        out = arena_printf(arena, "%s%.*s/", out, quoted, c + 1);
        c = close;
    }
    *s += end - line;
    return out;
}

/* The folders that a program adds to sys.path, one a line. */
static void read_folders(const struct launch *l, const char *program,
                         struct launch_found *f)
{
    struct arena of_text;
    struct strbuf folders;
    arena_init(&of_text);
    strbuf_init(&folders);
    const char *s = launch_program_text(l, &of_text, program);
    bool any = false;
    while (s && (s = strstr(s, "sys.path.")) != NULL) {
        s += strlen("sys.path.");
        if (strncmp(s, "append", 6) != 0 && strncmp(s, "insert", 6) != 0)
            continue;
        any = true;
        const char *folder = joined_folder(&of_text, &s);
        if (*folder)
            strbuf_printf(&folders, "%s\n", folder);
    }
    f->text = any ? arena_strdup(f->arena, strbuf_get(&folders)) : NULL;
    f->known = true;
    strbuf_release(&folders);
    arena_release(&of_text);
}

/* A module in a folder that the program adds to sys.path: one that it names, or, as it
 * is made of __file__ most often, one above. */
static const char *find_added(struct arena *arena, const struct launch_imports *m,
                              const char *name)
{
    const char *program = m->program ? m->program : launch_last_part(m->l->where);
    struct launch_found *f = launch_found(m->l, arena, program, ""); /* its folders */
    const char *path = NULL;
    if (!f->known)
        read_folders(m->l, program, f);
    for (const char *s = f->text; s && *s && !path; s = strchr(s, '\n') + 1)
        path = source_files_next_to(
            arena, m->l->where,
            arena_printf(arena, "%.*s%s", (int)strcspn(s, "\n"), s, name));
    return path || !f->text ? path : source_files_next_to(arena, m->l->where, name);
}

/* What ".." of "from ..a import b" means in a package, n dots: "" at its root. */
static const char *package_above(struct arena *arena, const char *package, size_t dots)
{
    const char *end = package + strlen(package);
    for (; dots > 1 && end > package; dots--)
        for (end--; end > package && *end != '.'; end--)
            continue;
    return arena_strndup(arena, package, (size_t)(end - package));
}

/* A module's text with the package's name for the dots of its relative imports, as other
 * texts would import the same. */
static const char *absolute(struct arena *arena, const char *text, const char *package)
{
    struct strbuf b;
    strbuf_init(&b);
    for (const char *line = text; line;) {
        const char *end = strchr(line, '\n'), *at = line + strspn(line, " \t");
        size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
        bool relative = strncmp(at, "from .", 6) == 0;
        size_t dots = relative ? strspn(at + 5, ".") : 0;
        const char *base = relative ? package_above(arena, package, dots) : "";
        if (*base) {
            const char *rest = at + 5 + dots;
            bool named = *rest != ' ';
            strbuf_printf(&b, "%.*sfrom %s%s", (int)(at - line), line, base,
                          named ? "." : "");
            strbuf_printf(&b, "%.*s", (int)(n - (size_t)(rest - line)), rest);
        } else {
            strbuf_printf(&b, "%.*s", (int)n, line);
        }
        line = end ? end + 1 : NULL;
    }
    const char *out = arena_strdup(arena, strbuf_get(&b));
    strbuf_release(&b);
    return out;
}

/* The package that a module is in; of one that is a package, itself. */
static const char *package_of(struct arena *arena, const char *module, bool is_package)
{
    const char *dot = strrchr(module, '.');
    return is_package ? module
           : dot      ? arena_strndup(arena, module, (size_t)(dot - module))
                      : "";
}

/* The file of a module, or of its package's __init__. */
static const char *file_of(const struct launch_imports *m, struct arena *arena,
                           const char *name)
{
    const char *slash = m->program ? strrchr(m->program, '/') : NULL;
    const char *of_program =
        slash ? arena_printf(arena, "%.*s%s", (int)(slash - m->program + 1), m->program,
                             name)
              : NULL;
    const char *file =
        of_program ? source_files_next_to(arena, m->l->where, of_program) : NULL;
    const char *program = m->program && !slash
                              ? source_files_next_to(arena, m->l->where, m->program)
                              : NULL; /* above the file that starts it */
    file = file || !program ? file : find(arena, program, name);
    file = file ? file : find(arena, m->l->where, name);
    file = file ? file : find_added(arena, m, name);
    bool package = strchr(name, '/') != NULL; /* that is installed from its src/ */
    return file || !package ? file
                            : source_files_next_to(arena, m->l->where,
                                                   arena_printf(arena, "src/%s", name));
}

/* The text of a module's file; what is printed on the way is not kept. */
static void find_module(const struct launch_imports *m, const char *module,
                        const char *name, struct launch_found *f)
{
    struct arena tried;
    arena_init(&tried);
    const char *file = file_of(m, &tried, name);
    bool is_package = !file;
    f->path = arena_strdup(f->arena, name);
    if (is_package) {
        f->path = arena_printf(f->arena, "%.*s/__init__.py", (int)strlen(module), name);
        file = file_of(m, &tried, f->path);
    }
    struct err err = { 0 };
    size_t len;
    char *read = file ? file_read(file, MODULE_MAX_B, &len, &err) : NULL;
    const char *package = package_of(&tried, module, is_package);
    f->text = read && *package && strstr(read, "from .")
                  ? absolute(f->arena, read, package)
              : read ? arena_strdup(f->arena, read)
                     : NULL;
    f->known = true;
    free(read);
    arena_release(&tried);
}

static const char *read_module(const void *of, struct arena *arena, const char *module,
                               const char **path)
{
    /* whose trainers are read by their configurations, or refused */
    static const char *const frameworks[] = {
        "nanotron", "torchtitan", "llamafactory", "lmflow",   "litgpt",
        "xtuner",   "swift",      "axolotl",      "internlm", NULL,
    };
    const struct launch_imports *m = of;
    char *name = arena_printf(arena, "%s.py", module);
    if (names_listed(frameworks, arena_strndup(arena, module, strcspn(module, "."))))
        return NULL;
    for (char *p = name; p < name + strlen(module); p++)
        *p = *p == '.' ? '/' : *p;
    const struct source_file *own = launch_own_file(m->l, name);
    *path = name;
    if (own && strcmp(own->name, name) == 0)
        return own->text;
    struct launch_found *f = launch_found(m->l, arena, m->program, name);
    if (!f->known)
        find_module(m, module, name, f);
    *path = f->path;
    return f->text;
}

/* A name from the program's own folder, or from the folders that the file is in. */
static const char *find_document(struct arena *arena, const struct launch_imports *m,
                                 const char *name)
{
    const char *slash = m->program ? strrchr(m->program, '/') : NULL;
    const char *path = source_files_next_to(arena, m->l->where, name);
    if (path || !slash)
        return path;
    return source_files_next_to(
        arena, m->l->where,
        arena_printf(arena, "%.*s%s", (int)(slash - m->program + 1), m->program, name));
}

/* A document's text, which is to be freed; NULL. */
static char *document_text(const struct launch_imports *m, struct arena *arena,
                           const char *name, const char **path)
{
    const struct source_file *own = launch_own_file(m->l, name);
    const char *file = own ? NULL : find_document(arena, m, name);
    struct err err = { 0 };
    size_t len = 0;
    *path = file ? file : name;
    if (own)
        return xstrdup(own->text);
    return file ? file_read(file, MODULE_MAX_B, &len, &err) : NULL;
}

static const struct value *read_document(const void *of, struct arena *arena,
                                         const char *name, bool raw, const char **path)
{
    struct err err = { 0 };
    struct yaml y = { 0 };
    const struct value *root = NULL;
    char *text = document_text(of, arena, name, path);
    if (text && !yaml_read(&y, arena, text, strlen(text), &err) && y.documents.n) {
        if (!raw)
            yaml_interpolate(&y, y.documents.v[0]);
        root = y.documents.v[0];
    }
    yaml_release(&y);
    free(text);
    return root;
}

static const char *read_package(const void *of, struct arena *arena, const char *name)
{
    const char *path;
    char *text = document_text(of, arena, name, &path);
    const char *package = text ? hydra_package(arena, text) : NULL;
    free(text);
    return package;
}

static void resolve(const void *of, struct arena *arena, struct value *root)
{
    struct yaml y = { .arena = arena, .left = YAML_VALUES_MAX };
    (void)of;
    yaml_interpolate(&y, root);
    yaml_release(&y);
}

const struct python_modules *launch_imports(struct launch_imports *m,
                                            const struct launch *l, const char *program)
{
    *m = (struct launch_imports) { .l = l, .program = program, .left = MODULES_MAX };
    m->modules = (struct python_modules) {
        .text = read_module,
        .document = read_document,
        .package = read_package,
        .resolve = resolve,
        .of = m,
        .left = &m->left,
    };
    return &m->modules;
}

const char *launch_program_path(const struct launch *l, struct arena *arena,
                                const char *name)
{
    const char *path = source_files_next_to(arena, l->where, name);
    const char *slash = strrchr(name, '/');
    /* a package that is installed from its src/ */
    if (!path && slash && *name != '/' && *name != '$' && *name != '.')
        path =
            source_files_next_to(arena, l->where, arena_printf(arena, "src/%s", name));
    /* as scripts name files from where they are started */
    return path || !slash ? path : source_files_next_to(arena, l->where, slash + 1);
}

const char *launch_program_text(const struct launch *l, struct arena *arena,
                                const char *name)
{
    const struct source_file *own = launch_own_file(l, name);
    const char *path = own ? NULL : launch_program_path(l, arena, name);
    struct err err = { 0 };
    size_t len;
    if (own)
        return own->text;
    char *read = path ? file_read(path, PROGRAM_MAX_B, &len, &err) : NULL;
    const char *text = read ? arena_strdup(arena, read) : NULL;
    free(read);
    return text;
}

bool launch_is_of_recipes(const char *text)
{
    static const char *const marks[] = { "import nemo_run", "from megatron.bridge",
                                         "import megatron.bridge", NULL };
    return names_within(marks, text);
}

bool launch_starts_recipes(struct launch_context *t, const struct launch_command *c)
{
    const char *text =
        t && c ? launch_program_text(t->l, t->arena, c->command->words[c->script].text)
               : NULL;
    return text && launch_is_of_recipes(text);
}

struct launch_names {
    int64_t ranks;
    bool sound;           /* it is Python */
    struct python python; /* with the text */
};

static struct launch_names *read_names(struct arena *arena, const char *text,
                                       int64_t ranks)
{
    static const char *const none[] = { NULL };
    const struct python_wanted wanted = { .calls = none,
                                          .same = none,
                                          .gpu = { .world = ranks } };
    struct launch_names *n = ARENA_NEW(arena, struct launch_names);
    struct err err = { 0 };
    const char *own = arena_strdup(arena, text);
    n->ranks = ranks;
    n->sound = python_read(&n->python, arena, own, strlen(own), &wanted, &err) == 0;
    return n;
}

const struct python *launch_read_names(struct launch *l, const char *text,
                                       int64_t ranks)
{
    for (int64_t i = 0; i < l->names.n; i++) {
        const struct launch_names *n = l->names.v[i];
        if (n->ranks == ranks && strcmp(n->python.text, text) == 0)
            return n->sound ? &n->python : NULL;
    }
    struct launch_names *n = read_names(&l->loader->arena, text, ranks);
    VEC_PUSH(&l->names, n);
    return n->sound ? &n->python : NULL;
}

void launch_release_names(struct launch *l)
{
    for (int64_t i = 0; i < l->names.n; i++)
        python_release(&l->names.v[i]->python);
    VEC_RELEASE(&l->names);
    VEC_RELEASE(&l->judged);
}
