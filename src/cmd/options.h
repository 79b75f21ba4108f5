/* Command lines as tables: a row an option holds its name, type, place in the command's
 * struct, bounds and help; --help and --man are made from the same rows. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "base/names.h"

#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_FLAG,    /* bool */
    OPTION_STRING,  /* const char * */
    OPTION_OUT,     /* likewise, a file to write: that it can be is checked at once */
    OPTION_OUT_DIR, /* likewise, a directory that is new or empty */
    OPTION_INT,     /* int64_t within min..max */
    OPTION_REAL,    /* double within min..max */
    OPTION_ENUM,    /* int, by names */
    OPTION_BITS,    /* likewise, of one or several names, "A,B": all their bits */
    OPTION_SIZE,    /* struct draw_look, of a figure: how large */
    OPTION_THEME,   /* likewise: light or dark */
    OPTION_LIST,    /* struct option_list: may be given several times */
};

enum { OPTION_LIST_MAX = 64, OPTION_NAMES_MAX = 64 };

struct option_list {
    int32_t n;
    const char *values[OPTION_LIST_MAX];
};

struct option {
    const char
        *group;       /* heading of this row and those after it; NULL: the last one's */
    const char *name; /* "--json"; NULL ends the table */
    enum option_type type;
    size_t at;         /* offset in the command's struct of arguments */
    const char *value; /* what --help calls the value: "FILE" */
    const char *help;  /* one line; "%s" of it: the names that `list` fills in */
    double min, max;
    const struct name_value *names;
    /* in place of names, for those of another table: fills at most `most` rows */
    void (*list)(struct name_value *out, int most);
    const char *with;    /* the option without which it does nothing, or "--plot*": any
                          * that begins so; NULL: none */
    const char *without; /* likewise, the option with which it does nothing */
    /* what others call it, "--nodes --max-nodes", which are no options; NULL: nothing */
    const char *also;
};

struct usage {
    const char *command;   /* "simulate" */
    const char *arguments; /* "SCENARIO [OPTION]..." */
    const char *summary;   /* one sentence: what it answers */
    const char *details;   /* a paragraph and examples; NULL: none */
    const struct option *options;
    int min_positional, max_positional;
};

/* The rows of --size and --theme, after those of figures; WITH is the option that they go
 * with, NULL where they always act. */
#define OPTION_FIGURE_LOOK(AT_MEMBER, WITH)                                         \
    { .name = "--size",                                                             \
      .type = OPTION_SIZE,                                                          \
      .at = AT_MEMBER,                                                              \
      .value = "SIZE",                                                              \
      .with = WITH,                                                                 \
      .help = "of figures: column (3.5 inch), slide (1280x720) or WxH in pixels" }, \
    {                                                                               \
        .name = "--theme", .type = OPTION_THEME, .at = AT_MEMBER, .value = "THEME", \
        .with = WITH, .help = "of figures: light (default) or dark"                 \
    }

/* What reading a command line came to; all but the first are exit codes. */
enum { OPTIONS_GO_ON = -1, OPTIONS_HELPED, OPTIONS_WRONG = 2, OPTIONS_NO_OUT = 3 };

/* The help of an option, with its names where it asks for them. */
void options_help(char *out, size_t size, const struct option *o);

/* Fills args by the table; positional words are collected into `words`. "--name value"
 * and "--name=value" are the same, "--" ends options, "-" is a word. Prints help, or
 * what is wrong (with the nearest option; outputs that cannot be written; options
 * without the one that they go with), itself. An option given twice is warned of. */
int options_parse(const struct usage *usage, int argc, char **argv, void *args,
                  struct option_list *words);

#endif
