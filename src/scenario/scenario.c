#include "scenario/scenario.h"

#include "base/strbuf.h"
#include "model/expert_load.h"
#include "model/regions.h"
#include "scenario/distribution/distribution.h"
#include "scenario/libraries.h"
#include "scenario/operators.h"
#include "scenario/parse.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define NEEDED(k, m, hint)                                                             \
    { .key = (k), .type = CFG_T_CHILD, .at = offsetof(struct parse_context, m),              \
      .has = CFG_NO_HAS, .required = true, .why = (hint) }
static const struct cfg_field scenario_fields[] = {
    CFG_STRING("name", struct parse_context, name),
    NEEDED("model", model, "as a name, a path or an object"),
    NEEDED("cluster", cluster,
           "as an object such as { \"instance\": \"ml.p3.16xlarge\", \"count\": 2 }"),
    NEEDED("training", training,
           "as an object with \"sequence_length\" and \"micro_batch_size\""),
    CFG_CHILD("software", struct parse_context, software),
    CFG_CHILD("distribution", struct parse_context, distribution),
    CFG_CHILD("parallelism", struct parse_context, parallelism),
    CFG_CHILD("uncertainty", struct parse_context, sections.uncertainty),
    CFG_CHILD("storage", struct parse_context, sections.storage),
    CFG_CHILD("input", struct parse_context, sections.input),
    CFG_CHILD("job", struct parse_context, sections.job),
    CFG_CHILD("background", struct parse_context, background),
    CFG_END,
};

/* "bert-large-uncased-2xp3.16xlarge" */
static const char *default_name(const struct parse_context *r)
{
    const struct cluster *c = &r->s->cluster;
    struct strbuf b;
    strbuf_init(&b);
    strbuf_addstr(&b, r->s->model.label ? r->s->model.label : "model");
    for (int i = 0; i < c->n_groups; i++)
        strbuf_printf(&b, "-%" PRId64 "x%s", cluster_hosts(&c->groups[i]).count,
                      c->groups[i].instance->name);
    const char *name = arena_strdup(&r->loader->arena, strbuf_get(&b));
    strbuf_release(&b);
    return name;
}

/* What groups over nodes get of the network, where the file leaves that open. */
static void assume_quality(struct parse_context *r)
{
    const struct fabric *f = r->s->fabric;
    if (!f || cfg_present(cfg_get(r->cluster, "quality")))
        return;
    parse_assume(r, "/cluster/quality", "clean",
                 f->quality.waits > 0 ? "some published runs wait longer: typical" : "");
}

static int read_cluster(struct parse_context *r)
{
    struct scenario *s = r->s;
    if (!cfg_present(r->cluster))
        return -1; /* reported as missing */
    if (cluster_read(&s->cluster, r->loader, r->cluster))
        return -1;
    cluster_in_steps(&s->cluster, r->loader);
    r->has_cluster = true;
    s->fabric = s->cluster.n_instances > 1 ? s->cluster.fabric : NULL;
    assume_quality(r);
    return 0;
}

static int read_sections(struct parse_context *r)
{
    struct scenario *s = r->s;
    int rc = read_cluster(r);
    if (cfg_present(r->model)) {
        r->has_model = model_read(&s->model, r->loader, r->model) == 0;
        rc = r->has_model ? rc : -1;
    }
    if (software_versions(r) | distribution_read(r) | parallelism_read(r))
        rc = -1;
    if (cfg_present(r->training)) {
        bool is_object = cfg_is_object(r->training);
        if (training_read(r))
            rc = -1;
        bool has_framework = is_object && parallelism_framework(r) == 0;
        if (is_object && !has_framework)
            rc = -1;
        if (is_object && r->has_cluster && training_batch(r))
            rc = -1;
        if (has_framework && r->has_cluster && r->has_model && training_attention(r))
            rc = -1;
        if (rc == 0 && lengths_resolve(r))
            rc = -1;
        if (rc == 0 && rules_check(r))
            rc = -1;
    }
    return software_read(r) ? -1 : rc;
}

