#include "cmd/options.h"

#include "cmd/cmd.h"
#include "cmd/completion.h"
#include "cmd/failure.h"
#include "cmd/manual.h"

#include "base/err.h"
#include "base/file.h"
#include "draw/draw.h"
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "a, b or c" */
static void list_names(char *buf, size_t size, const struct name_value *names)
{
    size_t at = 0;
    for (const struct name_value *n = names; n->name && at < size; n++) {
        const char *sep = n == names ? "" : n[1].name ? ", " : " or ";
        at += (size_t)snprintf(buf + at, size - at, "%s%s", sep, n->name);
    }
}

void options_help(char *out, size_t size, const struct option *o)
{
    struct name_value names[OPTION_NAMES_MAX];
    char list[500] = "";
    const char *at = o->list ? strstr(o->help, "%s") : NULL;
    if (o->list) {
        o->list(names, OPTION_NAMES_MAX);
        list_names(list, sizeof(list), names);
    }
    if (at)
        snprintf(out, size, "%.*s%s%s", (int)(at - o->help), o->help, list, at + 2);
    else
        snprintf(out, size, "%s", o->help);
}

static void print_help(const struct usage *u)
{
    char first[64];
    snprintf(first, sizeof(first), "smsim %s ", u->command);
    report_wrap(stdout, first, "    ", u->arguments);
    printf("\n");
    report_prose(stdout, u->summary);
    for (const struct option *o = u->options; o->name; o++) {
        if (o == u->options || o->group)
            printf("\n%s:\n", o->group ? o->group : "Options");
        char left[96], help[800];
        int n = snprintf(left, sizeof(left), "  %s%s%s", o->name, o->value ? " " : "",
                         o->value ? o->value : "");
        options_help(help, sizeof(help), o);
        snprintf(left + n, sizeof(left) - (size_t)n, "%*s", n < 31 ? 31 - n : 1, "");
        report_wrap(stdout, left, "                               ", help);
    }
    if (u->details) {
        printf("\n");
        report_prose(stdout, u->details);
    }
}

static int wrong(const struct usage *u, const char *word, const char *what)
{
    struct err err = { 0 };
    err_set(&err, "smsim %s: %s: %s (see smsim %s --help)", u->command, word, what,
            u->command);
    report_linef(stderr, "%s", err.text);
    return OPTIONS_WRONG;
}

/* Whether the option's other words have that one. */
static bool is_also(const struct option *o, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = o->also; at && *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length == n && strncmp(at, name, n) == 0)
            return true;
        at += length;
    }
    return false;
}

/* The option that a word means or is written nearly as; NULL: none. */
static const char *nearest_option(const struct usage *u, const char *name)
{
    const char *nearest = NULL;
    int least = 4, to_help = names_distance(name, "--help");
    if (to_help < least) {
        least = to_help;
        nearest = "--help";
    }
    for (const struct option *o = u->options; o->name; o++) {
        int d = is_also(o, name) ? 0 : names_distance(name, o->name);
        if (d < least) {
            least = d;
            nearest = o->name;
        }
    }
    return nearest;
}

static int unknown(const struct usage *u, const char *name)
{
    const char *nearest = nearest_option(u, name);
    char what[128];
    if (nearest)
        snprintf(what, sizeof(what), "no such option; did you mean %s?", nearest);
    else
        snprintf(what, sizeof(what), "no such option");
    return wrong(u, name, what);
}

static int store_number(const struct usage *u, const struct option *o, const char *text,
                        void *at)
{
    char *end, what[160];
    errno = 0;
    double v = strtod(text, &end);
    bool whole = o->type == OPTION_REAL || v == floor(v);
    if (end == text || *end || errno || !whole || !(v >= o->min && v <= o->max)) {
        snprintf(what, sizeof(what), "\"%.40s\" is not a %snumber from %.15g to %.15g",
                 text, o->type == OPTION_INT ? "whole " : "", o->min, o->max);
        return wrong(u, o->name, what);
    }
    if (o->type == OPTION_INT)
        *(int64_t *)at = (int64_t)v;
    else
        *(double *)at = v;
    return OPTIONS_GO_ON;
}

