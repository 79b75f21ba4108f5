/* Whatever lines a sweep's journal has, --resume ends with tables and figures, or with an
 * error that says something. The input's lines come after those that a sweep wrote itself,
 * each with its checksum unless it begins with "!"; a point that they leave out is as it
 * was. Build it with clang's fuzzer, or with -DFUZZ_ALONE for a main that mutates seeds:
 * fuzz_journal [SECONDS [SEED]]. */
#include "base/fnv.h"
#include "base/vec.h"
#include "base/xmalloc.h"
#include "cmd/cmd.h"
#include "report/figure/sweep.h"
#include "report/sweep_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char sweep_text[] =
    "{\"base\": \"bert-large-squad-2xp3.16xlarge\", \"axes\": ["
    "{\"path\": \"/cluster/count\", \"values\": [1, 2]},"
    "{\"path\": \"/training/micro_batch_size\", \"values\": [2, 64]}],"
    "\"keep\": \"feasible\", \"where\": [\"mfu > 0.01\"], \"plots\": ["
    "{\"file\": \"a.svg\", \"kind\": \"line\", \"x\": \"gpus\", \"y\": "
    "\"samples_per_s\", \"series\": \"/training/micro_batch_size\"},"
    "{\"file\": \"b.svg\", \"kind\": \"heatmap\", \"x\": \"/cluster/count\", \"y\": "
    "\"/training/micro_batch_size\", \"value\": \"mfu\"},"
    "{\"file\": \"c.svg\", \"kind\": \"front\", \"x\": \"step_time_s\", \"y\": "
    "\"/cost/usd_per_step\", \"label\": \"gpus\"}]}";

static char folder[] = "/tmp/fuzz_journal.XXXXXX";
static struct {
    VEC(char *) points;
    char *others; /* the header, and what the points depend on, with their checksums */
} genuine;

static void require(bool holds)
{
    if (!holds)
        abort();
}

static char *in_folder(const char *name)
{
    return xasprintf("%s/%s", folder, name);
}

static void write_file(const char *name, const char *text)
{
    char *path = in_folder(name);
    FILE *out = fopen(path, "wb");
    require(out && fputs(text, out) >= 0 && fclose(out) == 0);
    free(path);
}

static void remove_folder(void)
{
    char *command = xasprintf("rm -rf %s", folder);
    require(system(command) == 0);
    free(command);
}

/* The journal of a sweep that is run once. */
static void begin(void)
{
    require(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    write_file("sweep.json", sweep_text);
    char *file = in_folder("sweep.json"), *out = in_folder("out"), sweep[] = "sweep",
         option[] = "--out", *line = NULL;
    require(cmd_sweep(4, (char *[]) { sweep, file, option, out, NULL }) == EXIT_DONE);
    char *path = in_folder("out/journal");
    FILE *in = fopen(path, "rb");
    size_t cap = 0;
    genuine.others = xstrdup("");
    while (in && getline(&line, &cap, in) > 0) {
        if (strncmp(line, "{\"point\":", 9) == 0) {
            *strrchr(line, '\t') = '\0';
            VEC_PUSH(&genuine.points, xstrdup(line));
        } else {
            char *more = xasprintf("%s%s", genuine.others, line);
            free(genuine.others);
            genuine.others = more;
        }
    }
    require(in && genuine.points.n == 4);
    fclose(in);
    free(line);
    free(path);
    free(out);
    free(file);
}

static void write_journal(char *lines)
{
    char *path = in_folder("out/journal");
    FILE *out = fopen(path, "wb");
    require(out && fputs(genuine.others, out) >= 0);
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
        if (line[0] == '!')
            fprintf(out, "%s\n", line + 1);
        else
            fprintf(out, "%s\t%016" PRIx64 "\n", line,
                    fnv_add(fnv_start, line, strlen(line)));
    require(fclose(out) == 0);
    free(path);
}

static void add_record(void *figures, int64_t point, json_t *record)
{
    figure_sweep_add(figures, point, record);
}

static int resume(struct sweep *s, struct sweep_figures *figures, const char *out,
                  bool draws, struct err *err)
{
    struct sweep_journal j;
    struct sweep_summary sum;
    if (sweep_journal_open(&j, s, out, (struct sweep_shard) { 1, 1 }, true, err))
        return -1;
    int rc = 0;
    for (int64_t i = 0; rc == 0 && i < genuine.points.n; i++)
        rc = sweep_journal_add(&j, strtoll(genuine.points.v[i] + 9, NULL, 10),
                               genuine.points.v[i], err);
    if (rc == 0) {
        rc = report_sweep_write(s, &j, &sum, add_record, figures, err);
        require(rc || sum.n_written + sum.n_left_out <= s->n_points);
        if (rc == 0 && draws)
            rc = figure_sweep_write(figures, out, (struct draw_look) { 0 }, err);
        sweep_summary_release(&sum);
    }
    sweep_journal_close(&j);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!genuine.others)
        begin();
    char *lines = xstrndup((const char *)data, size);
    write_journal(lines);
    free(lines);
    struct cfg_loader loader;
    struct sweep s;
    struct err err = { 0 };
    char *file = in_folder("sweep.json"), *out = in_folder("out");
    cfg_loader_init(&loader);
    require(sweep_load(&s, &loader, file) == 0);
    struct sweep_figures *figures = figure_sweep_new(&s);
    require(figure_sweep_read(figures) == 0);
    if (resume(&s, figures, out, size % 16 == 0, &err)) /* drawing is slow */
        require(err.set && err.text[0]);
    figure_sweep_free(figures);
    sweep_release(&s);
    cfg_loader_release(&loader);
    free(out);
    free(file);
    return 0;
}

#ifdef FUZZ_ALONE
#include "fuzz_alone.h"

static const char *const seeds[] = {
    "{\"point\":0,\"axes\":{\"/cluster/count\":1,\"/training/micro_batch_size\":2},"
    "\"results\":{\"step_time_s\":0.5,\"samples_per_s\":64.0,\"mfu\":0.3,\"gpus\":8,"
    "\"/memory/fits\":true,\"/cost/usd_per_step\":0.01}}",
    "{\"point\":3,\"axes\":{\"/cluster/count\":2},\"error\":\"no\",\"retry\":true}",
    "{\"input\":\"models/gpt2.json\",\"kind\":\"data\",\"hash\":\"0123456789abcdef\"}",
    "!{\"point\":1,\"axes\":{},\"results\":{}}\t0\n{\"point\":2,\"axes\":{},"
    "\"results\":{}}\n",
};

static const char *const words[] = {
    "\"results\":",
    "\"axes\":",
    "\"error\":",
    "\"retry\":true",
    "\"point\":",
    "\"warnings\":",
    "\"input\":",
    "{",
    "}",
    "[]",
    "null",
    "true",
    "1e999",
    "-1",
    "1e-320",
    "0",
    "\"\\u0000\"",
    "\"mfu\":",
    "\"gpus\":",
    "\n",
    "!",
    ",",
    "\t",
    "9223372036854775807",
};

FUZZ_MAIN(seeds, words, getenv("FUZZ_LAST"))
#endif
