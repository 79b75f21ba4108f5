/* Shell scripts, read and never run: the commands that one would start, as far as its
 * text says them, and the files that it would write.
 *
 * Read are words with their quotes, "\" at the end of a line, comments; variables and
 * arrays (X=, X+=, X=( ), X[1]=, export, declare, local, : ${X:=w}), those of one command
 * alone (X=1 COMMAND, env X=1 COMMAND); $X, ${X}, ${X:-w}, ${X-w}, ${X:=w}, ${X:+w},
 * ${X+w}, ${X[@]}, ${X[i]}, ${#X[@]}, ${!X[@]}, ${#X}, ${X%w}, ${X##w}, ${X/a/b},
 * ${X:1:2}, ${X,,}, split by IFS; {a,b} and {1..4}; associative arrays; $(( )); if, case,
 * for, while, functions, { }, ( ), && and ||, with [ ], [[ ]] and (( )) where what they
 * compare is known, and patterns with *, ? and [a-z]; break, continue, return and exit;
 * local, declare -i and -n, unset, shift, set --, getopts, getopt and read <<<; here-documents; eval, and
 * what is given to `bash -c`, `bash <<END`, `sbatch --wrap` and `| sbatch`; files next to
 * the script that are `source`d or started; $( ) of echo, dirname, basename, pwd, seq,
 * expr, bc, wc, tr, cut, head, which, awk's NF, and cat, yq and jq of a file next to the
 * script, where what they are given is known.
 * Paths are relative to the script. How many GPUs an instance has (nvidia-smi -L | wc -l, device_count()) is
 * the setting's to say.
 *
 * What would have to be run (a command substitution, a file's test) and what the caller
 * of the script gives (its arguments, variables it does not set) is not known, and says
 * why; so is what is set under a condition that is not known, by a trap, in the
 * background or in the first part of a pipeline. A loop whose rounds are not known is
 * read for one round, and what it sets is not known after it; so is that of a loop that
 * `break` may end. A loop over arguments that nobody gave is passed over. What ( ), the
 * later parts of a pipeline, `bash -c` and scripts that are started set is gone after
 * them. A test of whether a variable is empty (-z, -n) finds one that nobody set to be
 * so, as `${X:-w}` does, but for SLURM's. A script is taken not to give up: "exit 1" is
 * passed over. What `eval "$( )"`, `export $( )` and commands that change files (sed -i,
 * COMMAND > FILE) leave is not known, and noted.
 *
 * Everything lives in the arena. Limits are those below; reading ends with an error
 * beyond them, and in time near linear in the text: variables that hold each other many
 * times over end as values that are not known, functions that call each other in the
 * limit of work. */
#ifndef DIALECT_SHELL_SHELL_H
#define DIALECT_SHELL_SHELL_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "dialect/source/files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SHELL_TEXT_MAX_B = 1 << 18,
    SHELL_NAMES_MAX = 1000,
    SHELL_VALUE_MAX = 1 << 16, /* characters of a variable */
    SHELL_WORDS_MAX = 1 << 13, /* of a command, elements of an array */
    SHELL_COMMANDS_MAX = 2000,
    SHELL_CHOICES_MAX = 200,
    SHELL_SOURCED_MAX = 8,    /* files that source each other */
    SHELL_DEPTH_MAX = 40,     /* of statements in each other, of nested texts */
    SHELL_WORK_MAX = 1 << 22, /* characters read and made in all */
};

/* A word of a command. Pieces that are not known are in the text by their names:
 * "ds_config.$SLURM_JOB_ID.json". */
struct shell_word {
    const char *text;
    const char *why; /* why the first of them is not known; NULL: all of it is known */
    bool whole;      /* the word is nothing but one such piece */
    bool gpus;       /* and that is how many GPUs an instance has */
    const char *ask; /* the variable that would decide it: "9"; NULL */
    const char *may; /* what it may hold, by the branches of the script; NULL */
    int64_t line, column; /* where its first character was written, from 1 */
};

