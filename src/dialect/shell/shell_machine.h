/* What the files of dialect/shell/shell.h share while they read; private to them. */
#ifndef DIALECT_SHELL_SHELL_MACHINE_H
#define DIALECT_SHELL_SHELL_MACHINE_H

#include "dialect/shell/shell.h"

/* What is quoted is no pattern; what is written, and not expanded, may be {a,b}. */
enum shell_from { SHELL_WRITTEN, SHELL_EXPANDED, SHELL_QUOTED };

/* A character with its place; with `unknown`, a piece whose text is not known. */
struct shell_char {
    char c;
    uint8_t from; /* how it came into its word: enum shell_from */
    uint16_t column;
    int32_t line;
    int32_t unknown; /* a row of shell_machine.unknowns, from 1; 0: none */
};

struct shell_text { /* growable, on the heap; or in the arena with cap 0 */
    struct shell_char *v;
    int32_t n, cap;
};

struct shell_texts {
    struct shell_text *v;
    int32_t n, cap;
};

struct shell_unknown {
    const char *name; /* how it is shown: "$NNODES" */
    const char *why;  /* "$NNODES is not set in the script (...)" */
    bool unset;       /* nobody gave it, so it may be empty */
    bool argument;    /* it is what the caller gives: $1, $@, $# */
    bool passed;      /* a loop over arguments that nobody gave would set it */
    const char *ask;  /* the variable that would decide it: "9"; NULL */
    const char *may;  /* what is set under a condition: "--bf16"; NULL */
    bool gpus;        /* it is how many GPUs an instance has */
};

struct shell_variable {
    const char *name;
    bool array, fixed;
    bool gone;                 /* `unset` took it */
    bool absent;               /* nobody has set it yet */
    int64_t set;               /* when it was set last: of shell_machine.sets */
    struct shell_texts values; /* in the arena; never changed in place */
    const char **keys;         /* of an associative array's values; NULL: it is none */
    bool integer;              /* declare -i: what is assigned is calculated */
    const char *refers;        /* declare -n: the variable that is meant; NULL */
};

/* $1, $2 and so on, of the script or of a function. */
struct shell_arguments {
    struct shell_texts values; /* in the arena */
    int32_t shifted;           /* $1 is number 1 + shifted of the script's */
    bool open;                 /* more may follow, which nobody gave */
    int32_t lost;              /* why none is known, a row of unknowns; 0 */
};

/* A text under way. Here-documents begin after the line on which they are named. */
struct shell_cursor {
    const struct shell_char *v;
    int32_t n, i;
    int32_t here_at, here_to; /* the newline before one, and where it ends; -1 */
};

struct shell_function {
    const char *name;
    struct shell_cursor body;
    int32_t perhaps; /* it is defined under a condition, a row of unknowns; 0 */
};

/* What becomes of a statement: it runs; it may run, and so what it sets is not known;
 * it does not. */
enum shell_mode { SHELL_RUN, SHELL_MAYBE, SHELL_SKIP };

enum shell_status {
    SHELL_NO,
    SHELL_YES,
    SHELL_UNKNOWN,
    SHELL_DONE /* a command that is not looked into: taken to work */
};

/* How a script leaves a loop, a function or a subshell before its end. */
enum shell_way {
    SHELL_STAYS,
    SHELL_CONTINUES,
    SHELL_BREAKS,
    SHELL_RETURNS,
    SHELL_EXITS
};

struct shell_jump {
    enum shell_way way;
    int32_t levels; /* of loops: 1 is the innermost */
};

/* What of the machine a branch changes, and gets back after it. */
struct shell_branch {
    enum shell_mode mode;
    int32_t because;
};

/* What a loop or a function puts aside. */
struct shell_frame {
    struct shell_branch before;
    enum shell_mode base;
    struct shell_jump unsure;
    int32_t unsure_why, loops;
    int64_t mark; /* of shell_machine.sets, at its beginning */
};

