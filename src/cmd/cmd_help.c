/* smsim help KEY: what a key of a scenario, a sweep or a topology file means; smsim
 * help dialects. */
#include "cmd/cmd.h"
#include "dialect/dialect.h"
#include "report/report.h"
#include "schema/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_WIDTH = 19 };

/* "label: text", wrapped; the first line of a key is its pointer. */
static void print_line(const char *line)
{
    char first[64], indent[LABEL_WIDTH + 1];
    const char *colon = strstr(line, ": ");
    if (!colon || strchr(line, ' ') > colon + 1 || line[0] == '/') {
        printf("%s\n", line);
        return;
    }
    snprintf(first, sizeof(first), "  %.*s%*s", (int)(colon - line), line,
             LABEL_WIDTH - 2 - (int)(colon - line), "");
    snprintf(indent, sizeof(indent), "%*s", LABEL_WIDTH, "");
    report_wrap(stdout, first, indent, colon + 2);
}

static void print_key(const struct reference *r, const struct reference_key *key,
                      bool first)
{
    struct strbuf text;
    char *rest = NULL;
    strbuf_init(&text);
    reference_key_text(&text, r, key);
    if (!first)
        printf("\n");
    char *line = strtok_r(text.s, "\n", &rest);
    printf("%s\n", line);
    while ((line = strtok_r(NULL, "\n", &rest)))
        print_line(line);
    strbuf_release(&text);
}

/* Whether a user's words name a key: its pointer, its end, or its last part. */
static bool is_named(const char *pointer, const char *word)
{
    size_t n = strlen(pointer), m = strlen(word);
    if (word[0] == '/')
        return strcmp(pointer, word) == 0;
    return m < n && pointer[n - m - 1] == '/' && strcmp(pointer + n - m, word) == 0;
}

static int print_keys(const struct reference *r, const char *word, int printed)
{
    const char *pointer = word[0] == '/' ? reference_pointer(r, word) : word;
    for (int64_t i = 0; i < r->keys.n; i++)
        if (is_named(r->keys.v[i].pointer, pointer))
            print_key(r, &r->keys.v[i], printed++ == 0);
    return printed;
}

/* A word that is no key's: the keys that take it. */
static int print_keys_of_value(const struct reference *r, const char *word, int printed)
{
    for (int64_t i = 0; i < r->keys.n; i++)
        if (reference_has_value(&r->keys.v[i], word))
            print_key(r, &r->keys.v[i], printed++ == 0);
    return printed;
}

/* The name nearest to a word, of the commands and the keys of all kinds; NULL: none is
 * near. */
static const char *nearest(const struct reference *all, int n, const char *word,
                           const struct name_value *commands)
{
    VEC(struct name_value) names = { NULL, 0, 0 };
    for (; commands->name; commands++)
        VEC_PUSH(&names, *commands);
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < all[i].keys.n; k++) {
            const char *pointer = all[i].keys.v[k].pointer;
            const char *name = word[0] == '/' ? pointer : reference_name(pointer);
            if (strcmp(name, "*") != 0)
                VEC_PUSH(&names, ((struct name_value) { name, 0 }));
        }
    VEC_PUSH(&names, ((struct name_value) { NULL, 0 }));
    const char *near = names_nearest(names.v, word);
    VEC_RELEASE(&names);
    return near;
}

static int unknown(const struct reference *all, int n, const char *word,
                   const struct name_value *commands)
{
    const char *near = nearest(all, n, word, commands);
    report_linef(stderr,
                 "smsim help: no command or key \"%.60s\"%s%s%s (smsim --help lists "
                 "commands, docs/reference.md keys)",
                 word, near ? "; did you mean \"" : "", near ? near : "",
                 near ? "\"?" : "");
    return EXIT_USAGE;
}

/* What files of it are. */
static const char *dialect_form(const struct dialect *d)
{
    if (d->sources & DIALECT_CALLS)
        return " (Python)";
    if (d->sources == (DIALECT_COMMAND | DIALECT_DOCUMENT))
        return " (shell scripts, documents)";
    if (d->sources & DIALECT_COMMAND)
        return " (shell scripts)";
    return d->sources ? " (documents)" : "";
}

/* smsim help dialects: what is read in addition to scenarios, and what --emit
 * writes. */
static int print_dialects(void)
{
    printf("%-12s %-12s %s\n", "dialect", "--emit", "what it is");
    for (const struct dialect *d = dialects; d->name; d++) {
        char first[64], text[300];
        snprintf(first, sizeof(first), "%-12s %-12s ", d->name,
                 d->emit.name ? d->emit.name : "-");
        snprintf(text, sizeof(text), "%s%s", d->summary, dialect_form(d));
        report_wrap(stdout, first, "                          ", text);
    }
    return EXIT_DONE;
}

int cmd_help(const char *word, const struct name_value *commands)
{
    struct cfg_loader loader;
    int n = 0, kinds = 0, printed = 0, rc = 0;
    if (strcmp(word, "dialects") == 0)
        return print_dialects();
    cfg_loader_init(&loader);
    while (reference_kinds[kinds])
        kinds++;
    struct reference *all = ARENA_ARRAY(&loader.arena, kinds, struct reference);
    for (; reference_kinds[n] && rc == 0; n++)
        rc = reference_load(&all[n], &loader, reference_kinds[n]);
    for (int i = 0; i < n && rc == 0; i++)
        printed = print_keys(&all[i], word, printed);
    if (rc == 0 && printed == 0)
        for (int i = 0; i < n; i++)
            printed = print_keys_of_value(&all[i], word, printed);
    int code = rc == 0 && printed == 0 ? unknown(all, n, word, commands) : EXIT_DONE;
    for (int i = 0; i < n; i++)
        reference_release(&all[i]);
    if (rc)
        return cmd_fail(&loader, NULL);
    cfg_loader_release(&loader);
    return code;
}
