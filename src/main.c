/* smsim: simulates distributed training on GPU clusters. The table of subcommands. */
#include "cmd/cmd.h"

#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>

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
    { "sweep", cmd_sweep, "a job at every point of a grid: tables and figures" },
    { "validate", cmd_validate, "predictions against published measurements" },
    { "calibrate", cmd_calibrate, "measurements to the profile of a GPU or a fabric" },
    { "check", cmd_check, "what is wrong with files, without running them" },
    { "list", cmd_list, "models, GPUs, instances, fabrics and scenarios at hand" },
    { NULL, NULL, NULL },
};

static void print_commands(FILE *out)
{
    fprintf(out, "smsim: how long a training step takes, whether it fits, what it "
                 "costs\n\nusage: smsim COMMAND ...\n\n");
    for (const struct command *c = commands; c->name; c++)
        fprintf(out, "  %-12s %s\n", c->name, c->summary);
    fprintf(out,
            "\nsmsim COMMAND --help tells more. Exit codes: 0 done, 1 does not fit "
            "or failed check,\n2 usage, 3 bad input.\n");
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off();
    if (argc < 2) {
        print_commands(stderr);
        return EXIT_USAGE;
    }
    for (const struct command *c = commands; c->name; c++)
        if (strcmp(argv[1], c->name) == 0)
            return c->run(argc - 1, argv + 1);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_commands(stdout);
        return EXIT_DONE;
    }
    fprintf(stderr, "smsim: no command \"%s\" (smsim --help lists them)\n", argv[1]);
    return EXIT_USAGE;
}