struct shell_local {
    struct shell_variable was;
    bool had;
};

struct shell_machine;

/* Parts that words reach by these alone, and that read words themselves. */
struct shell_hooks {
    bool (*edit)(struct shell_machine *m, const struct shell_text *value,
                 struct shell_cursor edit, struct shell_text *out);
    bool (*answer)(struct shell_machine *m, struct shell_cursor command,
                   struct shell_text *out);
    void (*source)(struct shell_machine *m, const struct shell_texts *words);
    bool (*start)(struct shell_machine *m, const struct shell_texts *words, int32_t i);
    bool (*capture)(struct shell_machine *m, struct shell_cursor command,
                    struct shell_text *out);
    bool (*calculate)(struct shell_machine *m, const struct shell_text *t, int64_t *v,
                      int32_t *why);
};

/* A variable that a loop over arguments sets which is passed over. */
struct shell_passed {
    const char *name;
    const struct shell_passed *before;
};

/* A file that the script writes, with the pieces of it that are not known. */
struct shell_written {
    const char *name; /* with such pieces by their names, too */
    struct shell_text text;
    const struct shell_written *before;
};

struct shell_machine {
    struct shell *out;
    struct arena *arena;
    struct shell_cursor at;
    enum shell_mode mode;
    int32_t because; /* of SHELL_MAYBE: the condition, a row of unknowns */
    int depth;
    int64_t work;
    int64_t within;           /* the command whose text is read, from 1; 0: none */
    bool failed;              /* err is set; everything returns at once */
    bool ended;               /* the script has come to its `exit` */
    enum shell_mode base;     /* of the loop or function under way, at its beginning */
    struct shell_jump jump;   /* under way: nothing runs up to where it leads */
    struct shell_jump unsure; /* one that may have been taken */
    int32_t unsure_why;       /* why, a row of unknowns */
    int32_t loops;            /* around here, within the function */
    int calls, subshells;
    /* what the last command printed, as far as its words say; what a pipeline gives to
     * the stage under way; in the arena */
    struct shell_text printed, input;
    const struct shell_written *written; /* the newest first */
    const struct shell_round *rounds;    /* of the loops around here */
    const struct shell_passed *passed;
    int passing; /* loops over arguments that are passed over, around here */
    struct shell_capture *capture; /* of $( ) whose statements are followed; NULL */
    int64_t sets;                  /* how often anything was set */
    enum shell_status status;      /* $? */
    enum shell_status returned;    /* what the last `return` said */
    int32_t option_at;             /* getopts: within a word of several letters */
    struct shell_arguments arguments;
    struct err *err;
    const struct shell_setting *in; /* never NULL */
    const struct shell_hooks *hooks;
    const char *directory; /* where the script is by now, "." at first */
    const char *before;    /* where it was, or NULL */
    int sourced;           /* files in each other */
    const char *reading[SHELL_SOURCED_MAX + 1]; /* their texts, the script's first */
    VEC(struct shell_variable) variables;
    VEC(struct shell_function) functions;
    VEC(struct shell_unknown) unknowns;
    VEC(struct shell_local) locals; /* of the functions under way */
};

/* shell_text.c: texts, and pieces that are not known ------------------------------- */

void shell_text_release(struct shell_text *t);
void shell_texts_release(struct shell_texts *t);
void shell_push(struct shell_machine *m, struct shell_text *t, struct shell_char c);
void shell_append(struct shell_machine *m, struct shell_text *t,
                  const struct shell_text *more);
/* Takes the text over, and leaves it empty. */
void shell_texts_take(struct shell_machine *m, struct shell_texts *list,
                      struct shell_text *t);
/* A copy in the arena. */
struct shell_text shell_keep(struct shell_machine *m, const struct shell_text *t);
/* In the arena, with the pieces that are not known by name, or as "null". */
const char *shell_string(struct shell_machine *m, const struct shell_text *t,
                         bool null);