/* Modules to compute again that no layer has, or that keep nothing for backward. */
static void note_modules(struct parse_context *r, const struct op_list *list)
{
    struct cfg at = cfg_get(cfg_get(r->training, "activation_checkpointing"), "modules");
    for (int64_t i = 0; i < cfg_len(at); i++) {
        int region;
        const struct cfg word = cfg_at(at, i);
        if (cfg_enum(word, op_region_names, &region) == 0 &&
            !op_region_acts(list, (enum op_region)region))
            parse_note(r, word, "no layer has it, or it keeps nothing for backward");
    }
}

/* What the model's operators need of the sizes, sums that overflow among them. */
static int check_operators(struct parse_context *r)
{
    struct err err = { 0 };
    const struct op_settings settings = scenario_op_settings(r->s);
    const struct made_operators *made =
        operators_make(r->loader, &r->s->model, &settings, &err);
    if (!made)
        return cfg_error(r->training, DIAG_OUT_OF_RANGE, "%s", err.text);
    r->s->operators = made;
    note_modules(r, &made->list);
    return 0;
}

int scenario_op_list(struct op_list *list, struct arena *arena,
                     const struct scenario *s, struct err *err)
{
    const struct made_operators *made = s->operators;
    const struct made_operators now = { .settings = scenario_op_settings(s),
                                        .model = s->model };
    if (!made || !operators_same(made, &now))
        return op_list_make(list, arena, &s->model, &now.settings, err);
    *list = made->list;
    return 0;
}

static int read_scenario(struct scenario *s, struct cfg_loader *loader, struct cfg root,
                         bool strict)
{
    *s = (struct scenario) {
        .parallel = { .tensor = 1,
                      .pipeline = 1,
                      .context = 1,
                      .expert = 1,
                      .stages.virtual_stages = 1,
                      .stages.mtp_part = -1,
                      .stages.schedule = SCHEDULE_1F1B,
                      .stages.memory_weight = 0.8,
                      .expert_imbalance = 1,
                      .activation_loading_horizon = 4,
                      .placement = "DPT" },
    };
    struct parse_context r = {
        .s = s, .loader = loader, .root = root, .strict = strict
    };
    if (!root.json)
        return -1; /* reported when it was loaded */
    if (!cfg_is_object(root))
        return cfg_error(root, DIAG_WRONG_TYPE, "a scenario is an object (write { \"model\": ... })");
    int rc = cfg_read(root, scenario_fields, &r);
    s->sections = r.sections;
    if (read_sections(&r))
        rc = -1;
    if (rc == 0)
        rc = check_operators(&r);
    if (rc == 0)
        rc = background_read(&r);
    if (rc == 0)
        heed_note(&r);
    s->name = r.name ? r.name : rc == 0 ? default_name(&r) : "";
    return rc;
}

int scenario_read(struct scenario *s, struct cfg_loader *loader, struct cfg root)
{
    return read_scenario(s, loader, root, false);
}

int scenario_check(struct scenario *s, struct cfg_loader *loader, struct cfg root)
{
    return read_scenario(s, loader, root, true);
}

bool schedule_is_smp(enum schedule schedule)
{
    return schedule == SCHEDULE_SMP_SIMPLE || schedule == SCHEDULE_SMP_INTERLEAVED;
}

int64_t scenario_world(const struct scenario *s)
{
    return s->cluster.n_gpus;
}

struct check_times scenario_checks(const struct scenario *s, const struct framework *fw)
{
    return s->software.checks_collectives ? fw->host.check : (struct check_times) { 0 };
}

int64_t scenario_epoch_steps(const struct scenario *s)
{
    const struct training *t = &s->training;
    return t->samples / t->global_batch_size + (t->samples % t->global_batch_size != 0);
}

int64_t scenario_job_steps(const struct scenario *s)
{
    const struct training *t = &s->training;
    int64_t steps;
    if (t->steps || !t->samples)
        return t->steps;
    bool overflows = __builtin_mul_overflow(scenario_epoch_steps(s), t->epochs, &steps);
    return overflows ? INT64_MAX : steps;
}

/* SMP's embedding and head stay whole unless its script asks. */
static bool whole_ends(const struct scenario *s)
{
    return library_of(&s->parallel)->smp.whole_ends && !s->parallel.split.distribute_embedding;
}

/* Where vocabularies are split over the tensor group, Megatron pads them to a multiple
 * a rank; SMP gives some ranks a word more, for
 * which the few that make them divisible are here. */
