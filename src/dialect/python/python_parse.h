/* The reader of Python source between its files. Expressions are read over and valued
 * at once, so what is to be valued again (a loop's body, a function's, an item of a
 * comprehension) is read again: copying the lexer is going back.
 *
 *     python.c                          the text
 *     python_notebook.c                 lines that are no Python
 *     python_block.c, python_match.c, python_with.c
 *                                       blocks; cases; contexts
 *     python_function.c, python_object.c, python_statement.c
 *                                       functions and classes; their objects; statements
 *     python_expr.c, python_term.c, python_call.c, python_again.c
 *                                       operators; terms; calls; f-strings and
 *                                       comprehensions
 *     python_target.c                   what comes before "="
 *     python_token.c                    tokens under way
 *     python_branch.c                   what depends on a condition that is not known
 *     python_started.c                  functions that libraries call
 *     python_makes.c, python_foreign.c  functions and classes of modules that make models
 *                                       or trainings
 *     python_argument.c                 argparse, and parsers of dataclasses
 *     python_module.c                   modules of the user's own
 *     python_file.c                     paths, and the documents that they name
 *     python_network.c                  modules of a network that is built
 *     python_value.c, python_operator.c, python_method.c, python_text.c
 *                                       values, what is done with them
 *     python_builtin.c, python_number.c, python_list.c, python_library.c
 *                                       functions of Python's, and of libraries
 *     python_hydra                      what hydra.main hands to its function */
#ifndef DIALECT_PYTHON_PYTHON_PARSE_H
#define DIALECT_PYTHON_PYTHON_PARSE_H

#include "base/strbuf.h"
#include "dialect/python/python_lex.h"

/* What an object has, as a dictionary: here the same as the object. */
#define PYTHON_NAMES_OF ".__dict__"

/* The text of what super() gives. */
#define PYTHON_SUPER "super"

/* All values of the reader are of this kind. */
struct python_value {
    struct value value; /* first */
    int64_t born;       /* how many were made before it */
};

/* The number of a value that is not known, but of which something is: it is not None; a
 * variable of the environment that nobody sets is None, but somebody may set it. */
enum {
    PYTHON_SOMETHING = 1,
    PYTHON_UNSET,
    PYTHON_EITHER /* of two texts, its items */
};

/* A place to which reading can go back. */
struct python_place {
    struct python_lexer lex;
    struct python_token t;
    int64_t built; /* of struct python_parser, when it was noted */
};

/* Modules of a network that were built: which, and how often. */
struct python_built {
    int64_t module, times;
};

/* A function or class of the text. */
struct python_function {
    const char *name;
    struct python_place parameters, body; /* at "(", after ":" */
    int64_t column;                       /* of "def" */
    int64_t line;
    struct value *fields; /* of a class; NULL: it is a function */
    const char *base;     /* of a class: what it derives from first; or NULL */
    bool called, named;   /* `named`: the parameters are there */
    struct value *handed; /* its first argument, of a decorator; or NULL */
    bool command;  /* a decorator gives it the command's options by their names */
    bool property; /* it is what an attribute of its object is */
    bool
        changed; /* by a decorator of the text's: what it gives may be something else */
    int64_t methods; /* of a class: the number of the first; they end at its own */
    int64_t class;   /* of a method: its class's number and 1; 0: it is none */
    struct value *instance; /* of a class: the one that was made; NULL: none, or more */
    int64_t made;           /* instances so far */
};

/* An instance of a class of the text's that has an __init__. */
struct python_object {
    const struct value *value;
    int64_t class; /* its number among the functions */
};

/* A class that a module defines: "GPT", "model.GPT". */
struct python_foreign_class {
    const char *name, *path;
};

/* A name that a function declares to be of outside: global (of the text itself) or
 * nonlocal. */
struct python_outer {
    const char *name;
    bool global;
    const struct python_outer *next;
};

/* Text of a branch that was read over, its condition being known. */
struct python_span {
    size_t from, to;
    bool taken; /* at another time */
};

