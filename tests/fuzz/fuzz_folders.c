/* A job's folder of which one file is changed: a script beside its configurations and
 * modules, whose names and values lead from one to the other. Reading ends with a scenario
 * or with errors, in time. An input is the name of a file of the folder, a line, and its
 * text. Build it with clang's fuzzer, where FUZZ_START names the file that is read, or with
 * -DFUZZ_ALONE for a main that changes the files of folders: fuzz_folders SECONDS SEED
 * FOLDER/./FILE... A copy of what failed stays in /dev/shm. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "base/file.h"
#include "base/names.h"
#include "base/xmalloc.h"
#include "dialect/launch/launch_open.h"
#include "scenario/scenario.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_B = 4096, ENDS_WITHIN_S = 60, TEXT_MAX_B = 1 << 16 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* The folder's copy ------------------------------------------------------------------- */

static struct {
    char root[64], start[PATH_B];
} copy;

static void write_file(const char *file, const char *text, size_t size)
{
    FILE *out = fopen(file, "wb");
    require(out && fwrite(text, 1, size, out) == size && fclose(out) == 0);
}

static void clear(void)
{
    char *command = xasprintf("rm -rf '%s'", copy.root);
    require(system(command) == 0);
    free(command);
}

/* Copies FOLDER of FOLDER/./FILE. */
static void take(const char *file)
{
    const char *start = strstr(file, "/./");
    require(start != NULL);
    snprintf(copy.root, sizeof(copy.root), "/dev/shm/smsim-fuzz-%d", (int)getpid());
    clear();
    char *command =
        xasprintf("cp -R '%.*s' '%s'", (int)(start - file), file, copy.root);
    require(system(command) == 0);
    free(command);
    snprintf(copy.start, PATH_B, "%s/%s", copy.root, start + strlen("/./"));
}

/* One input ---------------------------------------------------------------------------- */

static void read_job(const char *file)
{
    static const char *const sets[] = { "/cluster/instance=p4d.24xlarge",
                                        "/cluster/count=2" };
    const struct launch_sets given = { 2, sets };
    struct cfg_loader loader;
    struct launch l = { 0 };
    struct scenario s = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = launch_open(&l, &loader, file, &given, NULL);
    int rc = root.json && launch_complete(&l, root) == 0
                 ? scenario_read(&s, &loader, root)
                 : -1;
    launch_place(&l);
    require(rc == 0 || loader.diags.n_errors > 0);
    for (int64_t i = 0; i < loader.diags.n; i++)
        require(loader.diags.v[i].text[0] != '\0');
    launch_release(&l);
    cfg_loader_release(&loader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!copy.root[0]) {
        require(getenv("FUZZ_START") != NULL);
        take(getenv("FUZZ_START"));
    }
    const char *text = memchr(data, '\n', size);
    if (!text)
        return 0;
    char *name = xstrndup((const char *)data, (size_t)(text - (const char *)data));
    char *path = xasprintf("%s/%s", copy.root, name);
    struct err err = { 0 };
    size_t n = 0;
    char *before = strstr(name, "..") ? NULL : file_read(path, TEXT_MAX_B, &n, &err);
    if (before) {
        write_file(path, text + 1, size - strlen(name) - 1);
        alarm(ENDS_WITHIN_S);
        read_job(copy.start);
        alarm(0);
        write_file(path, before, n);
    }
    free(before);
    free(path);
    free(name);
    return 0;
}

#ifdef FUZZ_ALONE
#include "fuzz_alone.h"

static const char *const words[] = {
    "0",      "-1",      "9e18",      "1e300",
    "\"\"",   "null",    "[",         "]",
    "{",      "}",       ":",         "=",
    "\n",     " ",       "    ",      "- ",
    "$X",     "${X}",    "${a.b}",    "$(",
    "`",      "<<E",     "\nE\n",     "&a ",
    "*a",     "<<: ",    "defaults:", "@",
    "_self_", "import ", "from ",     "def f(",
    "return", "x",       "True",      "for ",
    "if ",    "fi\n",    "done\n",    "|",
    "../",    "./",      ".yaml",     ".py",
    "'",      "\"",      "\xff",      "\\",
    "#",      "--",      "~",         "99999999999999999999",
};

/* The files of the copy, by their place below it */
static char *names[256];
static int n_names;

static int add_name(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    static const char *const others[] = { "cmd", "status", "stdout", NULL };
    bool fits = type == FTW_F && st->st_size < TEXT_MAX_B / 2 &&
                !names_listed(others, path + ftw->base);
    if (fits && n_names < (int)(sizeof(names) / sizeof(names[0])))
        names[n_names++] = xstrdup(path + strlen(copy.root) + 1);
    return 0;
}

static void list_names(void)
{
    while (n_names > 0)
        free(names[--n_names]);
    require(nftw(copy.root, add_name, 8, FTW_PHYS) == 0);
}

/* A file's name and its text as an input. */
static size_t begin(char *input)
{
    const char *name = names[rand() % n_names];
    struct err err = { 0 };
    size_t n = 0;
    char *path = xasprintf("%s/%s", copy.root, name);
    char *text = file_read(path, TEXT_MAX_B, &n, &err);
    require(text != NULL);
    size_t at = (size_t)sprintf(input, "%s\n", name);
    memcpy(input + at, text, n);
    free(text);
    free(path);
    return at + n;
}

/* Puts a word in place of a whole number or a quoted text; whether there was one. */
static bool replace_value(char *text, size_t *n, size_t from, size_t cap)
{
    size_t at = from + (size_t)rand() % (*n - from + 1);
    size_t digits;
    text[*n] = '\0';
    at += strcspn(text + at, "0123456789");
    digits = strspn(text + at, "0123456789");
    const char *w = fuzz_pick(words, 6);
    size_t m = strlen(w);
    if (digits == 0 || *n - digits + m >= cap)
        return false;
    memmove(text + at + m, text + at + digits, *n - at - digits);
    memcpy(text + at, w, m);
    *n += m - digits;
    return true;
}

int main(int argc, char **argv)
{
    static char text[2 * TEXT_MAX_B];
    const struct fuzz_alone f = { .words = words,
                                  .n_words = sizeof(words) / sizeof(*words) };
    if (argc < 4)
        return 2;
    time_t end = time(NULL) + strtol(argv[1], NULL, 10);
    srand((unsigned)strtoul(argv[2], NULL, 10));
    long runs = 0;
    for (size_t n = 0, name = 0; time(NULL) < end; runs++) {
        if (runs % 256 == 0) {
            take(argv[3 + rand() % (argc - 3)]);
            list_names();
        }
        if (runs % 8 == 0) {
            n = begin(text);
            name = strcspn(text, "\n") + 1;
        }
        if (rand() % 2 || !replace_value(text, &n, name, TEXT_MAX_B))
            n = name + fuzz_mutate(&f, text + name, n - name, TEXT_MAX_B);
        fuzz_keep(getenv("FUZZ_LAST"), text, n);
        LLVMFuzzerTestOneInput((const uint8_t *)text, n);
    }
    clear();
    printf("folders %8ld runs\n", runs);
    return 0;
}
#endif
