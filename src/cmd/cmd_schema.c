/* smsim schema: JSON Schemas of the files that people write and of the results that
 * commands write. */
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "config/datadir.h"
#include "model/model.h"
#include "report/report.h"
#include "schema/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
struct arguments {
    bool page, dialects;
};

static const struct option options[] = {
    { .name = "--page", .type = OPTION_FLAG, .at = offsetof(struct arguments, page),
      .help = "docs/reference.md instead: every key of every kind of file" },
    { .name = "--dialects", .type = OPTION_FLAG, .at = offsetof(struct arguments, dialects),
      .help = "docs/dialects.md instead: every option of every dialect" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "schema",
    .arguments = "NAME | list | codes",
    .summary = "The JSON Schema (draft 2020-12) of a kind of file, or of a command's JSON result.\n"
               "Files: scenario, sweep, model, gpu, instance, fabric, framework.",
    .details = "\"list\" prints the names, \"codes\" the codes of errors, warnings and notes.\n"
               "A result names its schema in \"schema\"; the number after the last colon rises when a\n"
               "member is renamed, removed or changes its meaning. The tables by which smsim reads a\n"
               "file give its schema. Rules that join several keys are checked by smsim check alone.\n\n"
               "  smsim schema scenario >scenario.schema.json\n"
               "  smsim schema list\n"
               "  smsim schema codes\n",
    .options = options,
    .min_positional = 0,
    .max_positional = 1,
};

static const char dialects_start[] =
    "# Dialects\n\n"
    "A dialect is somebody else's format: a launch script, options of a command, a configuration. smsim\n"
    "reads it as a scenario, and may write a scenario in it (`--emit`). Each option acts, is named as\n"
    "without effect, is named as not simulated, or is refused. `smsim help dialects` lists the dialects.\n"
    "This page is made by `make docs` from the tables by which smsim reads them. `*` represents any rest.\n";

static const char page_start[] =
    "# Reference of keys\n\n"
    "Every key of every file that people write. `smsim help KEY` prints one of them, `smsim schema\n"
    "NAME` a JSON Schema. This page is made by `make docs` from the tables by which smsim reads the\n"
    "files (type, range) and from `schemas/` (meaning, default, example).\n\n"
    "All files are JSON with comments, trailing commas, single quotes and True/False/None. `null` is the\n"
    "same as leaving a key out. `\"comment\"` may be given in every object. `*` in a pointer matches an\n"
    "index or for a name of your own. Sizes, times and rates are strings with their unit: `\"25MiB\"`.\n";
/* clang-format on */

/* Takes over the tree. */
static int write_tree(json_t *tree, struct err *err)
{
    int rc = report_json_write(tree, "-", err);
    json_decref(tree);
    return rc;
}

static int write_kind(struct cfg_loader *loader, const char *kind, struct err *err)
{
    struct reference r;
    if (reference_load(&r, loader, kind))
        return -1;
    int rc = write_tree(reference_schema(&r), err);
    reference_release(&r);
    return rc;
}

static int print_page(struct cfg_loader *loader)
{
    struct strbuf page;
    int rc = 0;
    strbuf_init(&page);
    strbuf_addstr(&page, page_start);
    for (int i = 0; reference_kinds[i] && rc == 0; i++) {
        struct reference r;
        rc = reference_load(&r, loader, reference_kinds[i]);
        if (rc == 0)
            reference_page(&page, &r);
        reference_release(&r);
    }
    if (rc == 0)
        fputs(strbuf_get(&page), stdout);
    strbuf_release(&page);
    return rc;
}

static void print_names(void)
{
    struct strbuf names;
    strbuf_init(&names);
    for (int i = 0; reference_kinds[i]; i++)
        strbuf_printf(&names, "%s ", reference_kinds[i]);
    strbuf_addstr(&names, "model");
    report_wrap(stdout, "files:   ", "         ", strbuf_get(&names));
    strbuf_release(&names);
    strbuf_init(&names);
    for (int i = 0; result_contracts[i]; i++) {
        const char *name;
        size_t n = result_name(result_contracts[i], &name);
        strbuf_printf(&names, "%s%.*s", i ? " " : "", (int)n, name);
    }
    report_wrap(stdout, "results: ", "         ", strbuf_get(&names));
    strbuf_release(&names);
}

static void print_codes(void)
{
    for (int i = DIAG_INVALID + 1; i < DIAG_CODES; i++)
        printf("%-18s %s\n", diag_codes[i].name, diag_codes[i].meaning);
}

static int write_schema(struct cfg_loader *loader, const char *name, struct err *err)
{
    if (strcmp(name, "list") == 0) {
        print_names();
        return 0;
    }
    if (strcmp(name, "codes") == 0) {
        print_codes();
        return 0;
    }
    if (strcmp(name, "model") == 0)
        return write_tree(model_schema(), err);
    if (names_listed(reference_kinds, name))
        return write_kind(loader, name, err);
    json_t *schema = result_schema(name);
    return schema ? write_tree(schema, err)
                  : err_set(err, "schema \"%s\" is unknown (smsim schema list)", name);
}

int cmd_schema(int argc, char **argv)
{
    struct arguments args = { .page = false };
    struct option_list words = { 0 };
    struct cfg_loader loader;
    struct err err = { 0 };
    int done = options_parse(&usage, argc, argv, &args, &words);
    if (done != OPTIONS_GO_ON)
        return done;
    if ((args.page || args.dialects) ? words.n > 0 : words.n == 0) {
        report_linef(stderr, "smsim schema: give a name or --page (smsim schema list)");
        return EXIT_USAGE;
    }
    if (args.dialects) {
        struct strbuf page;
        strbuf_init(&page);
        strbuf_addstr(&page, dialects_start);
        reference_dialects(&page);
        fputs(strbuf_get(&page), stdout);
        strbuf_release(&page);
        return EXIT_DONE;
    }
    cfg_loader_init(&loader);
    int rc =
        args.page ? print_page(&loader) : write_schema(&loader, words.values[0], &err);
    if (rc)
        return cmd_fail(&loader, &err);
    cfg_loader_release(&loader);
    return EXIT_DONE;
}