/* A call that is being read. */
struct python_frame {
    struct value *returned; /* NULL: nothing so far */
    int64_t class;          /* of a method: as struct python_function's */
    bool unsure;            /* it returns under a condition that is not known */
    const struct python_outer *outer;
};

/* What a branch changed: a name by its index, or a container; and how it was. */
struct python_change {
    int64_t name; /* -1: none */
    struct value *value;
    struct value *container; /* NULL: none */
    struct value before;
};

/* What a slot was at the end of a branch. */
struct python_outcome {
    int variant;
    int64_t name;
    struct value *container;
    struct value *value; /* of a container: a copy of it */
};

/* Branches of which it is not known which is taken. */
struct python_branches {
    int64_t mark, outer; /* of the journal */
    int64_t born, outer_born;
    int n; /* branches that go on after the statement */
    VEC(struct python_outcome) outcomes;
};

enum python_stop {
    PYTHON_GOES_ON,
    PYTHON_CONTINUE,
    PYTHON_BREAK,
    PYTHON_RETURN,
    PYTHON_RAISE
};

/* What the text has as it is read and each call of a function has anew: it is kept as a
 * whole while one is read. */
struct python_context {
    struct python_frame *frame; /* of the call; NULL: it is the text itself */
    /* the functions that are read, the innermost first; NULL: as above */
    const struct python_around *around;
    const char *target;    /* what the statement assigns to, or NULL */
    const char *calling;   /* a wanted call that is being read, or NULL */
    int64_t scope;         /* names from here on are this block's */
    int32_t inlined;       /* functions whose calls are being read */
    int32_t nested;        /* expressions inside each other */
    int32_t nested_before; /* of them, those around the statement */
    int32_t tries;         /* in a `try`: `maybe` and 1 where that began; else 0 */
    bool left_unsurely;    /* the innermost loop may have been left */
    enum python_stop stop; /* the statements that follow in the block are not reached */
};

struct python_parser {
    struct python *p;
    void (*read_suite)(struct python_parser *r, int64_t column);
    struct value *(*imported_load)(struct python_parser *r, const char *function,
                                   const struct value *arguments, int64_t line);
    struct value *(*foreign_call)(struct python_parser *r, const char *function,
                                  const struct value *arguments, int64_t line);
    struct value *(*inline_call)(struct python_parser *r, struct python_function *f,
                                 const struct value *arguments, int64_t line);
    const struct python_wanted *wanted;
    struct python_lexer lex;
    struct python_token t; /* the next one */
    struct python_context in;
    int64_t values;        /* made so far */
    int32_t blocks;        /* inside each other */
    int32_t maybe;         /* branches under way that may not be taken */
    int32_t loops;         /* under way */
    int64_t loop;          /* the line of the innermost "for"; 0: none */
    int32_t executed;      /* texts that are, inside each other */
    bool may_raise;        /* a branch of it that may not be taken raises */
    const char *condition; /* the innermost that is not known, as written; NULL: none */
    int64_t remainder;     /* of the last "%" of what is not known; 0, -1 as of calls */
    int64_t every;         /* likewise, of a condition around */
    int32_t unsure_loops;  /* loops under way whose repetitions are not known */
    bool rest;             /* functions that nothing calls are being read */
    bool json;             /* true, false and null are values */
    bool prompts;          /* the text has some */
    bool quoted;           /* inside ``` of such a text */
    bool failed;           /* the statement is none */
    int64_t mark; /* of the journal, where the innermost branch began; -1: none */
    int64_t born; /* values made before that branch */
    uint32_t hashes[PYTHON_NAMES_MAX]; /* of the names, in their order */
    VEC(struct python_change) journal;
    VEC(struct python_function) functions;
    VEC(struct python_object) objects;
    VEC(struct python_foreign_class) foreign;
    VEC(struct python_span) untaken;
    VEC(struct python_built) built;
    bool built_by_calls;  /* a network, before functions that nothing calls are read */
    struct value *handed; /* by a decorator to the function that follows; or NULL */
    bool command;         /* likewise: it is started by the command line */
    bool property;        /* likewise: of an attribute */
    bool changed;         /* likewise: by one of the text's own */
    struct python_last_module {
        const char *name, *path; /* NULL: none was read */
        struct python read;
        bool sound; /* it is within the limits */
    } last_module;
    struct value *parsed; /* argparse's arguments and their defaults */
    bool parsed_noted;
    const char *limit; /* a limit was reached: which; reading ends */
};

