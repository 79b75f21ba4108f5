/* Whatever bytes come as a file of any kind that people give, its reader ends with a
 * value, or with an error that says something. Build it with clang's fuzzer, where the
 * environment's FUZZ_READER names the reader, or with -DFUZZ_ALONE for a main that mutates
 * the files that it is given: fuzz_files READER SECONDS SEED FILE... */
#include "base/xmalloc.h"
#include "calibrate/samples.h"
#include "campaign/campaign.h"
#include "config/csv.h"
#include "dialect/launch/launch_open.h"
#include "hardware/import/nccl.h"
#include "hardware/import/smi.h"
#include "kineto/nsight.h"
#include "model/model.h"
#include "sweep/sweep.h"
#include "validation/mapping.h"
#include "validation/measured.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Readers -------------------------------------------------------------------------- */

static int read_scenario(struct cfg_loader *loader, const char *file)
{
    struct scenario s = { 0 };
    struct campaign c;
    struct cfg root = cfg_load(loader, file);
    if (!root.json || scenario_read(&s, loader, root))
        return -1;
    return campaign_read(&c, &s);
}

static int read_launch(struct cfg_loader *loader, const char *file)
{
    struct launch l = { 0 };
    static const char *const sets[] = { "/cluster/instance=p4d.24xlarge",
                                        "/cluster/count=2" };
    const struct launch_sets given = { 2, sets };
    struct cfg root = launch_open(&l, loader, file, &given, NULL);
    struct scenario s = { 0 };
    int rc = root.json && launch_complete(&l, root) == 0
                 ? scenario_read(&s, loader, root)
                 : -1;
    launch_place(&l);
    launch_release(&l);
    return rc;
}

static int read_model(struct cfg_loader *loader, const char *file)
{
    struct model m;
    struct cfg root = cfg_load(loader, file);
    return root.json ? model_read(&m, loader, root) : -1;
}

static int read_gpu(struct cfg_loader *loader, const char *file)
{
    return gpu_get(loader, file, (struct cfg) { NULL, NULL, "" }) ? 0 : -1;
}

static int read_instance(struct cfg_loader *loader, const char *file)
{
    return instance_get(loader, file, (struct cfg) { NULL, NULL, "" }) ? 0 : -1;
}

static int read_fabric(struct cfg_loader *loader, const char *file)
{
    return fabric_get(loader, file, (struct cfg) { NULL, NULL, "" }) ? 0 : -1;
}

static int complete(struct import *im, struct cfg_loader *loader)
{
    struct instance inst;
    const struct raw_import words = { .name = "fuzz" };
    return import_complete(&inst, im, &words, loader);
}

static int read_nccl(struct cfg_loader *loader, const char *file)
{
    struct import im;
    return import_nccl(&im, loader, file) ? -1 : complete(&im, loader);
}

static int read_smi(struct cfg_loader *loader, const char *file)
{
    struct import im;
    return import_smi(&im, loader, file) ? -1 : complete(&im, loader);
}

static int read_sweep(struct cfg_loader *loader, const char *file)
{
    struct sweep s;
    int rc = sweep_load(&s, loader, file);
    sweep_release(&s);
    return rc;
}

static int read_mapping(struct cfg_loader *loader, const char *file)
{
    struct mapping m;
    int rc = mapping_load(&m, loader, file, "validate/data/aws_misc_training.csv");
    mapping_release(&m);
    return rc;
}

static int read_samples(struct cfg_loader *loader, const char *file)
{
    static const struct samples_hints hints = { .op = -1 };
    struct samples s;
    samples_init(&s, loader, &hints);
    int rc = samples_load(&s, file, &hints);
    samples_release(&s);
    return rc;
}

static int read_measured(struct cfg_loader *loader, const char *file)
{
    struct measured m = { 0 };
    struct cfg root = cfg_load(loader, file);
    int rc = root.json ? measured_read(&m, loader, root, file) : -1;
    measured_release(&m);
    return rc;
}

static void take_rank(void *unused, struct kineto_rank *r)
{
    (void)unused;
    kineto_rank_release(r);
}

static int read_nsight(struct cfg_loader *loader, const char *file)
{
    struct err err = { 0 };
    int rc = nsight_read(file, take_rank, NULL, &err);
    require(rc == 0 || err.set);
    if (rc)
        diags_error(&loader->diags, DIAG_FAILED, "%s", err.text);
    return rc;
}