static int store_enum(const struct usage *u, const struct option *o, const char *text,
                      void *at)
{
    struct name_value own[OPTION_NAMES_MAX];
    const struct name_value *names = o->names;
    if (o->list) {
        o->list(own, OPTION_NAMES_MAX);
        names = own;
    }
    if (names_find(names, text, (int *)at) == 0)
        return OPTIONS_GO_ON;
    char list[500] = "", what[800];
    const char *near = names_nearest(names, text);
    list_names(list, sizeof(list), names);
    snprintf(what, sizeof(what), "\"%.40s\" is none of %s%s%s%s", text, list,
             near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return wrong(u, o->name, what);
}

/* The bits of each name between commas. */
static int store_bits(const struct usage *u, const struct option *o, const char *text,
                      int *bits)
{
    char name[64];
    *bits = 0;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        int of = 0;
        snprintf(name, sizeof(name), "%.*s", (int)(n < 40 ? n : 40), at);
        int rc = store_enum(u, o, name, &of);
        if (rc != OPTIONS_GO_ON)
            return rc;
        *bits |= of;
        at += n;
        if (!*at)
            return OPTIONS_GO_ON;
    }
}

static int store_theme(const struct usage *u, const struct option *o, const char *text,
                       struct draw_look *look)
{
    look->dark = strcmp(text, "dark") == 0;
    return look->dark || strcmp(text, "light") == 0
               ? OPTIONS_GO_ON
               : wrong(u, o->name, "is light or dark");
}

static int store(const struct usage *u, const struct option *o, const char *text,
                 void *args)
{
    void *at = (char *)args + o->at;
    struct option_list *list = at;
    struct err err = { 0 };
    switch (o->type) {
    case OPTION_FLAG:
        *(bool *)at = true;
        return OPTIONS_GO_ON;
    case OPTION_STRING:
    case OPTION_OUT:
    case OPTION_OUT_DIR:
        *(const char **)at = text;
        return OPTIONS_GO_ON;
    case OPTION_LIST:
        if (list->n == OPTION_LIST_MAX)
            return wrong(u, o->name, "given too often");
        list->values[list->n++] = text;
        return OPTIONS_GO_ON;
    case OPTION_ENUM:
        return store_enum(u, o, text, at);
    case OPTION_BITS:
        return store_bits(u, o, text, at);
    case OPTION_SIZE:
        return draw_size_parse(text, at, &err) ? wrong(u, o->name, err.text)
                                               : OPTIONS_GO_ON;
    case OPTION_THEME:
        return store_theme(u, o, text, at);
    case OPTION_INT:
    case OPTION_REAL:
        return store_number(u, o, text, at);
    }
    return OPTIONS_WRONG;
}

/* "--plot*" is any option that begins so. */
static bool is_given(int argc, char **argv, const char *name, int *times)
{
    size_t n = strcspn(name, "*");
    bool any = name[n] == '*';
    *times = 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        *times +=
            strncmp(argv[i], name, n) == 0 && (any || !argv[i][n] || argv[i][n] == '=');
    return *times > 0;
}

/* What does nothing is refused, or warned of. */
static int check_given(const struct usage *u, int argc, char **argv)
{
    int times, unused;
    char what[120];
    for (const struct option *o = u->options; o->name; o++) {
        if (!is_given(argc, argv, o->name, &times))
            continue;
        if (times > 1 && o->type != OPTION_LIST && o->type != OPTION_FLAG)
            report_linef(stderr, "warning: %s: is given %d times; the last counts",
                         o->name, times);
        if (o->with && !is_given(argc, argv, o->with, &unused)) {
            snprintf(what, sizeof(what), "does nothing without %.*s",
                     (int)strcspn(o->with, "*"), o->with);
            return wrong(u, o->name, what);
        }
        if (o->without && is_given(argc, argv, o->without, &unused)) {
            snprintf(what, sizeof(what), "does nothing with %s", o->without);
            return wrong(u, o->name, what);
        }
    }
    return OPTIONS_GO_ON;
}

/* Handles argv[*i], an option; moves *i on when the value is the next word. */
static int one_option(const struct usage *u, int argc, char **argv, int *i, void *args)
{
    char name[64];
    const char *eq = strchr(argv[*i], '=');
    size_t len = eq ? (size_t)(eq - argv[*i]) : strlen(argv[*i]);
    snprintf(name, sizeof(name), "%.*s", (int)(len < 60 ? len : 60), argv[*i]);
    for (const struct option *o = u->options; o->name; o++) {
        if (strcmp(o->name, name) != 0)
            continue;
        if (o->type == OPTION_FLAG)
            return eq ? wrong(u, name, "takes no value") : store(u, o, NULL, args);
        if (!eq && *i + 1 >= argc)
            return wrong(u, name, "needs a value");
        return store(u, o, eq ? eq + 1 : argv[++*i], args);
    }
    return unknown(u, name);
}

