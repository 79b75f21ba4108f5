#include "calibrate/samples.h"

#include "base/file.h"
#include "calibrate/ncclog.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_B = 64 << 20 };

void samples_init(struct samples *s, struct cfg_loader *loader,
                  const struct samples_hints *hints)
{
    *s = (struct samples) { .loader = loader, .filter = hints->device };
}

int64_t sample_coll_launched(const struct sample_coll *k, int64_t n_gpus)
{
    return k->gpus_per_thread <= n_gpus ? k->gpus_per_thread : 0;
}

void samples_release(struct samples *s)
{
    VEC_RELEASE(&s->gemms);
    VEC_RELEASE(&s->products);
    VEC_RELEASE(&s->attentions);
    VEC_RELEASE(&s->transfers);
    VEC_RELEASE(&s->experts);
    VEC_RELEASE(&s->flashes);
    VEC_RELEASE(&s->streams);
    VEC_RELEASE(&s->links);
    VEC_RELEASE(&s->colls);
    VEC_RELEASE(&s->clocks);
    VEC_RELEASE(&s->notes);
    VEC_RELEASE(&s->files);
}

bool samples_wants(const struct samples *s, const char *device)
{
    return !s->filter || strstr(device, s->filter);
}

int samples_device(struct samples *s, const char *device, const char *where)
{
    if (!samples_wants(s, device))
        return 0;
    if (!s->device)
        s->device = arena_strdup(&s->loader->arena, device);
    if (strcmp(s->device, device) == 0)
        return 1;
    diags_add(&s->loader->diags, diag_at_line(DIAG_ERROR, DIAG_CONTRADICTION, where, 0),
              "measured on \"%s\" and on \"%s\": one kind of GPU at a time "
              "(smsim calibrate --device TEXT chooses)",
              s->device, device);
    return -1;
}

void samples_place(struct samples *s, int64_t gpus_per_node)
{
    for (int64_t i = 0; i < s->colls.n; i++) {
        struct sample_coll *k = &s->colls.v[i];
        if (k->n_nodes == 0)
            k->n_nodes = (k->n_ranks + gpus_per_node - 1) / gpus_per_node;
    }
}

static int64_t total(const struct samples *s)
{
    return s->gemms.n + s->products.n + s->attentions.n + s->transfers.n +
           s->experts.n + s->flashes.n + s->streams.n + s->links.n + s->colls.n +
           s->clocks.n;
}

/* Which reader the file is for, by how it begins; a log may begin with anything, a
 * command with commas or a dictionary of Python's, but names its columns. */
enum format { FORMAT_JSON, FORMAT_CSV, FORMAT_LOG, FORMAT_BINARY };

static bool is_log(const char *text)
{
    return strstr(text, "algbw") && strstr(text, "busbw") && strstr(text, "time");
}

static enum format format_of(const char *text, size_t len)
{
    const char *at = text + strspn(text, "\xef\xbb\xbf \t\r\n");
    size_t line = strcspn(at, "\r\n");
    int commas = 0;
    if (strlen(text) < len || strncmp(text, "\x1f\x8b", 2) == 0)
        return FORMAT_BINARY;
    if (*at == '{' && !is_log(at))
        return FORMAT_JSON;
    for (size_t i = 0; i < line; i++)
        commas += at[i] == ',';
    return commas >= 3 && *at != '#' && !is_log(at + line) ? FORMAT_CSV : FORMAT_LOG;
}

static int load_json(struct samples *s, const char *file, const char *text, size_t len,
                     const struct samples_hints *hints)
{
    struct cfg root = cfg_parse(s->loader, file, text, len);
    if (!cfg_present(root))
        return -1;
    if (cfg_present(cfg_get(root, "format")))
        return samples_load_measure(s, root);
    if (cfg_present(cfg_get(root, "results")))
        return ncclog_read_json(s, file, root, hints);
    return cfg_error(root, DIAG_UNKNOWN_FORMAT,
                     "is neither of smsim-measure (no \"format\") nor of "
                     "nccl-tests (no \"results\")");
}

static void report_nothing(struct samples *s, const char *file, bool failed)
{
    if (failed)
        diags_add(&s->loader->diags, diag_at_line(DIAG_ERROR, DIAG_NO_DATA, file, 0),
                  "every measurement in it failed");
    else if (s->filter)
        diags_add(&s->loader->diags, diag_at_line(DIAG_ERROR, DIAG_NO_DATA, file, 0),
                  "holds no measurement that is wanted (--device \"%s\")", s->filter);
    else
        diags_add(&s->loader->diags, diag_at_line(DIAG_ERROR, DIAG_NO_DATA, file, 0),
                  "holds no measurement that is wanted");
}

/* A table whose columns other marks part than commas: spreadsheets write such. */
static bool is_parted_otherwise(const char *text)
{
    size_t line = strcspn(text, "\r\n");
    int marks = 0, commas = 0;
    for (size_t i = 0; i < line; i++) {
        marks += text[i] == ';' || text[i] == '\t';
        commas += text[i] == ',';
    }
    return marks >= 2 && marks > commas && *text != '#' && !is_log(text);
}

static int load_log(struct samples *s, const char *file, const char *text,
                    const struct samples_hints *hints)
{
    if (!is_parted_otherwise(text))
        return ncclog_read(s, file, text, hints);
    diags_add(&s->loader->diags, diag_at_line(DIAG_ERROR, DIAG_UNKNOWN_FORMAT, file, 1),
              "columns are parted by semicolons or tabs: write the table with "
              "commas");
    return -1;
}

int samples_load(struct samples *s, const char *file, const struct samples_hints *hints)
{
    struct err err = { 0 };
    size_t len;
    int64_t before = total(s), failed = s->n_failed;
    char *text = file_read(file, FILE_MAX_B, &len, &err);
    int rc = 0;
    if (!text) {
        diags_unreadable(&s->loader->diags, file, &err);
        return -1;
    }
    if (!s->file)
        s->file = arena_strdup(&s->loader->arena, file);
    VEC_PUSH(&s->files, arena_strdup(&s->loader->arena, file));
    switch (format_of(text, len)) {
    case FORMAT_JSON:
        rc = load_json(s, file, text, len, hints);
        break;
    case FORMAT_CSV:
        rc = samples_load_csv(s, file, hints);
        break;
    case FORMAT_LOG:
        rc = load_log(s, file, text, hints);
        break;
    case FORMAT_BINARY:
        diags_add(&s->loader->diags,
                  diag_at_line(DIAG_ERROR, DIAG_UNKNOWN_FORMAT, file, 0),
                  "is no text in UTF-8 (compressed, or UTF-16 of Windows: convert "
                  "it first)");
        rc = -1;
        break;
    }
    free(text);
    if (rc == 0 && total(s) == before) {
        report_nothing(s, file, failed < s->n_failed);
        return -1;
    }
    return rc;
}