/* Tokens and places ---------------------------------------------------------------- */

void python_advance(struct python_parser *r);
void python_open(struct python_parser *r); /* over an opening bracket */
void python_close(struct python_parser *r,
                  const char *bracket); /* over that, or fails */
bool python_at(const struct python_parser *r, const char *word);
bool python_at_any(const struct python_parser *r, const char *const *words);
struct python_place python_here(const struct python_parser *r);
/* The text from a token's start up to the parser's. */
const char *python_written(struct python_parser *r, const char *from);
void python_go(struct python_parser *r, const struct python_place *place);
/* Whether reading again may take as much work again as this text has bytes. */
bool python_may_repeat(const struct python_parser *r);
/* Likewise for a loop's body, which leaves as much to what comes after it. */
bool python_may_loop(const struct python_parser *r);
bool python_stopped(const struct python_parser *r); /* failed, or at a limit */
/* Over ":"; anything else fails. */
void python_expect_colon(struct python_parser *r);
/* Over brackets and what is in them. */
void python_skip_brackets(struct python_parser *r);
/* Whether no more of an expression follows; over the rest of one. */
bool python_ends_value(const struct python_parser *r);
void python_skip_rest(struct python_parser *r);
/* At one of these characters. */
bool python_at_bracket(const struct python_parser *r, const char *brackets);
/* Up to the end of a statement. */
void python_skip_statement(struct python_parser *r);

/* Expressions: never NULL; r->failed when the text is none ------------------------- */

/* One value up to a comma, a closing bracket, ":", "=", ";" or the end of the line. */
struct value *python_expression(struct python_parser *r);
/* A name, literal or bracket with what follows it: .attribute, [index], (call). */
struct value *python_term(struct python_parser *r);
/* An expression without "A if B else C", as after "in" of a comprehension. */
struct value *python_choice(struct python_parser *r);
/* The module of a package from which the text of its __init__.py imports a name when that
 * is first asked for; NULL: it does not. */
const char *python_lazy_module(struct arena *arena, const char *text, const char *name);

/* Why what inspect.signature() gives of a library's function is not known; whether a value
 * is that, or its names. */
extern const char python_signature_why[];
bool python_is_signature(const struct value *v);
/* A value that is one of two texts keeps both; a member of a dictionary by such a key is
 * put under each: {"dtype" if new else "torch_dtype": x}. false: it is no such key. */
void python_keep_either(struct python_parser *r, struct value *v, const struct value *a,
                        const struct value *b);
bool python_put_either(struct python_parser *r, struct value *dict,
                       const struct value *key, struct value *v);

/* A dotted name at the token, after which the parser is. */
const char *python_path(struct python_parser *r);

/* Arguments as a dictionary; the parser is at "(". */
struct value *python_arguments(struct python_parser *r);

/* The value of a call of the function at path; the parser is at "(". */
struct value *python_call_at(struct python_parser *r, const char *path, int64_t line);

/* Whether what a function gives was asked for as an object. */
bool python_is_object(const struct python_parser *r, const char *function);

/* A call of a value: of functools.partial(F, ...) F's, with the arguments of both. NULL:
 * it is none. */
struct value *python_call_value(struct python_parser *r, const struct value *f,
                                struct value *arguments, int64_t line);

/* "a", "a, b" or "i, (a, b)", bound to a value; the parser is after them. */
void python_bind_targets(struct python_parser *r, struct value *v);

