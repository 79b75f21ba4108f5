/* smsim serve: a page in the browser, and the commands as JSON over HTTP. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "base/err.h"
#include "base/xmalloc.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "config/datadir.h"
#include "dialect/dialect.h"
#include "model/hub.h"
#include "model/ops.h"
#include "page/page.h"
#include "report/text/wrap.h"
#include "scenario/libraries.h"
#include "search/plan.h"
#include "serve/serve.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    int64_t port;
};

enum { FILES_MAX = 32 };

#define AT(m) offsetof(struct arguments, m)

/* clang-format off */
static const struct option options[] = {
    { .name = "--port", .type = OPTION_INT, .at = AT(port), .value = "N", .min = 0, .max = 65535,
      .help = "of 127.0.0.1 (any that is free)" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "serve",
    .arguments = "[FILE]... [OPTION]...",
    .summary = "A page in the browser that simulates, plans and compares while you change "
               "things. It\nis served to this machine alone, at the address that is "
               "printed.",
    .details = "Each FILE is a scenario, a launch script or a log that the page offers. No other "
               "file of yours\nis read, and none is written. Ctrl-C ends it.\n\n"
               "  smsim serve\n"
               "  smsim serve my.json train.sh --port 8080\n"
               "  ssh -L 8080:127.0.0.1:8080 cluster smsim serve --port 8080\n",
    .options = options,
    .min_positional = 0,
    .max_positional = FILES_MAX,
};

/* What may be asked for: docs/serve.md. */
static const struct serve_option simulate_options[] = {
    { "network", SERVE_TEXT }, { "unfold", SERVE_FLAG }, { "estimator", SERVE_TEXT }, { NULL, 0 },
};
static const struct serve_option emit_options[] = {
    { "emit", SERVE_TEXT }, { "estimator", SERVE_TEXT }, { NULL, 0 },
};
static const struct serve_option plan_options[] = {
    { "model", SERVE_TEXT },      { "instance", SERVE_TEXT },  { "count", SERVE_TEXT },
    { "global-batch", SERVE_NUMBER }, { "sequence-length", SERVE_NUMBER }, { "estimator", SERVE_TEXT },
    { "objective", SERVE_TEXT },  { "risk", SERVE_TEXT },      { "draws", SERVE_NUMBER },
    { "seed", SERVE_NUMBER },     { "tokens", SERVE_NUMBER },  { "max-cost", SERVE_NUMBER },
    { "deadline", SERVE_NUMBER }, { "price", SERVE_TEXTS },    { "fix", SERVE_TEXTS },
    { "allow", SERVE_TEXTS },     { "for", SERVE_TEXT },       { "top", SERVE_NUMBER },
    { NULL, 0 },
};
static const struct serve_option compare_options[] = {
    { "to", SERVE_TEXTS }, { "by", SERVE_TEXT }, { NULL, 0 },
};
static const struct serve_option model_options[] = {
    { "sequence", SERVE_NUMBER }, { "attention", SERVE_TEXT }, { "framework", SERVE_TEXT }, { NULL, 0 },
};
static const struct serve_option no_options[] = { { NULL, 0 } };

static const struct serve_command commands[] = {
    { "simulate", "simulate", cmd_simulate, SERVE_RESULT, 1, 1, .page = true, .options = simulate_options },
    { "emit", "simulate", cmd_simulate, SERVE_WORDS, 1, 1, .options = emit_options },
    { "plan", "plan", cmd_plan, SERVE_RESULT, 0, 1, .options = plan_options },
    { "compare", "compare", cmd_compare, SERVE_RESULT, 1, 2, .options = compare_options },
    { "doctor", "doctor", cmd_doctor, SERVE_RESULT, 1, 1, .page = true, .logs = true, .options = no_options },
    { "model", "model", cmd_model, SERVE_RESULT, 0, 0, .word = true, .options = model_options },
    { "list", "list", cmd_list, SERVE_WORDS, 0, 0, .word = true, .options = no_options },
    { NULL },
};
/* clang-format on */

/* Ctrl-C; a signal can reach nothing but a global. */
static volatile sig_atomic_t stop_requested;

static void request_stop(int sig)
{
    (void)sig;
    stop_requested = 1;
}

static void watch_signals(void)
{
    struct sigaction stop = { .sa_handler = request_stop };
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigemptyset(&stop.sa_mask);
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGHUP, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}

/* What the controls offer ------------------------------------------------------------ */

static json_t *names_json(const struct name_value *names)
{
    json_t *list = json_array();
    for (; names->name; names++)
        json_array_append_new(list, json_string(names->name));
    return list;
}

static json_t *dir_json(struct arena *arena, const char *dir)
{
    json_t *list = json_array();
    for (const char **n = datadir_list(arena, dir); *n; n++)
        json_array_append_new(list, json_string(*n));
    return list;
}

static json_t *models_json(struct cfg_loader *loader)
{
    int64_t n;
    const struct hub_id *ids = hub_ids(loader, &n);
    json_t *list = dir_json(&loader->arena, "models");
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(ids[i].name));
    return list;
}

