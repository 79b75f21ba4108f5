#include "cmd/completion.h"

#include "base/release.h"

#include <stdio.h>
#include <string.h>

enum { HELP_SIZE = 800 };

/* What completes ------------------------------------------------------------------- */

/* Values that `smsim list KIND` lists, by the option or the word that takes them. */
static const struct kind {
    const char *word, *kind;
} kinds[] = {
    { "--model", "models" },       { "--instance", "instances" },
    { "--cluster", "instances" },  { "--like", "instances" },
    { "--gpu", "gpus" },           { "--base", "gpus" },
    { "--inside", "fabrics" },     { "--fabric", "fabrics" },
    { "--scenario", "scenarios" }, { "SCENARIO", "scenarios" },
    { "JOB", "scenarios" },        { "A [B]", "scenarios" },
    { "SWEEP", "sweeps" },         { "INSTANCE", "instances" },
    { "NAME | ID", "models" },     { NULL, NULL },
};

/* NULL: files. */
static const char *kind_of_option(const struct option *o)
{
    const struct kind *k = kinds;
    while (k->word && strcmp(k->word, o->name) != 0)
        k++;
    return k->kind;
}

static const char *kind_of_words(const struct usage *u)
{
    const struct kind *k = kinds;
    while (k->word &&
           (k->word[0] == '-' || strncmp(u->arguments, k->word, strlen(k->word)) != 0))
        k++;
    return k->kind;
}

/* The names that an option takes; false: its values are no names. */
static bool names_of_option(struct name_value out[OPTION_NAMES_MAX],
                            const struct option *o)
{
    int n = 0;
    if (o->list)
        o->list(out, OPTION_NAMES_MAX);
    for (; !o->list && o->names && o->names[n].name && n + 1 < OPTION_NAMES_MAX; n++)
        out[n] = o->names[n];
    if (!o->list)
        out[n] = (struct name_value) { NULL, 0 };
    return out[0].name != NULL;
}

static bool takes_file(const struct option *o)
{
    bool text = o->type == OPTION_STRING || o->type == OPTION_LIST;
    return o->type == OPTION_OUT || o->type == OPTION_OUT_DIR ||
           (text && o->value && (strstr(o->value, "FILE") || strstr(o->value, "DIR")));
}

/* The words of "one|another [OPTION]...", which are all that a command takes. */
static size_t words_given(const struct usage *u)
{
    size_t n = strcspn(u->arguments, " ");
    return memchr(u->arguments, '|', n) ? n : 0;
}

static void print_words(const struct usage *u)
{
    for (size_t i = 0, n = words_given(u); i < n; i++)
        putchar(u->arguments[i] == '|' ? ' ' : u->arguments[i]);
}

static void print_names(const struct name_value *names)
{
    for (const struct name_value *n = names; n->name; n++)
        printf("%s%s", n == names ? "" : " ", n->name);
}

/* Text within single quotes; a backslash before each character of `escaped`. */
static void print_quoted(const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr(escaped, *text))
            putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
}

/* bash ----------------------------------------------------------------------------- */

/* clang-format off */
static const char bash_begin[] =
    "# For /usr/share/bash-completion/completions/smsim, or: . <(smsim --completion bash)\n"
    "_smsim_rows() { # COMMAND OPTION: what may follow them\n"
    "    case $1 in\n";

static const char bash_end[] =
    "    esac\n"
    "}\n"
    "_smsim() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local options='' values='' kind='' files='' word_kind='' words=''\n"
    "    COMPREPLY=()\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$_smsim_commands --help --version --man --completion\" -- \"$cur\")\n"
    "        return\n"
    "    fi\n"
    "    # --option=value comes as three words\n"
    "    [ \"$cur\" = = ] && cur=\n"
    "    [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    [ \"${COMP_WORDS[1]}\" = --completion ] && values='bash zsh fish'\n"
    "    [ \"${COMP_WORDS[1]}\" = help ] && values=$_smsim_commands\n"
    "    _smsim_rows \"${COMP_WORDS[1]}\" \"$prev\"\n"
    "    case $cur in -*) [ -z \"$values$kind\" ] && values=$options ;; esac\n"
    "    if [ -z \"$values$kind$files\" ]; then\n"
    "        values=$words kind=$word_kind\n"
    "        [ -n \"$words\" ] || files=1\n"
    "    fi\n"
    "    [ -n \"$kind\" ] && values=$(smsim list \"$kind\" 2>/dev/null | sed 's/ .*//')\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$cur\"; [ \"$files\" != 1 ] || compgen -f -- \"$cur\")\n"
    "}\n"
    "complete -o filenames -F _smsim smsim\n";