/* What follows an item that began at `item`, the parser at "for": the list or
 * dictionary of them all, the parser at the closing bracket. */
struct value *python_comprehension(struct python_parser *r,
                                   const struct python_place *item, bool pairs,
                                   int64_t line);
/* The value of a formatted string's text. */
struct value *python_formatted(struct python_parser *r, const char *text, int64_t line);
/* A text of statements, as exec() is given. */
struct value *python_execute(struct python_parser *r, const struct value *v,
                             int64_t line);
/* The value of a text that is an expression. */
struct value *python_evaluate(struct python_parser *r, const char *text, int64_t line);

/* Over "..." and its comma, if one follows: it means items that are left out. */
bool python_gap(struct python_parser *r, struct value *v);
/* "**other", in a dictionary or a call. */
bool python_unpacked(struct python_parser *r, struct value *dict);
/* Whether another item follows a comma; anything but the closing bracket fails. */
bool python_comma(struct python_parser *r, const char *closing);
/* Whether the closing bracket is yet to come. */
bool python_goes_on(const struct python_parser *r, const char *closing);

/* Statements: r->failed when the text is none -------------------------------------- */

/* What follows ":", on its line or in the lines below that begin beyond the
 * column. Functions reach it by r->read_suite alone. */
void python_suite(struct python_parser *r, int64_t column);
/* Simple statements on one line; the next token ends it. */
void python_simple(struct python_parser *r);
/* Lines that begin beyond a column; -1 takes all up to the end or a prompt. */
void python_lines(struct python_parser *r, int64_t column);

/* The function or class of that name, or NULL. */
struct python_function *python_function(struct python_parser *r, const char *name);
/* What a class of the text, or of a module that is read, derives from, by way of others;
 * of any other name what that was imported as. */
const char *python_class_base(struct python_parser *r, const char *name);
/* Reads the function that a library's function calls by itself; false: it calls none. */
bool python_start_function(struct python_parser *r, const char *name,
                           const struct value *arguments, int64_t line);
/* Notes at a decorator, the parser after its "@", whether it parses the command line, or
 * makes an attribute. */
void python_note_decorator(struct python_parser *r);
/* "def" or "class" at the token. */
void python_define(struct python_parser *r, int64_t column);
/* A class of a module, by the name that it has here: calls of it make instances. */
void python_import_class(struct python_parser *r, const char *name,
                         struct value *class);
/* What a call gives; arguments NULL: nobody says. Objects and what starts functions reach
 * it by r->inline_call alone. */
struct value *python_inline(struct python_parser *r, struct python_function *f,
                            const struct value *arguments, int64_t line);
/* A member of a dictionary whose members are attributes, at any depth: a.b.c; NULL. */
struct value *python_member_at(struct python_parser *r, const char *path);
/* What x.name(...) gives of an object of a class of the text that has an __init__: what
 * its method does; NULL: it is no such object, or a dictionary's method. */
struct value *python_class_call(struct python_parser *r, struct value *x,
                                const char *name, const struct value *arguments,
                                int64_t line);
const char *python_own_class(struct python_parser *r, const char *name);
/* Whether a name is a class of the text that is made as what it derives from is: neither it
 * nor a class of the text between has an __init__. */
bool python_inherits_init(struct python_parser *r, const char *name);
/* x.name that a method with @property gives; NULL: there is none. */
struct value *python_property(struct python_parser *r, struct value *x,
                              const char *name, int64_t line);
/* super().name(...) in a method that is read; NULL: what that is of is not the text's. */
struct value *python_super_call(struct python_parser *r, const char *name,
                                const struct value *arguments, int64_t line);
struct value *python_object_call(struct python_parser *r, struct value *x,
                                 const char *name, const struct value *arguments,
                                 int64_t line);
/* What a call of a class gives: its fields, some of them given, or what its __init__
 * sets. */