static int64_t vocab_padding(const struct scenario *s)
{
    int64_t t = s->parallel.tensor;
    if (s->training.vocab_padding || t == 1 || whole_ends(s))
        return s->training.vocab_padding;
    return library_of(&s->parallel)->vocabulary_multiple * t;
}

/* Time of the fullest rank's experts over the mean's (MODEL.md, R11.6). */
static double imbalance(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    const struct model *m = &s->model;
    double worst = p->expert_imbalance, capacity = p->expert_capacity;
    if (p->expert <= 1 || m->mlp.experts == 0 || p->expert_padding)
        return 1;
    if (p->expert_exponent > 0) {
        const struct expert_routing routing = {
            .tokens = (double)(training_sequences(&s->training) * s->training.sequence_length) /
                      (double)p->context * (double)p->expert,
            .experts = m->mlp.experts,
            .experts_per_token = m->mlp.experts_per_token,
            .ranks = p->expert,
            .exponent = p->expert_exponent,
        };
        struct expert_load load = expert_load_of(&routing);
        worst = load.slots * (double)routing.ranks / load.all;
    }
    return capacity > 0 ? fmax(1, fmin(worst, capacity) / fmin(capacity, 1)) : worst;
}

int64_t scenario_passes(const struct scenario *s)
{
    const struct training *t = &s->training;
    return s->parallel.pipeline > 1 ? t->accumulation : t->accumulation * t->microbatches;
}

int64_t scenario_sm_arch(const struct scenario *s)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < s->cluster.n_groups; i++)
        if (s->cluster.groups[i].instance->gpu->sm_arch < least)
            least = s->cluster.groups[i].instance->gpu->sm_arch;
    return least;
}

static enum op_dispatch dispatch_of(const struct parallelism *p)
{
    if (p->expert <= 1)
        return OP_DISPATCH_SORTED;
    if (p->dispatch.kind == DISPATCHER_HYBRIDEP)
        return OP_DISPATCH_PADDED;
    return p->dispatch.kind == DISPATCHER_DEEPEP ? OP_DISPATCH_PERMUTED
                                                 : OP_DISPATCH_SORTED;
}

struct op_settings scenario_op_settings(const struct scenario *s)
{
    const struct training *t = &s->training;
    const struct parallelism *p = &s->parallel;
    return (struct op_settings) {
        .batch = training_sequences(t) * (p->replicas / p->data), /* merged by SMP */
        .sequence = t->sequence_length,
        .document = t->lengths.document,
        .predicted = t->predicted_positions,
        .decoder = t->decoder_length,
        .precision = lora_list_precision(t),
        .sm_arch = scenario_sm_arch(s),
        .first_16bit = t->first_16bit,
        .last_16bit = t->last_16bit,
        .formats = t->formats,
        .quantized_parameters = t->quantized_parameters,
        .lora = t->lora,
        .attention = t->attention,
        .masked = t->masked,
        .framework = t->framework,
        .tensor = s->parallel.tensor,
        .sequence_parallel = s->parallel.split.sequence_parallel,
        .copies_keys = library_of(p)->copies_keys,
        .best_effort = library_of(p)->smp.whole_modules,
        .prescaled = p->split.prescaled_batch,
        .whole_ends = whole_ends(s),
        .slices = p->split.tensor_policy == TENSOR_SMP_SCATTER ||
                  p->split.tensor_policy == TENSOR_SMP_GATHER,
        .by_columns = p->split.tensor_policy == TENSOR_SMP_SCATTER,
        .replicas = s->model.ends.embed ? p->data : 1, /* of two towers */
        .context = p->context,
        .context_method = p->context_comm,
        .context_inner = p->context_inner,
        .expert = p->expert,
        .expert_tensor = p->expert_tensor,
        .expert_imbalance = imbalance(s),
        .expert_capacity = p->expert_capacity,
        .pads_experts = p->expert_padding,
        .dispatch = dispatch_of(p),
        .vocab_padding = vocab_padding(s),
        .loss_chunks = t->loss_chunks,
        .raw_loss = t->raw_loss,
        .whole_loss =
            p->split.whole_loss && p->tensor > 1 && library_of(p)->gathers_logits,
        .mlp_tiles = t->mlp_tiles,
    };
}
