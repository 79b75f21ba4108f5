#include "dialect/nemo/nemo.h"

#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_shell.h"

#include <inttypes.h>
#include <string.h>

/* Parts ---------------------------------------------------------------------------- */

/* clang-format off */
static const struct nemo_route hydra_routes[] = {
    { "model.optim.sched.", NEMO_REST }, { "model.optim.", NEMO_OPTIM },
    { "model.peft.", NEMO_PEFT }, { "model.tokenizer.", NEMO_REST },
    { "model.encoder.", NEMO_MODEL }, { "model.decoder.", NEMO_REST }, { "model.data.", NEMO_REST }, { "model.data.train_ds.", NEMO_DATA }, { "model.", NEMO_MODEL },
    { "trainer.", NEMO_TRAINER }, { NULL, NEMO_REST },
};
/* clang-format on */

/* What is refused ------------------------------------------------------------------ */

/* clang-format off */
/* Keys that only what is not simulated has (examples/ of NeMo, NeMo-Aligner and the
 * launcher's conf/). */
static const struct {
    const char *path, *what; /* "*" at the end represents any rest */
} refused[] = {
    { "trainer.ppo.*", "training on answers that the model generates (PPO)" },
    { "trainer.ppo_actor.*", "training on answers that the model generates (PPO)" },
    { "trainer.grpo.*", "training on answers that the model generates (GRPO)" },
    { "trainer.reinforce.*", "training on answers that the model generates (REINFORCE)" },
    { "trainer.rm.*", "training of a reward model" }, { "model.reward_model_type", "training of a reward model" },
    { "trainer.dpo.*", "preference optimisation, which has a reference model," },
    { "trainer.kto.*", "preference optimisation, which has a reference model," },
    { "trainer.spin.*", "preference optimisation, which has a reference model," },
    { "trainer.knowledge_distillation.*", "distillation, which has a second model," },
    { "model.knowledge_distillation.*", "distillation, which has a second model," },
    { "model.retro.*", "an encoder of retrieved neighbours" }, { "model.enc_cross_attention", "an encoder of retrieved neighbours" },
    { "model.mm_cfg.*", "a model of images and text" }, { "model.vision.*", "a model of images and text" },
    { "model.unet_config.*", "diffusion" }, { "model.unet.*", "diffusion" }, { "model.denoiser_config.*", "diffusion" },
    { "model.first_stage_config.*", "diffusion" }, { "model.noise_scheduler.*", "diffusion" },
    { "model.nerf.*", "diffusion" }, { "model.img_h", "a model of images" }, { "model.vision_pretraining_type", "a model of images" },
    { "model.preprocessor.*", "a model of speech" }, { "model.sample_rate", "a model of speech" }, { "model.preemphasis", "a model of speech" },
    { "model.generator.*", "a model of speech" }, { "model.mel_transform.*", "a model of speech" },
    { "model.hybrid_attention_ratio", "a model of state-space layers (Mamba)" }, { "model.hybrid_override_pattern", "a model of state-space layers (Mamba)" },
    { "model.mamba_ssm_ngroups", "a model of state-space layers (Mamba)" }, { "model.hyena.*", "a model of long convolutions (Hyena)" },
    { "model.hiddens.*", "a model with a bottleneck (hiddens)" }, { "model.logits_soft_cap", "a model of recurrent layers (Griffin)" },
    { "model.activations_checkpoint_recurrent", "a model of recurrent layers (Griffin)" },
    { "model.virtual_prompt_style", "prompt learning" }, { "model.ia3_tuning.*", "IA3" }, { "model.adapter_tuning.*", "adapters between layers" },
    { "inference.*", "inference" }, { "quantization.*", "the quantization of a model" }, { "model.quantize.*", "the quantization of a model" },
    { "export.*", "the export of a model" }, { "prune.*", "the pruning of a model" },
    { "eval_type", "evaluation" }, { "ppo_critic.*", "training on answers that the model generates (PPO)" },
    { "ppo_actor.*", "training on answers that the model generates (PPO)" },
};
/* clang-format on */

static bool fits(const char *pattern, const char *path)
{
    size_t n = strlen(pattern);
    bool open = pattern[n - 1] == '*';
    return open ? strncmp(pattern, path, n - 1) == 0 : strcmp(pattern, path) == 0;
}

static const char *why_refused(const struct value *flat, const struct value_item **it)
{
    for (int32_t i = 0; i < flat->n; i++)
        for (size_t j = 0; j < sizeof(refused) / sizeof(refused[0]); j++)
            if (fits(refused[j].path, flat->items[i].key) &&
                flat->items[i].value->kind != VALUE_NONE) {
                *it = &flat->items[i];
                return refused[j].what;
            }
    return NULL;
}