struct value *python_instance(struct python_parser *r, struct python_function *of,
                              const struct value *arguments);
/* What a method of a class gives of an object. */
struct value *python_call_method(struct python_parser *r, struct python_function *f,
                                 struct value *x, const struct value *arguments,
                                 int64_t line);
/* Notes that a branch, whose text begins at a place, was taken or not. */
void python_note_branch(struct python_parser *r, size_t from, bool taken);
/* Whether all calls of a name in the text are in branches that were not taken. */
bool python_is_untaken(const struct python_parser *r, const char *name);
/* Reads functions that nothing called; `methods`: of objects that were made alone. */
void python_inline_rest(struct python_parser *r, bool methods);
void python_return(struct python_parser *r, struct value *v);

/* Whether the text at the lexer is a line of a notebook that is no Python, which is
 * passed over; prompts and ``` too where `fences`. */
bool python_notebook_line(struct python_parser *r, bool fences);
bool python_at_fence(const struct python_parser *r);
void python_leave_quote(struct python_parser *r);
void python_skip_line(struct python_parser *r);

/* Values --------------------------------------------------------------------------- */

struct value *python_new(struct python_parser *r, enum value_kind kind, int64_t line);
struct value *python_unknown(struct python_parser *r, int64_t line, const char *fmt,
                             ...) __attribute__((format(printf, 3, 4)));
struct value *python_text(struct python_parser *r, int64_t line, const char *s);
struct value *python_int(struct python_parser *r, int64_t line, int64_t n);
struct value *python_real(struct python_parser *r, int64_t line, double x);
struct value *python_bool(struct python_parser *r, int64_t line, bool b);

/* Sets a member; one of that key is replaced. */
void python_put(struct python_parser *r, struct value *dict, const char *key,
                int64_t line, struct value *value);
void python_append(struct python_parser *r, struct value *list, struct value *value);
/* Leaves the i-th item out. */
void python_remove(struct python_parser *r, struct value *v, int32_t i);
/* All members of another dictionary, or an unknown's lack of them. */
void python_merge(struct python_parser *r, struct value *dict,
                  const struct value *other);
/* All elements, or an unknown's lack of them. */
void python_extend(struct python_parser *r, struct value *list,
                   const struct value *other);
struct value *python_copy(struct python_parser *r, const struct value *container);
/* With all inside. */
struct value *python_deep_copy(struct python_parser *r, const struct value *v);

/* The member that x[key] means; unknown when there is none. */
struct value *python_element(struct python_parser *r, const struct value *x,
                             const struct value *key);
/* The text of a key, NULL when it is none. */
const char *python_key(struct python_parser *r, const struct value *key);

/* From now on the value is not known, for whoever holds it. */
void python_spoil(struct python_parser *r, struct value *v, const char *why);

/* Operators ------------------------------------------------------------------------ */

/* a op b, op the operator's text; not known where Python would raise an error. */
struct value *python_calculate(struct python_parser *r, const char *op,
                               const struct value *a, const struct value *b);
/* ==, !=, <, <=, >, >=, in, not in, is, is not. */
struct value *python_compare(struct python_parser *r, const char *op,
                             const struct value *a, const struct value *b);
int python_truth(const struct value *v); /* 1, 0; -1: not known */
bool python_same(const struct value *a, const struct value *b); /* and both known */
/* str() of a value, NULL when it is not known. */
const char *python_string(struct python_parser *r, const struct value *v);

/* x.method(arguments); unknown where it is none of those followed. What changes a
 * dictionary or list in other ways spoils it. */
struct value *python_method(struct python_parser *r, struct value *x,
                            const char *method, const struct value *arguments,
                            int64_t line);
struct value *python_text_method(struct python_parser *r, const struct value *x,
                                 const char *method, const struct value *arguments,
                                 int64_t line);
/* The value of a function of Python's own or of its library; NULL: it is none. */
struct value *python_builtin(struct python_parser *r, const char *function,
                             struct value *arguments, int64_t line);