static const struct reader {
    const char *name, *ending;
    int (*read)(struct cfg_loader *loader, const char *file);
} readers[] = {
    { "scenario", ".json", read_scenario },
    { "python", ".py", read_launch },
    { "shell", ".sh", read_launch },
    { "json", ".json", read_launch },
    { "yaml", ".yaml", read_launch },
    { "toml", ".toml", read_launch },
    { "notebook", ".ipynb", read_launch },
    { "model", ".json", read_model },
    { "gpu", ".json", read_gpu },
    { "instance", ".json", read_instance },
    { "fabric", ".json", read_fabric },
    { "nccl", ".xml", read_nccl },
    { "smi", ".txt", read_smi },
    { "sweep", ".json", read_sweep },
    { "mapping", ".json", read_mapping },
    { "table", ".csv", read_samples },
    { "nccltests", ".log", read_samples },
    { "measured", ".json", read_measured },
    { "nsight", ".sqlite", read_nsight },
    { NULL, NULL, NULL },
};

/* One input ------------------------------------------------------------------------ */

static const struct reader *reader_of(const char *name)
{
    const struct reader *r = readers;
    while (r->name && (!name || strcmp(r->name, name) != 0))
        r++;
    if (r->name)
        return r;
    fprintf(stderr, "FUZZ_READER: %s is none of:", name ? name : "(nothing)");
    for (r = readers; r->name; r++)
        fprintf(stderr, " %s", r->name);
    fputc('\n', stderr);
    exit(2);
}

static void check(const struct reader *r, const char *file)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    int rc = r->read(&loader, file);
    require(rc == 0 || loader.diags.n_errors > 0);
    for (int64_t i = 0; i < loader.diags.n; i++)
        require(loader.diags.v[i].text[0] != '\0');
    cfg_loader_release(&loader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct reader *r;
    static char path[64];
    if (!r) {
        r = reader_of(getenv("FUZZ_READER"));
        snprintf(path, sizeof(path), "/dev/shm/smsim-fuzz-%d%s", (int)getpid(),
                 r->ending);
    }
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, size, out) != size || fclose(out))
        exit(3);
    check(r, path);
    unlink(path);
    return 0;
}

#ifdef FUZZ_ALONE
#include "base/file.h"
#include "fuzz_alone.h"

static const char *const words[] = {
    "{",    "}",        "[",    "]",           "\"",     "'",        ",",     ":",
    "=",    "\n",       "\t",   " ",           "0",      "-1",       "1e308", "1e-9",
    "nan",  "null",     "True", "99999999999", "#",      "/",        "..",    "<",
    ">",    "\\u0",     "GiB",  "Gb/s",        "us",     "\"\": 0,", "$X",    "${X}",
    "$(",   "`",        "%",    "*",           "import", "- ",       "---",   "!!",
    "&a",   "*a",       "[[",   "]]",          "|",      ";",        "\\\n",  "\xff",
    "\x7f", "\xc3\xa9", "x1",   "65536",       "'''",    "<gpu",     "dev=",  "SYS",
    "NV12", "PIX",      "GPU0", "\r\n",
};

enum { CAP = 1 << 16 };

static size_t load(char *text, const char *file)
{
    struct err err = { 0 };
    size_t n = 0;
    char *read = file_read(file, 64 * CAP, &n, &err);
    require(read != NULL);
    n = n < CAP - 64 ? n : CAP - 64;
    memcpy(text, read, n);
    free(read);
    return n;
}

int main(int argc, char **argv)
{
    static char text[CAP];
    const struct fuzz_alone f = { .words = words,
                                  .n_words = sizeof(words) / sizeof(*words) };
    if (argc < 5)
        return 2;
    setenv("FUZZ_READER", argv[1], 1);
    time_t end = time(NULL) + strtol(argv[2], NULL, 10);
    srand((unsigned)strtoul(argv[3], NULL, 10));
    long runs = 0;
    size_t n = 0;
    for (; time(NULL) < end; runs++) {
        if (runs % 16 == 0)
            n = load(text, argv[4 + rand() % (argc - 4)]);
        n = fuzz_mutate(&f, text, n, CAP);
        fuzz_keep(getenv("FUZZ_LAST"), text, n);
        LLVMFuzzerTestOneInput((const uint8_t *)text, n);
    }
    printf("%-10s %8ld runs\n", argv[1], runs);
    return 0;
}
#endif