static const char *value_of(const struct option *o, const void *args)
{
    bool text = o->type == OPTION_STRING || o->type == OPTION_OUT;
    return text ? *(const char *const *)((const char *)args + o->at) : NULL;
}

/* What else the command line names that is the file of an output: a word, or another
 * option's value. NULL: nothing. What is read by other ways, file_out_open finds. */
static const char *also_named(const struct usage *u, const struct option *out,
                              const void *args, const struct option_list *words)
{
    const char *path = value_of(out, args);
    for (int32_t i = 0; i < words->n; i++)
        if (file_same(words->values[i], path))
            return words->values[i];
    for (const struct option *o = u->options; o->name; o++) {
        const char *other = o == out ? NULL : value_of(o, args);
        bool both = other && o->type == OPTION_OUT;
        if (other && (file_same(other, path) || (both && strcmp(other, path) == 0)))
            return o->name;
    }
    return NULL;
}

/* What is wrong with an output, into the file of --json where that is given, can be
 * written and is nothing else. */
static void fail_json(const struct usage *u, const void *args,
                      const struct option_list *words, const struct option *out,
                      const struct err *why)
{
    const struct option *json = u->options;
    const struct diags none = { .n = 0 };
    struct err err = { 0 }, named = { 0 };
    while (json->name &&
           (strcmp(json->name, "--json") != 0 || json->type != OPTION_OUT))
        json++;
    const char *path = json->name && json != out ? value_of(json, args) : NULL;
    if (!path || also_named(u, json, args, words) || file_out_check(path, &err))
        return;
    err_set(&named, "%s: %s", out->name, why->text);
    cmd_failure_write(path, u->command, &none, &named, EXIT_BAD_INPUT);
}

/* Before the work whose result they are to hold, not after it. */
static int check_outputs(const struct usage *u, const void *args,
                         const struct option_list *words)
{
    struct err err = { 0 };
    for (const struct option *o = u->options; o->name; o++) {
        bool dir = o->type == OPTION_OUT_DIR;
        if (!dir && o->type != OPTION_OUT)
            continue;
        const char *path = *(const char *const *)((const char *)args + o->at);
        const char *twice = path && !dir ? also_named(u, o, args, words) : NULL;
        if (twice) {
            report_linef(
                stderr,
                "smsim %s: %s: %s: is the file of %s, too (give the output another "
                "name)",
                u->command, o->name, path, twice);
            return OPTIONS_NO_OUT;
        }
        if (path && (dir ? dir_out_check(path, &err) : file_out_check(path, &err))) {
            report_linef(stderr, "smsim %s: %s: %s", u->command, o->name, err.text);
            fail_json(u, args, words, o, &err);
            return OPTIONS_NO_OUT;
        }
    }
    return OPTIONS_GO_ON;
}

/* The command's part of a shell's script (cmd/completion.h). */
static int complete(const struct usage *u, const char *shell)
{
    return completion_command(shell, u) == 0
               ? OPTIONS_HELPED
               : wrong(u, "--completion", "is of bash, zsh or fish");
}

int options_parse(const struct usage *u, int argc, char **argv, void *args,
                  struct option_list *words)
{
    bool only_words = false;
    words->n = 0;
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        if (!only_words && (strcmp(w, "--help") == 0 || strcmp(w, "-h") == 0)) {
            print_help(u);
            return OPTIONS_HELPED;
        }
        if (!only_words && strcmp(w, "--man") == 0) {
            manual_command(u);
            return OPTIONS_HELPED;
        }
        if (!only_words && strcmp(w, "--completion") == 0)
            return complete(u, i + 1 < argc ? argv[i + 1] : "");
        if (!only_words && strcmp(w, "--") == 0) {
            only_words = true;
        } else if (!only_words && w[0] == '-' && w[1]) {
            int status = one_option(u, argc, argv, &i, args);
            if (status != OPTIONS_GO_ON)
                return status;
        } else if (words->n == u->max_positional || words->n == OPTION_LIST_MAX) {
            return wrong(u, w, "one word too many");
        } else {
            words->values[words->n++] = w;
        }
    }
    if (words->n < u->min_positional) {
        report_linef(stderr, "smsim %s: %s is missing (usage: smsim %s %s)", u->command,
                     "an argument", u->command, u->arguments);
        return OPTIONS_WRONG;
    }
    int given = check_given(u, argc, argv);
    return given == OPTIONS_GO_ON ? check_outputs(u, args, words) : given;
}