static bool refuse(struct launch_context *t, const struct value *flat)
{
    const struct value_item *it;
    const char *what = why_refused(flat, &it);
    if (what)
        diags_add(&t->l->loader->diags,
                  launch_diag(t->l, DIAG_NOT_SIMULATED, it->line, it->value->column),
                  "%.80s: %s is not simulated (pre-training and supervised "
                  "fine-tuning are)",
                  it->key, what);
    return what != NULL;
}

/* All of it ------------------------------------------------------------------------ */

static bool has(const struct value *dict, const char *key)
{
    return value_get(dict, key) != NULL;
}

/* Of all frameworks with a trainer and a model, NeMo's. */
static bool is_own(const struct value *root)
{
    static const char *const marks[] = { "micro_batch_size",
                                         "global_batch_size",
                                         "tensor_model_parallel_size",
                                         "restore_from_path",
                                         "train_batch_size",
                                         "peft",
                                         NULL };
    const struct value_item *model = value_get(root, "model");
    if (has(root, "exp_manager") || has(root, "use_smp_model"))
        return true;
    for (const char *const *m = marks; model && *m; m++)
        if (has(model->value, *m))
            return true;
    return false;
}

/* Hydra's words: sections of NeMo's that a command sets, or a group of a launcher's. */
static bool is_hydra(const struct launch_command *c)
{
    static const char *const marks[] = { "trainer.num_nodes=",
                                         "trainer.devices=",
                                         "model.micro_batch_size=",
                                         "model.global_batch_size=",
                                         "model.tensor_model_parallel_size=",
                                         "recipes=",
                                         "stages=[",
                                         "exp_manager." };
    static const char *const chosen[] = { "recipes=", "training=", "fine_tuning=",
                                          "peft=" };
    int found = 0;
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        const char *word = c->command->words[i].text;
        word += strspn(word, "+\"'");
        for (size_t j = 0; j < sizeof(chosen) / sizeof(chosen[0]); j++) {
            size_t n = strlen(chosen[j]) - 1;
            found += strncmp(word, chosen[j], n + 1) == 0;
            if (strncmp(word, chosen[j], n) == 0 && word[n] == '.')
                word += n + 1; /* training.trainer.num_nodes=4 */
        }
        for (size_t j = 0; j < sizeof(marks) / sizeof(marks[0]); j++)
            found += strncmp(word, marks[j], strlen(marks[j])) == 0;
    }
    return found > 1;
}

/* A trainer and a model, as all of NeMo's have; or hydra's file of groups. */
/* Keys that change a recipe of Megatron-Bridge, as files of --config-file have them. */
static bool is_override(const struct value *v)
{
    static const char *const parts[] = {
        "model", "optimizer",  "scheduler", "logger",          "dataset",    "rng",
        "ddp",   "checkpoint", "dist",      "mixed_precision", "validation", NULL
    };
    const struct value_item *train = value_get(v, "train");
    int n = 0;
    if (nemo_names_recipe(v))
        return true;
    for (const char *const *p = parts; *p; p++)
        n += value_get(v, *p) && value_get(v, *p)->value->kind == VALUE_DICT;
    return n > 2 && train &&
           (has(train->value, "train_iters") || has(train->value, "global_batch_size"));
}

bool nemo_recognises(const struct dialect_input *in)
{
    static const char *const groups[] = { "training", "peft", "fine_tuning", "recipes",
                                          NULL };
    const struct value *v = in->root;
    if (in->source == DIALECT_CALLS)
        return nemo_recipe_recognises(in);
    if (in->source == DIALECT_COMMAND)
        return nemo_is_recipe_command(in->command) ||
               (is_hydra(in->command) &&
                !launch_starts_recipes(in->context, in->command));
    if (nemo_is_container(v) || core_recognises(v) || hyperpod_is_tuning(v) ||
        nemo_rl_recognises(v) || is_override(v))
        return true;
    const struct value_item *trainer = value_get(v, "trainer"),
                            *defaults = value_get(v, "defaults");
    bool nodes =
        trainer && (has(trainer->value, "num_nodes") || has(trainer->value, "devices"));
    if (trainer &&
        trainer->value->kind == VALUE_NONE) /* of JSON, keys alone are known */
        return has(v, "model") && has(v, "exp_manager");
    for (int32_t i = 0; defaults && i < defaults->value->n; i++)
        for (const char *const *g = groups; *g; g++)
            if (has(v, "cluster_type") && has(defaults->value->items[i].value, *g))
                return true;
    return nodes && is_own(v);
}

/* What pre-training and fine-tuning have elsewhere. */
static void take_lengths(struct nemo *n)
{
    const struct value_item *packed = nemo_find(n, NEMO_DATA, "packed_sequence");
    launch_take_rows(n->t, n->tuned ? nemo_tuning_rows : nemo_data_rows,
                     n->part[n->tuned ? NEMO_DATA : NEMO_MODEL]);
    launch_take_rows(n->t, nemo_data_rows, n->part[NEMO_MODEL]);
    if (!n->tuned)
        return;
    if (!packed || !launch_true(packed->value))
        launch_note(n->t->l, packed ? packed->line : n->t->l->line, DIAG_ASSUMED,
                    "packed_sequence is off: each sequence is taken to be of the full "
                    "length (give --set /training/sequence_length=N for a shorter "
                    "mean)");
    launch_hear(n->t, packed);
}