/* What a variable is at the end, or of a command, where it is known and no array. */
struct shell_binding {
    const char *name, *value; /* NULL: set, to what is not known */
    int64_t line;
};

/* A loop over words around a command, whose variable chooses between the commands of its
 * rounds. */
struct shell_round {
    const char *name, *first; /* "tp", and the word of its first round */
    const struct shell_round *outer;
};

struct shell_command {
    int32_t n;
    const struct shell_word *words;
    int64_t line;
    const char *unless;               /* why it may not be reached; NULL: it is */
    const char *decides;              /* the variable that would decide it: "1"; NULL */
    const struct shell_round *rounds; /* NULL: there are none */
    int64_t within; /* the command whose text it is (srun ... bash -c "this"), from 1 */
    int32_t n_own;
    const struct shell_binding *own; /* X=1 COMMAND: what is set for it alone */
};

/* What the script compares a variable with that nobody gives: a value that it takes. */
struct shell_choice {
    const char *ask, *value; /* "2" of $2, "7B" */
};

struct shell_note {
    int64_t line;
    const char *text;
    const char *missing; /* the script that is started, and was not found; or NULL */
};

/* A variable as given from outside; positional parameters by their numbers, or all of
 * them, with blanks between, by "@". */
struct shell_given {
    const char *name, *value;
    int64_t line; /* of the script, where it says so itself; or 0 */
    bool fixed;   /* the script's own assignments are passed over */
};

struct shell {
    struct arena *arena;
    VEC(struct shell_command) commands; /* in the order in which they would start */
    /* that the script writes (cat <<EOF > FILE); pieces that are not known are "null" */
    VEC(struct source_file) files;
    VEC(struct shell_note) notes;
    VEC(struct shell_binding) bindings;
    VEC(struct shell_choice) choices; /* at most SHELL_CHOICES_MAX */
    bool optional; /* it asks whether $1 is there, and goes on without it */
    bool gives_up; /* it ends with an error somewhere */
};

/* The words of the lines "#SBATCH ..." of a text, each with its line. */
struct raw_shell {
    int32_t n;
    struct shell_word *v;
};

/* What a scheduler's variable of the file of a job's hosts holds here: such a file has a
 * line for each task of each node. */
#define SHELL_NODE_FILE "/hosts-of-the-job"

/* How the names of scripts and of job files end; NULL ends them. */
extern const char *const shell_endings[];

/* Where a script is. */
struct shell_setting {
    const char *file;                /* its path, or NULL */
    int64_t gpus, cpus;              /* of an instance; 0: not known */
    int64_t arch;                    /* of its GPUs, 80 of sm80; 0: not known */
    int64_t nodes, tasks;            /* of the job, and of each; 0: not known */
    const struct source_file *files; /* that something else wrote */
    int64_t n_files;
    int32_t line; /* where all of it is, in a file of another kind; 0: its own lines */
    /* the variables that SLURM makes of a job's lines and sbatch's words, or NULL */
    int32_t (*job)(struct arena *arena, const struct raw_shell *words,
                   struct shell_given *out, int32_t most);
};

/* Reads UTF-8 text of len bytes; `in` may be NULL. -1 beyond the limits, and where a
 * quote, a bracket or a statement is not closed: err is "LINE:COLUMN: what (mend)". */
int shell_read(struct shell *s, const struct shell_setting *in, struct arena *arena,
               const char *text, size_t len, const struct shell_given *given,
               int32_t n_given, struct err *err);
void shell_release(struct shell *s);

/* shell_file.c. A path as messages show it: of a long one its end. */
const char *shell_shown(struct arena *arena, const char *path);

/* shell_scheduler.c. The lines "#SBATCH ..." of a text; those of other schedulers that
 * say nodes or GPUs, as SLURM's would. */
struct raw_shell shell_directives(struct arena *arena, const char *text);

#endif