/* clang-format on */

static void bash_start(const struct manual_row *commands)
{
    printf("# bash completion of smsim " VERSION_TEXT "\n_smsim_commands='");
    for (const struct manual_row *c = commands; c->name; c++)
        printf("%s ", c->name);
    printf("help'\n%s", bash_begin);
}

static void bash_value(const struct option *o)
{
    struct name_value names[OPTION_NAMES_MAX];
    if (o->type == OPTION_FLAG)
        return;
    printf("        %s) ", o->name);
    if (names_of_option(names, o)) {
        printf("values='");
        print_names(names);
        printf("'");
    } else if (kind_of_option(o)) {
        printf("kind=%s", kind_of_option(o));
    } else {
        printf("files=%d", takes_file(o) ? 1 : 0);
    }
    printf(" ;;\n");
}

static void bash_command(const struct usage *u)
{
    const char *kind = kind_of_words(u);
    printf("    %s)\n        options='", u->command);
    for (const struct option *o = u->options; o->name; o++)
        printf("%s ", o->name);
    printf("--help --man' word_kind=%s words='", kind ? kind : "");
    print_words(u);
    printf("'\n        case $2 in\n");
    for (const struct option *o = u->options; o->name; o++)
        bash_value(o);
    printf("        esac ;;\n");
}

static void bash_finish(void)
{
    fputs(bash_end, stdout);
}

/* zsh ------------------------------------------------------------------------------ */

static const char zsh_escaped[] = "[]:\\";

static void zsh_start(const struct manual_row *commands)
{
    printf("#compdef smsim\n# zsh completion of smsim " VERSION_TEXT "\n"
           "# For a folder of $fpath, as _smsim.\n"
           "_smsim_names() {\n    local -a names\n"
           "    names=(${(f)\"$(smsim list $1 2>/dev/null | sed 's/ .*//')\"})\n"
           "    _alternative \"names:$1:($names)\" 'files:file:_files'\n}\n"
           "_smsim() {\n    local -a commands\n    commands=(\n");
    for (const struct manual_row *c = commands; c->name; c++) {
        printf("        '%s:", c->name);
        print_quoted(c->summary, ":\\");
        printf("'\n");
    }
    printf("        'help:what a command or a key of a file means'\n    )\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _describe command commands\n"
           "        _arguments '--version[print the version]' '--help[print help]'\n"
           "        return\n    fi\n"
           "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
           "    case $command in\n");
}

static void zsh_option(const struct option *o)
{
    char help[HELP_SIZE];
    struct name_value names[OPTION_NAMES_MAX];
    options_help(help, sizeof(help), o);
    printf(" \\\n            '%s%s%s[", o->type == OPTION_LIST ? "*" : "", o->name,
           o->type == OPTION_FLAG ? "" : "=");
    print_quoted(help, zsh_escaped);
    printf("]");
    if (o->type != OPTION_FLAG) {
        printf(":");
        print_quoted(o->value ? o->value : "value", zsh_escaped);
        printf(":");
        if (names_of_option(names, o)) {
            printf("(");
            print_names(names);
            printf(")");
        } else if (kind_of_option(o)) {
            printf("{_smsim_names %s}", kind_of_option(o));
        } else {
            printf("%s", takes_file(o) ? "_files" : " ");
        }
    }
    printf("'");
}