static void report(const struct nemo *n)
{
    static const struct {
        enum nemo_part part;
        const char *path, *section;
    } parts[] = {
        { NEMO_MODEL, "model", "model." },
        { NEMO_TRAINER, "trainer", "trainer." },
        { NEMO_DATA, "model.data.train_ds", "model.data.train_ds." },
        { NEMO_OPTIM, "model.optim", "model.optim." },
        { NEMO_PEFT, "model.peft", "model.peft." },
        { NEMO_REST, "", "" },
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        dialect_report(
            n->t, nemo_tables, parts[i].path, n->part[parts[i].part],
            (struct dialect_place) { n->t->l->line, "", parts[i].section, true });
}

/* What starts the command says how many, too: srun and torchrun go before the trainer. */
static void check_starter(const struct nemo *n)
{
    static const char *const names[] = { "num_nodes", "devices" };
    static const char *const at[] = { "/cluster/count", "/cluster/gpus_per_instance" };
    for (int i = 0; i < 2; i++) {
        const struct value_item *it = nemo_find(n, NEMO_TRAINER, names[i]);
        int64_t own, now = launch_number(n->t, at[i], 0);
        if (!it || launch_is_heard(n->t, it) || !launch_whole(it->value, &own))
            continue;
        launch_hear(n->t, it);
        if (own != now && own > 0)
            launch_note(n->t->l, it->line, DIAG_CONTRADICTION,
                        "trainer.%s: the command is started on %" PRId64
                        " instead, which is taken",
                        names[i], now);
    }
}

static void read_hydra(struct launch_context *t, const struct value *flat)
{
    struct nemo n = { .t = t };
    if (refuse(t, flat))
        return;
    nemo_sort(&n, hydra_routes, flat);
    n.tuned = n.part[NEMO_DATA]->n > 0;
    launch_take_rows(t, nemo_trainer_rows, n.part[NEMO_TRAINER]);
    check_starter(&n);
    launch_take_rows(t, nemo_model_rows, n.part[NEMO_MODEL]);
    take_lengths(&n);
    nemo_take_model(&n);
    nemo_take_pipeline(&n);
    nemo_take_precision(&n);
    nemo_take_recompute(&n);
    nemo_take_offloaded_layers(&n);
    nemo_take_stack(&n);
    nemo_take_peft(&n);
    launch_assume(t, "/training/task", json_string("causal-lm"), "NeMo's GPT");
    report(&n);
}

/* A callback that says what overlaps is in a list. */
static void read_core(struct launch_context *t, const struct value *root)
{
    struct value *flat = launch_flatten(t->arena, root);
    const struct value_item *all = value_get(root, "callbacks");
    for (int32_t i = 0; all && all->value->kind == VALUE_LIST && i < all->value->n;
         i++) {
        const struct value *c = all->value->items[i].value;
        if (!strstr(launch_word(c, "_target_", ""), "MegatronCommOverlapCallback"))
            continue;
        for (int32_t j = 0; j < c->n; j++)
            value_add(t->arena, flat,
                      arena_printf(t->arena, "comm_overlap.%.60s", c->items[j].key),
                      c->items[j].line, c->items[j].value);
    }
    core_read(t, flat, "NeMo 2's configuration");
}

/* A main file names groups, each a file of its own: the one that trains is read. */
void nemo_read(struct launch_context *t, const struct dialect_input *in)
{
    if (in->source == DIALECT_CALLS) {
        nemo_recipe_read(t, in);
        return;
    }
    if (in->command && nemo_is_recipe_command(in->command)) {
        nemo_read_recipe_command(t, in->command);
        return;
    }
    if (in->command && nemo_lacks_program(t, in->command))
        return;
    struct value *root = in->command ? nemo_of_command(t, in->command)
                                     : nemo_with_groups(t, (struct value *)in->root);
    launch_config_title(t, "NeMo's configuration");
    t->l->line = in->command ? in->command->command->line : 1;
    nemo_take_instance(t, root);
    if (nemo_is_container(root))
        core_read(t, nemo_plain_container(t, root), "Megatron-Bridge's configuration");
    else if (nemo_rl_recognises(root))
        nemo_rl_read(t, root);
    else if (hyperpod_is_tuning(root))
        hyperpod_tuning_read(t, root);
    else if (hyperpod_recognises(root))
        hyperpod_read(t, root);
    else if (core_recognises(root))
        read_core(t, root);
    else if (is_override(root))
        nemo_read_override(t, root, in->estimator);
    else
        read_hydra(t, launch_flatten(t->arena, root));
}