static json_t *dialects_json(void)
{
    struct name_value names[OPTION_NAMES_MAX];
    dialect_emit_names(names, OPTION_NAMES_MAX);
    return names_json(names);
}

static json_t *lists_json(struct cfg_loader *loader, const struct serve_file *files)
{
    struct arena *a = &loader->arena;
    json_t *named = json_array();
    for (; files->name; files++)
        json_array_append_new(named, json_string(files->name));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "files",
        named, "scenarios", dir_json(a, "scenarios"), "models", models_json(loader),
        "instances", dir_json(a, "topologies/instances"), "dialects", dialects_json(),
        "libraries", names_json(library_names), "precisions",
        names_json(op_precision_names), "attentions", names_json(op_attention_names),
        "optimizers", names_json(optimizer_names), "checkpointing",
        names_json(checkpointing_names), "shardings",
        names_json(parallelism_sharding_names), "schedules",
        names_json(parallelism_schedule_names), "objectives",
        names_json(plan_objective_names));
}

/* The text of the page; the caller frees it. */
static char *page_text(const struct serve_file *files)
{
    struct cfg_loader loader;
    char *text = NULL;
    size_t n = 0;
    cfg_loader_init(&loader);
    json_t *data = page_data("serve", "smsim", NULL);
    json_object_set_new(data, "lists", lists_json(&loader, files));
    FILE *memory = open_memstream(&text, &n);
    if (!memory)
        xmalloc_fail();
    page_print(memory, data, true);
    fclose(memory);
    json_decref(data);
    cfg_loader_release(&loader);
    return text;
}

/* Files of the command line, with their absolute paths in the arena; -1 names one that
 * is not there. */
static int find_files(struct serve_file *files, struct arena *arena,
                      const struct option_list *words, struct err *err)
{
    for (int32_t i = 0; i < words->n; i++) {
        char *path = realpath(words->values[i], NULL);
        if (!path)
            return err_set(err, "%s: there is no such file", words->values[i]);
        files[i] = (struct serve_file) { words->values[i], arena_strdup(arena, path) };
        free(path);
    }
    return 0;
}

int cmd_serve(int argc, char **argv)
{
    struct arguments args = { 0 };
    struct option_list words;
    struct serve_file files[FILES_MAX + 1] = { { NULL, NULL } };
    struct arena arena = { 0 };
    struct err err = { 0 };
    int done = options_parse(&usage, argc, argv, &args, &words);
    if (done != OPTIONS_GO_ON)
        return done;
    int rc = datadir_check(&arena, "models", &err);
    if (rc == 0)
        rc = find_files(files, &arena, &words, &err);
    if (rc == 0) {
        char *page = page_text(files);
        const struct serve_how how = {
            .port = args.port,
            .page = page,
            .data = datadir_root(&arena),
            .commands = commands,
            .files = files,
            .limits = &serve_usual_limits,
            .stop = &stop_requested,
            .out = stdout,
        };
        watch_signals();
        rc = serve_run(&how, &err);
        free(page);
    }
    arena_release(&arena);
    if (rc)
        report_linef(stderr, "smsim serve: %s", err.text);
    return rc ? EXIT_BAD_INPUT : EXIT_DONE;
}
