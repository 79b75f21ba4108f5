/* Packages whose __init__.py imports a module when a name of it is first asked for: by
 * __getattr__ and a table, as transformers' _import_structure. The module is looked for in
 * the text. */
#include "dialect/python/python_parse.h"

#include <string.h>

static const char *skip_spaces(const char *s)
{
    while (*s == ' ' || *s == '\n' || *s == '\t' || *s == '(')
        s++;
    return s;
}

/* The module in quotes at `s`, ".mod" without its dots; NULL: there is none. */
static const char *quoted(struct arena *arena, const char *s)
{
    char quote = *s;
    if (quote != '"' && quote != '\'')
        return NULL;
    for (s++; *s == '.'; s++) {
    }
    size_t n = 0;
    while (python_is_letter(s[n]) || s[n] == '.')
        n++;
    return n && s[n] == quote ? arena_strndup(arena, s, n) : NULL;
}

/* "mod": ["build"], table["mod"] = ["build"]: the key before the list that `s` is in. */
static const char *key_before(struct arena *arena, const char *text, const char *s)
{
    while (s > text && *s != '[' && *s != '{' && *s != ']' && *s != '}')
        s--;
    if (*s != '[' && *s != '{')
        return NULL;
    bool colon = false;
    for (s--; s > text && strchr(" \n\t:=]", *s); s--)
        colon |= *s == ':' || *s == '=';
    char quote = *s;
    if (!colon || (quote != '"' && quote != '\'') || s == text)
        return NULL;
    do
        s--;
    while (s > text && *s != quote);
    return quoted(arena, s);
}

/* "build": ".mod", "build": (".mod", "build"). */
static const char *of_table(struct arena *arena, const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = text; (s = strstr(s, name)) != NULL; s += n) {
        bool whole = s > text && (s[-1] == '"' || s[-1] == '\'') && s[n] == s[-1];
        if (!whole)
            continue;
        const char *after = skip_spaces(s + n + 1);
        const char *module = *after == ':' ? quoted(arena, skip_spaces(after + 1))
                                           : key_before(arena, text, s - 2);
        if (module)
            return module;
    }
    return NULL;
}

/* from package.mod import build, within a function: modules are by their whole paths in
 * texts of packages. */
static const char *of_import(struct arena *arena, const char *text, const char *name)
{
    static const char from[] = "from ", import[] = " import ";
    size_t n = strlen(name);
    for (const char *s = text; (s = strstr(s, from)) != NULL;) {
        s += sizeof(from) - 1;
        s += strspn(s, ".");
        size_t m = 0;
        while (python_is_letter(s[m]) || s[m] == '.')
            m++;
        const char *list = s + m;
        if (!m || strncmp(list, import, sizeof(import) - 1) != 0)
            continue;
        list += sizeof(import) - 1;
        size_t length = strcspn(list, *list == '(' ? ")" : "\n");
        for (const char *w = list; (w = strstr(w, name)) != NULL; w += n)
            if (w + n <= list + length && !python_is_letter(w[n]) &&
                !python_is_letter(w[-1]))
                return arena_strndup(arena, s, m);
    }
    return NULL;
}

const char *python_lazy_module(struct arena *arena, const char *text, const char *name)
{
    if (!strstr(text, "__getattr__") && !strstr(text, "_LazyModule"))
        return NULL;
    const char *module = of_import(arena, text, name);
    return module ? module : of_table(arena, text, name);
}
