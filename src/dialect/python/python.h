/* Python source, read and never run: what names are bound to, as far as literals say
 * it, and the arguments of some calls.
 *
 * Read are literals, f-strings, names, arithmetic, comparisons and choices of what is
 * known, comprehensions and loops over lists, dictionaries and ranges, methods of
 * dictionaries, lists and text, the plain functions (int, len, max, range, json.loads,
 * os.path.join), paths and the documents that they name (yaml.safe_load), functions of
 * the text itself, called with what is known, classes of fields, and objects of other
 * classes: what __init__ sets, and their methods.
 * os.environ.get gives what the text itself has set, else its default, as argparse's
 * arguments do theirs, with a note.
 * What of branches is taken, where that is not known, leaves what differs between them
 * not known; so does a loop that may end early. A function that nothing calls is read
 * once at the end, its parameters being their defaults. `except` is not reached, and a
 * branch that raises is taken not to be. Everything else is a value that is not known,
 * and says why.
 *
 * The text may be the dump of a notebook: prompts (In [5]:), magics, markdown and
 * output are passed over, since what does not parse is; of a statement that does not,
 * reading goes on at the next line. In a text with prompts, what is between ``` is
 * quoted: its names end with it, and its calls are marked.
 *
 * Values live in the arena. They may be shared, as in Python, and so may hold
 * themselves: who walks them must count. Limits: PYTHON_TEXT_MAX_B, and those below,
 * beyond which reading ends with an error; so does work that is not near linear in the
 * text. */
#ifndef DIALECT_PYTHON_PYTHON_H
#define DIALECT_PYTHON_PYTHON_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "dialect/source/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PYTHON_TEXT_MAX_B = 4 << 20,
    PYTHON_DEPTH_MAX = 100,      /* of brackets */
    PYTHON_NAMES_MAX = 2000,     /* bound at a time */
    PYTHON_ITEMS_MAX = 1000,     /* of one dictionary or list */
    PYTHON_VALUES_MAX = 1 << 18, /* made in all */
    PYTHON_STRING_MAX = 1 << 16, /* bytes of a string joined of others */
    PYTHON_CALLS_MAX = 4000,
};

/* The name that holds what os.environ["NAME"] = ... set, a dictionary. */
#define PYTHON_ENVIRONMENT "os.environ"

struct python_name {
    const char *name; /* with its dots, where an attribute was assigned */
    struct value *value;
};

/* A function that is read, and the one that calls it or that it is in. */
struct python_around {
    const char *name;
    const struct python_around *outer; /* NULL: none */
};

/* A call of one of the functions that were asked for. */
struct python_call {
    const char
        *function; /* as it is written or was imported: "sagemaker.pytorch.PyTorch" */
    const char *target; /* the name it is assigned to; NULL: none */
    int64_t line;
    bool quoted;
    bool imported; /* of a module that nothing of the text is seen to call it of */
    bool own;      /* of a class that is no library's, by whatever name */
    bool parsed;   /* no call: the arguments of a command */
    bool unsure;   /* under a condition that is not known */
    const char *condition; /* the innermost of them, as it is written; NULL: none */
    int64_t every; /* likewise: 4 of i % 4 == 0; -1: not known; 0: no remainder */
    int32_t loops; /* around it */
    int64_t loop;  /* the line of the innermost of them; 0: none */
    const struct python_around *around; /* the functions that it is in; NULL: none */
    const char *within;                 /* the innermost; NULL: none */
    bool uncalled; /* that is a function which nothing of the text is seen to call */
    struct value *arguments;    /* a dictionary; positional ones by "0", "1", ... */
    const struct value *result; /* what it gave, by which other calls are given it */
    const struct value *of;     /* of a method: what it is called on; NULL: not known */
};

/* A module of a network that the text builds, however often: nn.Linear(4, 8). */
struct python_module {
    const char *function; /* as python_call's */
    int64_t line, times;
    size_t at;                     /* in its text */
    const char *within;            /* as python_call's */
    const struct value *arguments; /* of the first time that its first two are known */
    bool varies;                   /* they were others at another time */
};

struct python_note {
    int64_t line;
    const char *text;
};

