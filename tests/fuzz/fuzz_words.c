/* Whatever words come behind a command, it ends with one of its exit codes, and with no
 * fault of its own. An input is a command and its words, one a line; files are written
 * into a folder of their own only. Build it with clang's fuzzer, or with -DFUZZ_ALONE for
 * a main that mutates seeds: fuzz_words [SECONDS [SEED]]. */
#include "base/names.h"
#include "base/xmalloc.h"
#include "cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 24 };

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "simulate", cmd_simulate }, { "collective", cmd_collective },
    { "topology", cmd_topology }, { "ranks", cmd_ranks },
    { "check", cmd_check },       { "partition", cmd_partition },
    { "model", cmd_model },       { "list", cmd_list },
    { "schema", cmd_schema },     { "compare", cmd_compare },
};

static char folder[] = "/tmp/fuzz_words.XXXXXX";

static void remove_folder(void)
{
    char *command = xasprintf("rm -rf %s", folder);
    if (system(command))
        abort();
    free(command);
}

static void begin(void)
{
    if (!mkdtemp(folder) || chdir(folder) || !freopen("/dev/null", "w", stdout) ||
        !freopen("/dev/null", "r", stdin))
        abort();
    atexit(remove_folder);
}

/* Whether an option's value is no file outside the folder. */
static bool is_harmless(const char *word)
{
    return strncmp(word, "--", 2) != 0 || strncmp(word, "--set=/", 7) == 0 ||
           !strchr(word, '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    if (!begun)
        begin();
    begun = true;
    char *text = xstrndup((const char *)data, size), *words[WORDS_MAX + 1] = { NULL };
    int n = 0;
    for (char *w = strtok(text, "\n"); w && n < WORDS_MAX; w = strtok(NULL, "\n"))
        if (is_harmless(w))
            words[n++] = w;
    for (size_t i = 0; n > 0 && i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(words[0], commands[i].name) == 0) {
            int code = commands[i].run(n, words);
            if (code < EXIT_DONE || code > EXIT_BAD_INPUT)
                abort();
        }
    free(text);
    return 0;
}

#ifdef FUZZ_ALONE
#include "fuzz_alone.h"

static const char *const seeds[] = {
    "simulate\nbert-large-squad-2xp3.16xlarge\n--set\n/cluster/count=4\n--json\n-",
    "simulate\ngpt2-xl-smp-4xp3dn.24xlarge\n--set=/training/micro_batch_size=2\n"
    "--unfold\n--plot-memory\nm.svg",
    "collective\n--cluster\np4d.24xlarge:4\n--op\nall_reduce\n--bytes\n8:1GiB:8",
    "collective\n--cluster\np5.48xlarge:2\n--op=alltoall\n--bytes=1MiB\n--json=-",
    "topology\np4d.24xlarge\n--plot\nt.svg",
    "ranks\ngpt2-xl-smp-4xp3dn.24xlarge\n--all",
    "partition\ngpt2-xl-smp-4xp3dn.24xlarge",
    "model\nQwen/Qwen3-30B-A3B\n--json=-",
    "list\nmodels",
    "schema\nsimulate",
    "compare\nbert-large-squad-2xp3.16xlarge\n--set\n/cluster/count=4",
    "check\nbert-large-squad-2xp3.16xlarge\n--json=-",
};

static const char *const words[] = {
    "\n--set\n",
    "/cluster/count=",
    "/cluster/gpu=H200-SXM-141GB",
    "/model=gpt2",
    "/parallelism/tensor=",
    "/parallelism/pipeline=",
    "-1",
    "0",
    "1e999",
    "99999999999999999999",
    "x0.5",
    ":",
    ",",
    "=",
    "--",
    "-",
    "\n",
    "..",
    "{",
    "[1,2]",
    "null",
    "\x1b[31m",
    "\xff\xfe",
    "%s%n",
    "8G",
    "1Ti",
    "nan",
    "--json",
    "--help",
    "--op",
    "--bytes",
    "--man",
};

FUZZ_MAIN(seeds, words, getenv("FUZZ_LAST"))
#endif
