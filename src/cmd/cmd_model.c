/* smsim model: what a model file or an id was understood as. */
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "report/model_report.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
struct arguments {
    int64_t sequence; /* 0: not given */
    const char *framework, *json;
    int attention; /* enum op_attention; -1: not given */
};

#define AT(m) offsetof(struct arguments, m)

static const struct option options[] = {
    { .name = "--sequence", .type = OPTION_INT, .at = AT(sequence), .value = "N",
      .help = "tokens of a sequence (4096, or the model's positions)", .min = 1, .max = 1 << 26 },
    { .name = "--attention", .type = OPTION_ENUM, .at = AT(attention), .value = "A",
      .help = "unfused, fused-softmax, memory-efficient, flash, flash_attention_3 or cudnn (flash)", .names = op_attention_names },
    { .name = "--framework", .type = OPTION_STRING, .at = AT(framework), .value = "F",
      .help = "profile whose kernels keep activations (pytorch-ddp)" },
    { .name = "--json", .type = OPTION_OUT, .at = AT(json), .value = "FILE",
      .help = "the result as JSON; - for standard output, instead of the text" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "model",
    .arguments = "NAME | ID | config.json | FOLDER [OPTION]...",
    .summary = "What a model was understood as: family, layers, parameters by part, FLOPs and bytes a token.",
    .details = "The model is a shipped name (smsim list models), a Hugging Face id (smsim list ids), a\n"
               "config.json or the folder that holds one. docs/models.md lists the families.\n\n"
               "  smsim model meta-llama/Llama-3.1-8B\n"
               "  smsim model gpt3-175b\n"
               "  smsim model my-model/config.json --sequence 8192 --json model.json\n",
    .options = options,
    .min_positional = 1,
    .max_positional = 1,
};
/* clang-format on */

enum { SEQUENCE_USUAL = 4096, ASSUMED_MAX = 5 };

/* Sequence, attention and profile, each as given or as usual; the list says which were
 * not given. */
static void assume(struct arguments *args, const struct model *m, struct arena *arena,
                   const char *assumed[ASSUMED_MAX])
{
    int n = 0;
    if (!args->sequence) {
        int64_t most = m->ends.positions_assumed ? 0 : m->ends.positions;
        most -= most > 0 ? m->ends.positions_unused : 0;
        most = m->ends.frames ? m->ends.frames : most;
        args->sequence = most > 0 && most < SEQUENCE_USUAL ? most : SEQUENCE_USUAL;
        if (model_patch_tokens(m))
            args->sequence = model_patch_tokens(m);
        assumed[n++] =
            arena_printf(arena, "--sequence %lld", (long long)args->sequence);
    }
    if (args->attention < 0) {
        args->attention = OP_ATTENTION_FLASH;
        assumed[n++] = "--attention flash";
    }
    if (!args->framework) {
        args->framework = "pytorch-ddp";
        assumed[n++] = "--framework pytorch-ddp";
    }
    if (m->ends.positions_assumed)
        assumed[n++] =
            arena_printf(arena, "%lld learned positions", (long long)m->ends.positions);
    assumed[n] = NULL;
}

static int print(const struct model *m, const struct model_summary *s,
                 const char *const *assumed, const struct diags *diags,
                 const char *json, struct err *err)
{
    if (!json || strcmp(json, "-") != 0) {
        struct strbuf out;
        strbuf_init(&out);
        report_model_text(&out, m, s, assumed);
        report_lines(stdout, strbuf_get(&out));
        strbuf_release(&out);
    }
    if (!json)
        return 0;
    json_t *tree = report_model_json(m, s, assumed, diags);
    int rc = report_json_write(tree, json, err);
    json_decref(tree);
    return rc;
}

int cmd_model(int argc, char **argv)
{
    struct arguments args = { .attention = -1 };
    struct option_list words = { 0 };
    struct cfg_loader loader;
    struct model_summary summary;
    struct model m;
    struct err err = { 0 };
    const char *assumed[ASSUMED_MAX];
    int done = options_parse(&usage, argc, argv, &args, &words);
    if (done != OPTIONS_GO_ON)
        return done;
    cfg_loader_init(&loader);
    struct cfg name =
        cfg_from_tree(&loader, "smsim model", json_string(words.values[0]));
    if (model_read(&m, &loader, name))
        return cmd_fail_json(&loader, NULL, "model", args.json);
    assume(&args, &m, &loader.arena, assumed);
    const struct framework *fw =
        framework_get(&loader, args.framework, (struct cfg) { 0 });
    if (!fw || model_summarise(&summary, &loader.arena, &m, args.sequence, fw,
                               (enum op_attention)args.attention, &err))
        return cmd_fail_json(&loader, &err, "model", args.json);
    cmd_warn(&loader);
    if (print(&m, &summary, assumed, &loader.diags, args.json, &err))
        return cmd_fail_json(&loader, &err, "model", args.json);
    cfg_loader_release(&loader);
    return EXIT_DONE;
}