/* The first piece of it that is not known, or NULL. */
const struct shell_unknown *shell_unknown_of(const struct shell_machine *m,
                                             const struct shell_text *t);
bool shell_is(const struct shell_text *t, const char *word);
/* The whole number that it is, or `otherwise`. */
int64_t shell_word_number(const struct shell_text *t, int64_t otherwise);
/* Characters of a C string, all at one place. */
void shell_add_string(struct shell_machine *m, struct shell_text *t, const char *s,
                      struct shell_char place);

/* Remembers that the script compares the text with a word, where the text is one variable
 * that nobody gives (shell.choices). */
void shell_compares(struct shell_machine *m, const struct shell_text *t,
                    const struct shell_text *word);

/* Why a row of the unknowns is not known; 0: nobody says. */
const char *shell_why(const struct shell_machine *m, int32_t unknown);

int32_t shell_not_known(struct shell_machine *m, const char *name, bool unset,
                        const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void shell_note(struct shell_machine *m, int64_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends reading with an error at a character; `at` may be NULL. */
void shell_fail(struct shell_machine *m, const struct shell_char *at, const char *fmt,
                ...) __attribute__((format(printf, 3, 4)));
/* Counts work; true when reading has ended. */
bool shell_works(struct shell_machine *m, int64_t n);

/* shell_variable.c ----------------------------------------------------------------- */

struct shell_variable *shell_find(const struct shell_machine *m, const char *name);
/* Sets a variable to the texts (kept by copy), or goes on from what it holds; heeds the
 * mode. */
void shell_assign(struct shell_machine *m, const char *name,
                  const struct shell_texts *values, bool array, bool append);

/* An element of an associative array, which the variable becomes. */
void shell_assign_key(struct shell_machine *m, const char *name, const char *key,
                      const struct shell_text *value);
/* declare -i: what it holds, and is assigned, is calculated. */
void shell_declare_integer(struct shell_machine *m, const char *name);
/* declare -n: another name of the variable that its value names; false: it names none. */
bool shell_declare_reference(struct shell_machine *m, const char *name);
/* unset -n */
void shell_unset_reference(struct shell_machine *m, const char *name);
/* Takes it away; heeds the mode. */
void shell_unset(struct shell_machine *m, const char *name);
/* Texts in the arena, after those of `before`, which may be NULL. */
struct shell_texts shell_keep_all(struct shell_machine *m, const struct shell_texts *t,
                                  const struct shell_texts *before);
/* One text, not known for that reason. */
struct shell_texts shell_one_unknown(struct shell_machine *m, int32_t why);
/* Not known from here on, for a reason (a row of unknowns). */
void shell_void(struct shell_machine *m, const char *name, int32_t why);
/* What was set since then is not known: "where" it was set, and why that leaves it open,
 * a row of unknowns. */
#define SHELL_ROUNDS "a loop whose rounds are not known"
void shell_void_since(struct shell_machine *m, int64_t mark, const char *where,
                      int32_t why);
/* Puts a variable aside, as it is; given back by shell_give_back, down to n. */
void shell_put_aside(struct shell_machine *m, const char *name);
void shell_give_back(struct shell_machine *m, int64_t n);
/* Of what was put aside, numbers from to `to`: what it was and what it is by now change
 * places; and it is forgotten, as it is. */
void shell_swap_aside(struct shell_machine *m, int64_t from, int64_t to);
void shell_forget_aside(struct shell_machine *m, int64_t from, int64_t to);
/* The number of a key, or -1. */
int32_t shell_key(const struct shell_variable *x, const char *key);

/* shell_arguments.c ---------------------------------------------------------------- */

/* The variable, or the argument ("1", "@", "#", "?") of that name; NULL: not set. */
const struct shell_variable *shell_look(struct shell_machine *m, const char *name);
/* Why an argument that the caller would give is not known: by its number as the script
 * has it, whatever was shifted since. */
int32_t shell_argument_unknown(struct shell_machine *m, const char *name);
/* The words from number i on; words after a "$@" that is not known have no number. */
struct shell_arguments shell_arguments_of(struct shell_machine *m,
                                          const struct shell_texts *words, int32_t i);
/* One as given from outside, from 1. */
void shell_give_argument(struct shell_machine *m, int32_t number,
                         const struct shell_text *value);
enum shell_status shell_do_shift(struct shell_machine *m, const struct shell_texts *w);
enum shell_status shell_do_set(struct shell_machine *m, const struct shell_texts *w);
enum shell_status shell_do_getopts(struct shell_machine *m,
                                   const struct shell_texts *w);

/* shell_input.c -------------------------------------------------------------------- */

enum shell_status shell_do_read(struct shell_machine *m, const struct shell_texts *w,
                                const struct shell_text *input);
/* What separates words: $IFS, or blanks; NULL: it is not known. */
const char *shell_separators(struct shell_machine *m);
enum shell_status shell_do_mapfile(struct shell_machine *m,
                                   const struct shell_texts *w);
bool shell_do_printf(struct shell_machine *m, const struct shell_texts *w);

/* shell_flow.c --------------------------------------------------------------------- */

struct shell_branch shell_enter(struct shell_machine *m, enum shell_status s);
void shell_leave(struct shell_machine *m, struct shell_branch before);
void shell_jump(struct shell_machine *m, enum shell_way way, int32_t levels);
struct shell_frame shell_frame_begin(struct shell_machine *m, bool loop);
/* After a round of a loop: whether another may follow. */
bool shell_round_ends(struct shell_machine *m, const struct shell_frame *f);
void shell_frame_end(struct shell_machine *m, const struct shell_frame *f, bool loop);
/* A text as a process of its own: what it sets is gone after it. */
struct shell_subshell *shell_subshell_begin(struct shell_machine *m);
void shell_subshell_end(struct shell_machine *m, struct shell_subshell *s);

/* shell_cursor.c: characters of the text under way --------------------------------- */

struct shell_char shell_peek(const struct shell_machine *m, int32_t ahead);
bool shell_ends(const struct shell_machine *m);
void shell_skip_blanks(struct shell_machine *m); /* and comments, "\" newline */
void shell_skip_lines(struct shell_machine *m);  /* newlines, ";" and blanks */
void shell_newline(struct shell_machine *m);     /* over one, and the documents there */
bool shell_at(const struct shell_machine *m, const char *s);      /* these characters */
bool shell_word_at(const struct shell_machine *m, const char *w); /* this whole word */
bool shell_takes(struct shell_machine *m, const char *w);         /* ... stepped over */
int32_t shell_name_length(const struct shell_machine *m, int32_t ahead);
/* Whether the character at the cursor ends words; <( ) and a placeholder, "<PATH TO
 * DATA>", are words though they begin with such a one. */
bool shell_word_ends(const struct shell_machine *m);
int32_t shell_placeholder(const struct shell_machine *m); /* its length; 0: none */
const char *shell_slice(struct shell_machine *m, int32_t from, int32_t to);
/* From after the opening bracket to after the closing one, quotes heeded; false when
 * it is never closed. */
bool shell_skip_brackets(struct shell_machine *m, char open, char close);

/* shell_word.c and shell_expand.c: words ------------------------------------------- */

/* The word at the cursor as texts: none or several where variables are split. */
void shell_read_word(struct shell_machine *m, struct shell_texts *out, bool split);
/* All of it as one text, nothing split. */
void shell_read_text(struct shell_machine *m, struct shell_text *out);
/* What follows "$" at the cursor; *fields: each text is a word of its own. */
void shell_dollar(struct shell_machine *m, struct shell_texts *out, bool *fields);
/* Likewise ${ } and a name without brackets; `place`: of the "$". */
void shell_braces(struct shell_machine *m, struct shell_texts *out, bool *fields,
                  struct shell_char place);
void shell_plain(struct shell_machine *m, struct shell_texts *out, bool *fields,
                 struct shell_char place);
/* What they give: a string, or a text that is not known, for the reason of that row. */
void shell_take_string(struct shell_machine *m, struct shell_texts *out,
                       struct shell_char place, const char *s);
void shell_take_unknown(struct shell_machine *m, struct shell_texts *out,
                        struct shell_char place, int32_t unknown);
/* Expands "$", "`" and "\" within a text, as a here-document has them. */
void shell_expand_within(struct shell_machine *m, struct shell_cursor inner,
                         struct shell_text *out);
void shell_backtick(struct shell_machine *m, struct shell_text *out);

/* shell_printf.c: what printf prints, of words that are known, its own first; NULL: the
 * format is not followed. */
const char *shell_printf(struct shell_machine *m, const char *const *words, int n);

/* shell_stream.c: what sed 's/FROM/TO/g' and `tr` make of a text; NULL: they are asked for
 * something else. */
const char *shell_sed(struct shell_machine *m, const char *script, const char *text);
const char *shell_translate(struct shell_machine *m, const char *const *w, int n_words,
                            const char *text);

/* shell_brace.c: the words that {a,b} and {1..4} make of one. */
void shell_expand_braces(struct shell_machine *m, const struct shell_text *t,
                         struct shell_texts *out);
/* shell_lines.c: the lines of a text, in order if `sorts`, each once in a row if `once`;
 * NULL: there are too many. */
const char *shell_lines(struct shell_machine *m, const char *text, bool sorts,
                        bool once);

/* shell_edit.c: the text that ${X<edit>} makes of a value; false: it is not followed. */
bool shell_edit(struct shell_machine *m, const struct shell_text *value,
                struct shell_cursor edit, struct shell_text *out);
/* shell_answer.c: what a command between $( and ) prints, as far as its words say; the
 * cursor holds it. False: it would have to be run. */
bool shell_answer(struct shell_machine *m, struct shell_cursor command,
                  struct shell_text *out);
/* What one command of these words prints, without what it reads; NULL: likewise. */
const char *shell_output_of(struct shell_machine *m, const char *const *words, int n);
/* shell_getopt.c: the same of `getopt -o ... -- "$@"`, by its words. */
bool shell_getopt(struct shell_machine *m, struct shell_texts *words,
                  struct shell_text *out);
/* A path joined to a directory, without "." and ".." as far as they go. */
const char *shell_path(struct arena *arena, const char *directory, const char *path);
/* shell_query.c: what `yq` and `jq` print of a file, or of the text before "|"; NULL: it
 * would have to be run. */
const char *shell_query(struct shell_machine *m, const char *const *w, int n,
                        const char *text);
/* shell_file.c: the text of a file that something wrote, or that lies next to the
 * script; NULL. */
const char *shell_file_text(struct shell_machine *m, const char *name);
/* Keeps what the script writes to a file, after what it wrote there before if `appends`. */
void shell_write(struct shell_machine *m, const char *name,
                 const struct shell_text *text, bool appends);
/* The text of such a file whose name or text has a piece that is not known; NULL. */
const struct shell_text *shell_own_text(struct shell_machine *m,
                                        const struct shell_text *name);
/* shell_source.c: `source FILE`, next to the script or made by it. */
void shell_source(struct shell_machine *m, const struct shell_texts *words);
/* `bash FILE arguments`, the file being word i; false: it was not found. */
bool shell_start(struct shell_machine *m, const struct shell_texts *words, int32_t i);
/* The characters of a text, all of one line where that is not 0. */
struct shell_cursor shell_characters(struct arena *arena, const char *text, size_t len,
                                     int32_t line);

/* shell_number.c, shell_test.c: what is compared ----------------------------------- */

/* The value of arithmetic; false: *why says why it is not known. */
bool shell_calculate(struct shell_machine *m, const struct shell_text *t, int64_t *v,
                     int32_t *why);
/* The same of a part of the text under way, whose "$" are expanded. */
bool shell_calculate_within(struct shell_machine *m, struct shell_cursor inner,
                            int64_t *v, int32_t *why);
/* $(( )) and (( )), the cursor after "((". */
bool shell_arithmetic(struct shell_machine *m, int64_t *v, int32_t *why);
/* [ ... ]: the words after "[", the last of them "]". */
enum shell_status shell_test(struct shell_machine *m, const struct shell_texts *words);
/* [[ ... ]], the cursor after "[[". */
enum shell_status shell_double_test(struct shell_machine *m);
/* Counts its work, which is the product of both lengths at worst. */
bool shell_matches(struct shell_machine *m, const struct shell_text *t,
                   const struct shell_text *pattern);

/* shell_command.c, shell_redirect.c, shell_statement.c, shell_loop.c, shell_builtin.c,
 * shell_perform.c */

enum shell_status shell_simple_command(struct shell_machine *m);
/* What a builtin command or a function does; false: the words are neither. `input`:
 * after <<<, or NULL; `mark`: of m->sets, before the command. */
bool shell_builtin(struct shell_machine *m, const struct shell_texts *words,
                   const struct shell_text *input, int64_t mark, enum shell_status *s);
bool shell_loop(struct shell_machine *m); /* at "for", "while", "until", "select" */
void shell_expect(struct shell_machine *m, const char *word, struct shell_char place,
                  const char *what);
/* A command as a condition: whether it works is not known. `because` says what is not,
 * where the machine is not in such a branch already. */
enum shell_status shell_condition(struct shell_machine *m, const char *const *ends,
                                  int32_t *because);
/* Statements up to the end of the text, or one of these words (a list NULL ends). */
enum shell_status shell_list(struct shell_machine *m, const char *const *ends);
/* Words from number `from` up to `to` as a text to be read, blanks between. */
struct shell_cursor shell_words_text(struct shell_machine *m,
                                     const struct shell_texts *words, int32_t from,
                                     int32_t to);
/* Statements of another text, as if they stood here. */
enum shell_status shell_nested(struct shell_machine *m, struct shell_cursor text);
/* Redirections; "cat <<X >FILE" needs both. */
struct shell_redirect {
    struct shell_text file, document, input; /* > file, << document, <<< input */
    struct shell_text source;                /* < file */
    bool has_file, has_document, has_input, appends;
    bool elsewhere; /* >&2 */
    int32_t line;
};
bool shell_redirection(struct shell_machine *m, struct shell_redirect *r);
void shell_redirect_release(struct shell_redirect *r);

/* A simple command under way. */
struct shell_simple {
    struct shell_texts words;
    struct shell_redirect to;
    int32_t line;
    bool assigns; /* what is still to come may be X=...: the beginning, or `export` */
    /* X=1 COMMAND and env X=1 COMMAND: of what is put aside, these are the command's */
    int64_t own, own_end;
    int64_t mark; /* of m->sets, at its beginning */
};
enum shell_status shell_perform(struct shell_machine *m, const struct shell_simple *c);

/* shell_capture.c: what the statements of $( ) print; false: it would have to be run. */
bool shell_capture(struct shell_machine *m, struct shell_cursor command,
                   struct shell_text *out);
/* What was printed so far; a print that is not known, or whether it is, loses all. */
struct shell_capture {
    struct shell_text text;
    enum shell_mode mode; /* around the command */
    bool lost;
};
/* shell_output.c: what a command prints meanwhile, and one that is not followed. */
void shell_capture_print(struct shell_machine *m, const struct shell_simple *c);
void shell_capture_lose(struct shell_machine *m);

/* shell_grep.c: what grep -q says of its input; SHELL_DONE: it is not known. */
enum shell_status shell_grep(struct shell_machine *m, const struct shell_simple *c);

#endif