static void zsh_command(const struct usage *u)
{
    const char *kind = kind_of_words(u);
    printf("    %s)\n        _arguments", u->command);
    for (const struct option *o = u->options; o->name; o++)
        zsh_option(o);
    printf(" \\\n            '--help[print help]' '*:argument:");
    if (kind) {
        printf("{_smsim_names %s}' ;;\n", kind);
    } else if (words_given(u)) {
        printf("(");
        print_words(u);
        printf(")' ;;\n");
    } else {
        printf("_files' ;;\n");
    }
}

static void zsh_finish(void)
{
    printf("    help) _describe command commands ;;\n    esac\n}\n"
           "if [ \"$funcstack[1]\" = _smsim ]; then\n    _smsim \"$@\"\n"
           "else\n    compdef _smsim smsim\nfi\n");
}

/* fish ----------------------------------------------------------------------------- */

static const char fish_escaped[] = "\\";

static void fish_start(const struct manual_row *commands)
{
    printf("# fish completion of smsim " VERSION_TEXT "\n"
           "# For ~/.config/fish/completions/smsim.fish.\n"
           "function __smsim_names\n"
           "    smsim list $argv[1] 2>/dev/null | string replace -r ' .*' ''\nend\n");
    for (const struct manual_row *c = commands; c->name; c++) {
        printf("complete -c smsim -n __fish_use_subcommand -f -a %s -d '", c->name);
        print_quoted(c->summary, fish_escaped);
        printf("'\n");
    }
    printf("complete -c smsim -n __fish_use_subcommand -l version -d 'print the "
           "version'\n"
           "complete -c smsim -n __fish_use_subcommand -l completion -x -a 'bash zsh "
           "fish' -d 'print a shell\\'s completion'\n");
}

static void fish_option(const struct usage *u, const struct option *o)
{
    char help[HELP_SIZE];
    struct name_value names[OPTION_NAMES_MAX];
    options_help(help, sizeof(help), o);
    printf("complete -c smsim -n '__fish_seen_subcommand_from %s' -l %s", u->command,
           o->name + 2);
    if (o->type == OPTION_FLAG) {
        ;
    } else if (names_of_option(names, o)) {
        printf(" -x -a '");
        print_names(names);
        printf("'");
    } else if (kind_of_option(o)) {
        printf(" -x -a '(__smsim_names %s)'", kind_of_option(o));
    } else {
        printf(" %s", takes_file(o) ? "-r" : "-x");
    }
    printf(" -d '");
    print_quoted(help, fish_escaped);
    printf("'\n");
}

static void fish_command(const struct usage *u)
{
    const char *kind = kind_of_words(u);
    for (const struct option *o = u->options; o->name; o++)
        fish_option(u, o);
    if (kind)
        printf("complete -c smsim -n '__fish_seen_subcommand_from %s' -a "
               "'(__smsim_names %s)'\n",
               u->command, kind);
    if (!words_given(u))
        return;
    printf("complete -c smsim -n '__fish_seen_subcommand_from %s' -f -a '", u->command);
    print_words(u);
    printf("'\n");
}

static void fish_finish(void)
{
}

/* The shells ----------------------------------------------------------------------- */

static const struct shell {
    const char *name;
    void (*start)(const struct manual_row *commands);
    void (*command)(const struct usage *u);
    void (*finish)(void);
} shells[] = {
    { "bash", bash_start, bash_command, bash_finish },
    { "zsh", zsh_start, zsh_command, zsh_finish },
    { "fish", fish_start, fish_command, fish_finish },
    { NULL, NULL, NULL, NULL },
};

static const struct shell *find(const char *name)
{
    const struct shell *s = shells;
    while (s->name && strcmp(s->name, name) != 0)
        s++;
    return s->name ? s : NULL;
}

int completion_begin(const char *shell, const struct manual_row *commands)
{
    const struct shell *s = find(shell);
    if (s)
        s->start(commands);
    return s ? 0 : -1;
}

int completion_command(const char *shell, const struct usage *usage)
{
    const struct shell *s = find(shell);
    if (s)
        s->command(usage);
    return s ? 0 : -1;
}

int completion_end(const char *shell)
{
    const struct shell *s = find(shell);
    if (s)
        s->finish();
    return s ? 0 : -1;
}