/* Of the text's own files: open(), yaml.safe_load() and os.path's; NULL: it is none. */
struct value *python_file_call(struct python_parser *r, const char *function,
                               const struct value *arguments, int64_t line);
/* Methods of an open file and of a path; NULL: it is none. */
struct value *python_file_method(struct python_parser *r, struct value *x,
                                 const char *method, int64_t line);
/* path.parent; NULL: it is none. */
struct value *python_path_part(struct python_parser *r, const struct value *v,
                               const char *attribute, int64_t line);
/* a / b of two texts. */
struct value *python_path_join(struct python_parser *r, const struct value *a,
                               const struct value *b);
/* Whether a path is one of PyTorch's types of numbers, which are their own names. */
bool python_is_dtype(const char *path);
/* parser.add_argument("--lr", default=1e-4) and args = parser.parse_args(). */
void python_add_argument(struct python_parser *r, const struct value *arguments,
                         int64_t line);
struct value *python_parse_args(struct python_parser *r, const char *method,
                                const struct value *arguments, int64_t line);
/* parser.set_defaults(lr=1e-3), of what the command does not give. */
void python_set_defaults(struct python_parser *r, const struct value *arguments,
                         int64_t line);
/* Whether an object's class parses the command by itself (typed-argument-parser 1.10). */
bool python_parses_itself(struct python_parser *r, const struct value *object);
/* One of a class of fields, as defaults and what was given say it: tyro.cli(A). */
struct value *python_parse_class(struct python_parser *r, const struct value *class,
                                 int64_t line);

/* x.key = v of what a call of TrainingArguments, SFTConfig and the like gave: one of its
 * arguments; of anything else nothing. */
void python_set_attribute(struct python_parser *r, const struct value *x,
                          const char *key, int64_t line, struct value *v);

/* The argument by which the call was given that, whose result x is: trainer.args; NULL. */
const struct value *python_given_to(const struct python_parser *r,
                                    const struct value *x, const char *name);

/* A value that a command gives, each of its words as what it looks like: 8, 1e-4, True. */
struct value *python_typed(struct python_parser *r, const struct value *v, int deep);
/* The one member of a dictionary that a name begins, as argparse completes it
 * (argparse.py, allow_abbrev); `word`: only within its last word, or to "_or_path". NULL:
 * none, or several. */
const char *python_completed(const struct value *dict, const char *name, bool word);
/* HfArgumentParser((A, B)), and what it parses into: A and B, as far as their fields'
 * defaults and what was given say it. */
struct value *python_field_parser(struct python_parser *r, struct value *arguments,
                                  int64_t line);
bool python_is_field_parser(const struct value *x);
/* Marks what has the arguments of a trainer by its class, and what such a one has that
 * was not given; NULL: that is not known. */
void python_mark_arguments(struct value *v, const char *name);
struct value *python_argument_left_out(struct python_parser *r, const struct value *x,
                                       const char *name, int64_t line);
struct value *python_parse_fields(struct python_parser *r, const struct value *parser,
                                  const char *method, const struct value *arguments,
                                  int64_t line);
/* What an argument was given, as argparse types it; NULL: it was not. */
struct value *python_given(struct python_parser *r, const char *name);
/* The number of a call that is kept; -1 beyond the limit. */
int64_t python_record(struct python_parser *r, const char *function, int64_t line,
                      const char *target, struct value *arguments);
/* Keeps a module of a network, if the function is one that was asked for, or its path is a
 * class of the text that is made as one. */
void python_record_module(struct python_parser *r, const char *path,
                          const char *function, int64_t line,
                          const struct value *arguments);
/* One that is the same as another counts as that. */
/* Whether a network was built. */
bool python_builds(const struct python *p);
/* Takes back what was built since a place: it is read again, item by item. */
void python_unbuild(struct python_parser *r, const struct python_place *from);
void python_add_module(struct python_parser *r, const struct python_module *new);
/* A value by a format's specification (".2f", "03d"), NULL when it is not followed. */
const char *python_by_spec(struct python_parser *r, const struct value *v,
                           const char *spec);