struct python {
    struct arena *arena;
    bool cut; /* a loop was not read to its end: calls in it are fewer than it makes */
    VEC(struct python_name) names;
    VEC(struct python_call) calls; /* in the order of the text */
    VEC(struct python_module) modules;
    VEC(struct python_name) left;   /* of functions that were called, as `kept` asks */
    VEC(struct python_note) notes;  /* what was passed over though it looked meant */
    int64_t n_passed, first_passed; /* lines that are no statement; the first of them */
    int64_t ended;  /* the line of an assertion that does not hold; 0: there is none */
    int64_t length; /* of the text, in bytes */
    const char *text;           /* as the caller gave it */
    const struct value *parsed; /* its argparse's, with what they are given; or NULL */
};

/* The GPUs of an instance, for source that asks; 0: not known. */
struct python_gpu {
    int64_t count, arch; /* 80 of sm80 */
    int64_t world;       /* of all instances */
    int64_t memory_B;    /* of one */
};

/* Modules of the user's own, next to the text. */
struct python_modules {
    /* The text of "a.b" and its path; NULL: there is none. */
    const char *(*text)(const void *of, struct arena *arena, const char *module,
                        const char **path);
    /* A document (YAML, JSON) by its name, and its path; NULL: there is none. `raw`:
     * interpolations as they are written, for `resolve` to replace. */
    const struct value *(*document)(const void *of, struct arena *arena,
                                    const char *name, bool raw, const char **path);
    /* The package that the head of a document of hydra's names; NULL. */
    const char *(*package)(const void *of, struct arena *arena, const char *name);
    void (*resolve)(const void *of, struct arena *arena, struct value *root);
    const void *of;
    int *left; /* so much more may be read, in all: python_spend */
    int deep;  /* imports around the text */
};

/* What to look for; lists end with NULL. */
struct python_wanted {
    /* names of functions, without what precedes the dot, also where the text defines one,
     * as a call without arguments; of attributes, that something is assigned to, as calls
     * that are given it; "*part": of any name that has the part, where it is called */
    const char *const *calls;
    /* names of attributes alone, that something is assigned to; NULL: none */
    const char *const *attributes;
    /* likewise ("*part", too), of a network's modules; NULL: none */
    const char *const *modules_of;
    /* functions that give back what they are given, more or less; of classes, whose
     * names begin with a capital, a dictionary of it with the name as its text */
    const char *const *same;
    /* What the text is started with, by argument names with "_": texts, true of a flag,
     * or anything that a document has. Their lines are of elsewhere: negative here, by
     * which values that are made of the text's alone differ. NULL: nobody says. */
    const struct value *given;
    const struct value *words;       /* likewise, a list: sys.argv */
    const struct value *environment; /* likewise, of os.environ; NULL: nobody says */
    /* patterns (fnmatch) of functions and classes by their whole paths, which give an
     * object: a dictionary of what they are given, with the path as its text, whose
     * attributes may be set at any depth, as "a.b" where there is no "a"; their calls are
     * wanted, too. NULL: none */
    const char *const *objects;
    /* what a parameter of a function that nothing calls is, where its text does not say;
     * NULL: nobody knows. Calls so far are in `p` */
    const struct value *(*argument)(const struct python *p, const char *name,
                                    int64_t line);
    /* whether what was read so far is all that a text means: functions that are called in
     * branches that are not taken alone are then left unread. NULL: never */
    bool (*enough)(const struct python *p);
    /* patterns (fnmatch) of names that python_name finds in functions that were called,
     * too; NULL: none */
    const char *const *kept;
    /* of a part of another text: names that are bound before, a dictionary, and the line
     * there at which all of this is; functions that nothing calls are not read then, but,
     * where `methods`, those of objects that were made. NULL: it is a text of its own */
    const struct value *bound;
    bool methods;
    int64_t line;
    struct python_gpu gpu;
    const struct python_modules *modules; /* NULL: imports are names alone */
};

/* Reads NUL-terminated UTF-8 text of len bytes. -1 beyond the limits. */
int python_read(struct python *p, struct arena *arena, const char *text, size_t len,
                const struct python_wanted *wanted, struct err *err);
void python_release(struct python *p);

/* The value of a name at the end of the text, or NULL. */
const struct value *python_name(const struct python *p, const char *name);

/* What follows the last dot of a name: "PyTorch" of
 * "sagemaker.pytorch.PyTorch". */
const char *python_last_part(const char *name);

#endif
