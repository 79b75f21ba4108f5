/* Manual pages (roff, man macros) from the same rows as --help. */
#include "cmd/manual.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Text as roff prints it: no escapes, and no line that is a request. */
static void print_text(const char *text)
{
    bool starts = true;
    for (; *text; text++) {
        if (starts && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        starts = *text == '\n';
    }
    if (!starts)
        putchar('\n');
}

/* NULL: the program's own page. */
static void print_title(const char *command)
{
    printf(".TH SMSIM%s", command ? "\\-" : "");
    for (const char *c = command ? command : ""; *c; c++)
        putchar(toupper((unsigned char)*c));
    fputs(" 1 \"\" smsim \"smsim manual\"\n", stdout);
}

/* The first sentence, or line, of a summary: what a page's NAME has. */
static void print_first(const char *text)
{
    char first[256];
    size_t n = strcspn(text, ".\n");
    snprintf(first, sizeof(first), "%.*s", (int)n, text);
    print_text(first);
}

static void print_option(const struct option *o)
{
    char help[800];
    if (o->group)
        printf(".SS %s\n", o->group);
    fputs(".TP\n\\fB", stdout);
    for (const char *c = o->name; *c; c++)
        fputs(*c == '-' ? "\\-" : (char[]) { *c, '\0' }, stdout);
    if (o->value)
        printf("\\fR \\fI%s", o->value);
    fputs("\\fR\n", stdout);
    options_help(help, sizeof(help), o);
    print_text(help);
}

void manual_command(const struct usage *u)
{
    print_title(u->command);
    printf(".SH NAME\nsmsim\\-%s \\- ", u->command);
    print_first(u->summary);
    printf(".SH SYNOPSIS\n.B smsim %s\n", u->command);
    print_text(u->arguments);
    fputs(".SH DESCRIPTION\n", stdout);
    print_text(u->summary);
    if (u->options->name)
        fputs(".SH OPTIONS\n", stdout);
    for (const struct option *o = u->options; o->name; o++)
        print_option(o);
    if (u->details) {
        fputs(".SH DETAILS\n.nf\n", stdout);
        print_text(u->details);
        fputs(".fi\n", stdout);
    }
    fputs(".SH SEE ALSO\n.BR smsim (1)\n", stdout);
}

void manual_program(const struct manual_row *rows)
{
    print_title(NULL);
    fputs(
        ".SH NAME\nsmsim \\- how long a training step takes, whether it fits, what it "
        "costs\n.SH SYNOPSIS\n.B smsim\nCOMMAND ...\n.SH COMMANDS\n",
        stdout);
    for (; rows->name; rows++) {
        printf(".TP\n.BR smsim\\-%s (1)\n", rows->name);
        print_text(rows->summary);
    }
    fputs(".TP\n.B smsim help KEY\nwhat a key of a file means\n"
          ".SH EXIT STATUS\n0 done, 1 does not fit or failed check, 2 usage, 3 bad "
          "input, 4 out of memory, 5 a fault of smsim's own.\n",
          stdout);
}
