/* smsim: simulates distributed training on GPU clusters. The table of subcommands. */
#include "base/ending.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/names.h"
#include "base/plain.h"
#include "base/xmalloc.h"
#include "cmd/cmd.h"
#include "cmd/completion.h"
#include "cmd/manual.h"
#include "cmd/version.h"
#include "report/report.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_COMMANDS_MAX = 32 };

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    { "simulate", cmd_simulate, "step time, memory and cost of one training job" },
    { "collective", cmd_collective, "time of a collective operation, as nccl-tests" },
    { "topology", cmd_topology, "how the GPUs of an instance are wired" },
    { "ranks", cmd_ranks, "which rank is where and in which groups" },
    { "partition", cmd_partition, "which layers each pipeline stage holds" },
    { "plan", cmd_plan, "the best degrees, placement and library for a job, and why" },
    { "compare", cmd_compare, "what makes two jobs differ, cause by cause" },
    { "doctor", cmd_doctor, "whether a run is as fast as it should be, by its logs" },
    { "serve", cmd_serve, "a page in the browser that does these" },
    { "pilot", cmd_pilot, "which measurement would help most to choose a plan" },
    { "sweep", cmd_sweep, "a job at every point of a grid: tables and figures" },
    { "validate", cmd_validate, "predictions against published measurements" },
    { "calibrate", cmd_calibrate, "measurements to the profile of a GPU or a fabric" },
    { "check", cmd_check, "what is wrong with files, without running them" },
    { "capture", cmd_capture, "which training a script of yours would start" },
    { "schema", cmd_schema, "the JSON Schema of a kind of file or of a result" },
    { "model", cmd_model, "what a model was read as: parameters, FLOPs, bytes" },
    { "list", cmd_list, "models, GPUs, instances, fabrics and scenarios at hand" },
    { NULL, NULL, NULL },
};

static void print_commands(FILE *out)
{
    fprintf(out, "smsim: how long a training step takes, whether it fits, what it "
                 "costs\n\nusage: smsim COMMAND ...\n\n");
    for (const struct command *c = commands; c->name; c++)
        fprintf(out, "  %-12s %s\n", c->name, c->summary);
    report_prose(
        out,
        "\nsmsim COMMAND --help says more, smsim help KEY what a key of a file means, "
        "smsim --version which data it reads; --man prints a manual page, --completion "
        "SHELL what bash, zsh or fish complete by. Exit codes: 0 done, 1 does not fit "
        "or failed check, 2 usage, 3 bad input, 4 out of memory, 5 a fault of smsim's "
        "own.\n\n"
        "  smsim simulate bert-large-squad-2xp3.16xlarge    a first result\n"
        "  smsim list scenarios                             more of them\n");
}

static void list_rows(struct manual_row rows[N_COMMANDS_MAX])
{
    int n = 0;
    for (; commands[n].name && n + 1 < N_COMMANDS_MAX; n++)
        rows[n] = (struct manual_row) { commands[n].name, commands[n].summary };
    rows[n] = (struct manual_row) { NULL, NULL };
}

static int print_completion(char *shell)
{
    static char word[] = "--completion";
    struct manual_row rows[N_COMMANDS_MAX];
    list_rows(rows);
    if (!shell || completion_begin(shell, rows)) {
        fprintf(stderr, "smsim: --completion is of bash, zsh or fish (smsim "
                        "--completion bash)\n");
        return EXIT_USAGE;
    }
    for (const struct command *c = commands; c->name; c++)
        c->run(3, (char *[]) { (char *)(uintptr_t)c->name, word, shell, NULL });
    completion_end(shell);
    return EXIT_DONE;
}

static int print_version(void)
{
    version_print();
    return EXIT_DONE;
}

static int print_manual(void)
{
    struct manual_row rows[N_COMMANDS_MAX];
    list_rows(rows);
    manual_program(rows);
    return EXIT_DONE;
}

static const struct command *find(const char *name)
{
    const struct command *c = commands;
    while (c->name && strcmp(c->name, name) != 0)
        c++;
    return c->name ? c : NULL;
}

static void name_commands(struct name_value names[N_COMMANDS_MAX])
{
    int n = 0;
    for (; commands[n].name && n + 1 < N_COMMANDS_MAX; n++)
        names[n] = (struct name_value) { commands[n].name, n };
    names[n] = (struct name_value) { NULL, 0 };
}

static int help_of(const char *word)
{
    struct name_value names[N_COMMANDS_MAX];
    name_commands(names);
    return cmd_help(word, names);
}

static int unknown(const char *word)
{
    struct name_value names[N_COMMANDS_MAX];
    name_commands(names);
    const char *near = names_nearest(names, word);
    fprintf(stderr, "smsim: no command \"%.40s\"%s%s%s (smsim --help lists them)\n",
            word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return EXIT_USAGE;
}

/* What was printed has to have come out: a full disk is no success. */
static int finish(int code)
{
    errno = 0;
    int rc = fflush(stdout);
    if ((rc == 0 && !ferror(stdout)) || code == EXIT_BAD_INPUT)
        return code;
    fprintf(stderr, "smsim: standard output: cannot be written%s%s\n",
            errno ? ": " : "", errno ? strerror(errno) : "");
    return EXIT_BAD_INPUT;
}

/* Words are printed again, in messages and tables: none of them may be read by the
 * terminal. Ends of lines are for values of --set. */
static int check_words(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (argv[i][plain_length(argv[i], true)]) {
            plain_make(argv[i]);
            fprintf(stderr,
                    "smsim: %.200s: an argument has a control character (leave it "
                    "out)\n",
                    argv[i]);
            return -1;
        }
    return 0;
}

static int run(int argc, char **argv)
{
    static char help[] = "--help";
    bool asks = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                strcmp(argv[1], "help") == 0;
    const struct command *c = find(argv[asks && argc > 2 ? 2 : 1]);
    if (asks && argc == 2) {
        print_commands(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--man") == 0)
        return print_manual();
    if (strcmp(argv[1], "--version") == 0)
        return print_version();
    if (strcmp(argv[1], "--completion") == 0)
        return print_completion(argv[2]);
    if (!c)
        return asks && strcmp(argv[1], "help") == 0 ? help_of(argv[2])
                                                    : unknown(argv[1]);
    if (asks)
        return c->run(2, (char *[]) { argv[2], help, NULL });
    return c->run(argc - 1, argv + 1);
}

/* GSL's errors are results, which its callers look at; but for this one. */
static void on_gsl_error(const char *reason, const char *file, int line, int code)
{
    (void)reason, (void)file, (void)line;
    if (code == GSL_ENOMEM)
        xmalloc_fail();
}

/* Threads without memory would end the program. */
static void limit_threads(void)
{
    const int most = heap_threads_most();
    if (most < omp_get_max_threads())
        omp_set_num_threads(most);
}

int main(int argc, char **argv)
{
    gsl_set_error_handler(on_gsl_error);
    json_set_alloc_funcs(xmalloc, free); /* a tree that lacks a value looks whole */
    heap_prepare();
    limit_threads();
    ending_watch();
    file_guard_on();
    if (argc < 2) {
        print_commands(stderr);
        return EXIT_USAGE;
    }
    return check_words(argc, argv) ? EXIT_USAGE : finish(run(argc, argv));
}