/* "%d of %s" % values, NULL likewise. */
const char *python_by_percent(struct python_parser *r, const char *text,
                              const struct value *values);
/* A value's items as a list: of a dictionary its keys, of a text its characters; NULL:
 * they are not known. */
struct value *python_items(struct python_parser *r, const struct value *v);

/* What an import names: all names of a module (name NULL), bare or as "as.NAME"; or one. */
struct python_import {
    const char *module, *name, *as;
    int64_t line;
};

/* Binds what a module of the user's own has of it; false: there is no such module. */
bool python_import(struct python_parser *r, const struct python_import *in);

/* "import" or "from" at the token. */
void python_read_import(struct python_parser *r);

/* The document that a function of such a module ("a.b.load") loads; NULL: it loads none,
 * or what it is given is not known. Calls reach it by r->imported_load alone. */
struct value *python_imported_load(struct python_parser *r, const char *function,
                                   const struct value *arguments, int64_t line);

/* Whether a module's text makes what a training is of. */
bool python_makes(const char *text);
/* Whether it parses the command: its own arguments, or fields of classes. */
bool python_parses(const char *text);
/* Takes a module's text, which is read, of what may be read in all. */
void python_spend(const struct python_modules *m, const char *text);
/* A module's environment is the text's. */
void python_share_environment(struct python_parser *r, struct value *bound);
/* Modules that parse the command line are given it as the text is. */
void python_hand_command(const struct python_parser *r, const char *text,
                         struct python_wanted *to);
/* Whether it defines a class of that name. */
bool python_has_class(const char *text, const char *name);
/* The path of a class that a module defines and that is bound by its name; else the
 * name. */
const char *python_class_path(struct python_parser *r, const char *name);
/* Whether a name is such a class, of a module that makes what a training is of. */
bool python_is_foreign_class(struct python_parser *r, const char *name);
/* Whether it is one of a module next to the text that derives from no library's but
 * PyTorch's module. */
bool python_is_own_class(struct python_parser *r, const char *name);
/* Whether a class of a module computes what its instances have (__init__); whether a method
 * of one sets some of it. */
bool python_computes_fields(struct python_parser *r, const char *name);
bool python_method_sets(struct python_parser *r, const char *name, const char *method);
/* What another text called counts as called here. */
void python_take_calls(struct python_parser *r, const struct python *p, bool imported);
/* What a function of such a module gives that makes what a training is of; its calls are
 * the text's. NULL: there is none. Calls reach it by r->foreign_call alone. */
struct value *python_foreign_call(struct python_parser *r, const char *function,
                                  const struct value *arguments, int64_t line);

/* Branches ------------------------------------------------------------------------- */

void python_branches_begin(struct python_parser *r, struct python_branches *b);
/* After each branch: takes back what it did. */
void python_branch_end(struct python_parser *r, struct python_branches *b);
/* What differs between branches, and what was before unless one of them is sure to be
 * taken, is not known. */
void python_branches_join(struct python_parser *r, struct python_branches *b,
                          bool exhaustive, const char *why);
/* After a loop: its changes are kept, or, `unsure`, are not known. */
void python_branches_keep(struct python_parser *r, struct python_branches *b,
                          bool unsure, const char *why);
/* Before a name or container changes. */
void python_will_bind(struct python_parser *r, int64_t name);
void python_will_change(struct python_parser *r, struct value *container);
/* Names from there on are no more. */
void python_leave_scope(struct python_parser *r, int64_t names);

/* Names ---------------------------------------------------------------------------- */

void python_bind(struct python_parser *r, const char *name, struct value *v);
void python_rebind(struct python_parser *r, int64_t name, struct value *v);
struct value *python_find(const struct python_parser *r, const char *name);
void python_note(struct python_parser *r, int64_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
