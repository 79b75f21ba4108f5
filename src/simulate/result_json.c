#include "simulate/result_json.h"

#include "model/recipe.h"

#include <math.h>

/* --- memory and cost ---------------------------------------------------------------- */

struct numbered_stage {
    int32_t stage;
    struct stage_memory m;
};

/* clang-format off */
#define BYTES(key, member, text) CONTRACT_AT(key, INT64, numbered_stage, m.member, text)
static const struct contract_member stage_rows[] = {
    CONTRACT_AT("stage", INT32, numbered_stage, stage, "From 0, the first."),
    BYTES("peak_bytes", peak_B, "The largest amount in use."),
    BYTES("needed_bytes", needed_B, "The peak without segments of the caching allocator in which nothing lies."),
    BYTES("reserved_bytes", reserved_B, "What the caching allocator holds of it."),
    BYTES("parameters", parameters_B, "Bytes of parameters at the peak."),
    BYTES("gradients", gradients_B, "Bytes of gradients at the peak."),
    BYTES("optimizer", optimizer_B, "Bytes of optimizer states at the peak."),
    BYTES("activations", activations_B, "Bytes of activations at the peak."),
    BYTES("buffers", buffers_B, "Bytes of communication buffers at the peak."),
    BYTES("workspace", workspace_B, "Bytes of transient tensors and of libraries' workspaces at the peak."),
    BYTES("framework", framework_B, "Bytes of the context."),
    CONTRACT_END,
};
static const struct contract_object stage = { "stage", stage_rows };

static const struct contract_member remedy_rows[] = {
    CONTRACT_AT("set", TEXT, fit_remedy, sets, "The options to add."),
    CONTRACT_AT("peak_bytes", INT64, fit_remedy, peak_B, "The peak with them."),
    CONTRACT_AT("step_time_s", REAL, fit_remedy, step_time_s, "The step time with them.",
                .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("near_limit", BOOL, fit_remedy, near_limit, "Whether the range of the peak has the capacity in it."),
    CONTRACT_END,
};
static const struct contract_object remedy = { "remedy", remedy_rows };
/* clang-format on */

static json_t *range_bytes(const void *memory)
{
    const struct memory_result *m = memory;
    return json_pack("[I, I]", (json_int_t)m->range_B[0], (json_int_t)m->range_B[1]);
}

static json_t *stages(const void *memory)
{
    const struct memory_result *m = memory;
    json_t *list = json_array();
    for (int32_t i = 0; i < m->n_stages; i++) {
        const struct numbered_stage one = { i, m->stages[i] };
        json_array_append_new(list, contract_json(&stage, &one));
    }
    return list;
}

/* The fastest first; empty where the job fits. */
static json_t *remedies(const void *memory)
{
    const struct memory_result *m = memory;
    return contract_list(&remedy, m->remedies, m->n_remedies, sizeof(*m->remedies));
}

/* clang-format off */
static const struct contract_member memory_rows[] = {
    CONTRACT_AT("capacity_bytes", INT64, memory_result, capacity_B, "Memory of the GPU."),
    CONTRACT_AT("peak_bytes", INT64, memory_result, peak_B, "The largest amount in use."),
    CONTRACT_AT("needed_bytes", INT64, memory_result, needed_B, "The peak without segments of the caching allocator in which nothing lies: what it needs."),
    CONTRACT_AT("reserved_bytes", INT64, memory_result, reserved_B, "What the caching allocator holds."),
    CONTRACT_AT("allocated_bytes", INT64, memory_result, allocated_B, "What tensors take of that."),
    CONTRACT_AT("fits", BOOL, memory_result, fits, "Whether the peak is below the capacity."),
    CONTRACT_AT("near_limit", BOOL, memory_result, near_limit, "Whether the range of the peak has the capacity in it."),
    CONTRACT_MADE("range_bytes", LIST, range_bytes, "The range of the peak.", .items = CONTRACT_INT64),
    CONTRACT_MADE("stages", LIST, stages, "Memory of each pipeline stage.", .of = &stage),
    CONTRACT_MADE("remedies", LIST, remedies, "Switches with which a job would fit that does not.", .of = &remedy),
    CONTRACT_END,
};
static const struct contract_object memory = { "memory", memory_rows };

#define COST(key, text) CONTRACT_AT(#key, REAL, cost_result, key, text, .flags = CONTRACT_MAY_NULL)
static const struct contract_member cost_rows[] = {
    COST(usd_per_hour, "Of all instances."),
    COST(usd_per_step, "Of one training step."),
    COST(usd_per_million_samples, "Of a million sequences."),
    COST(usd_per_job, "Of the job; null where its length is not given."),
    COST(hours_per_job, "Of the job; null where its length is not given."),
    CONTRACT_AT("price_date", TEXT, cost_result, price_date, "The day of the prices.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("price_list", TEXT, cost_result, price_list, "Whose prices: SageMaker or EC2; null where they are the user's own.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_END,
};
static const struct contract_object cost_contract = { "cost", cost_rows };
/* clang-format on */

/* --- the range ------------------------------------------------------------------------ */

/* The place of the job among the measured ones. */
struct place {
    struct interval_place at;
    int64_t axes[INTERVAL_AXES];
};

/* clang-format off */
#define KNOWN .flags = CONTRACT_MAY_NULL
static const struct contract_member applicability_rows[] = {
    CONTRACT_AT("gpu", TEXT, place, at.gpu, "The GPU.", KNOWN),
    CONTRACT_AT("inside", NAME, place, at.inside, "The fabric of an instance.", KNOWN, .names = fabric_kind_names),
    CONTRACT_AT("outside", NAME, place, at.outside, "The fabric between instances; null of one.", KNOWN, .names = fabric_kind_names),
    CONTRACT_AT("framework", TEXT, place, at.framework, "The framework profile.", KNOWN),
    CONTRACT_AT("sharding", NAME, place, at.sharding, "How states are sharded.", KNOWN, .names = parallelism_sharding_names),
    CONTRACT_AT("precision", NAME, place, at.precision, "The precision.", KNOWN, .names = op_precision_names),
    CONTRACT_AT("checkpointing", NAME, place, at.checkpointing, "Activation checkpointing.", KNOWN, .names = checkpointing_names),
    CONTRACT_AT("experts", BOOL, place, at.experts, "Whether the model has experts.", KNOWN),
    CONTRACT_AT("experts_fitted", BOOL, place, at.experts_fitted, "Whether the framework profile's host time of experts was fitted to measured steps.", KNOWN),
    CONTRACT_AT("gpu_guessed", BOOL, place, at.gpu_guessed, "Whether the GPU's profile was not fitted to measurements of that GPU.", KNOWN),
    CONTRACT_AT("software_share", REAL, place, at.software, "The share of the step that the host and kernels which move memory take.", KNOWN),
    CONTRACT_AT("nodes", INT64, place, axes[INTERVAL_NODES], "Instances.", KNOWN),
    CONTRACT_AT("tensor", INT64, place, axes[INTERVAL_TENSOR], "The tensor-parallel degree.", KNOWN),
    CONTRACT_AT("pipeline", INT64, place, axes[INTERVAL_PIPELINE], "The pipeline-parallel degree.", KNOWN),
    CONTRACT_AT("tokens", INT64, place, axes[INTERVAL_TOKENS], "Tokens of a microbatch.", KNOWN),
    CONTRACT_AT("parameters", INT64, place, axes[INTERVAL_PARAMETERS], "Parameters of the model.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object applicability_contract = { "applicability", applicability_rows };
/* clang-format on */

static json_t *domain(const void *result)
{
    const struct interval *t = &((const struct simulate_result *)result)->interval;
    struct place p = { .at = t->at };
    if (!t->judged)
        return NULL;
    if (!p.at.framework[0])
        p.at.framework = NULL;
    for (int i = 0; i < INTERVAL_AXES; i++)
        p.axes[i] = llround(exp2(p.at.log2_of[i]));
    return contract_json(&applicability_contract, &p);
}

static json_t *range_time(const void *result)
{
    const struct simulate_result *r = result;
    return json_pack("[f, f]", r->range_s[0], r->range_s[1]);
}

static json_t *nearest(const void *result)
{
    const struct interval *t = &((const struct simulate_result *)result)->interval;
    json_t *list = json_array();
    for (int32_t i = 0; i < t->n_nearest; i++)
        json_array_append_new(
            list, json_sprintf("%s: %s", t->nearest[i]->source, t->nearest[i]->row));
    return list;
}

/* clang-format off */
static const struct contract_member range_rows[] = {
    CONTRACT_MADE("step_time_s", LIST, range_time, "Time of one training step.", .items = CONTRACT_REAL),
    CONTRACT_AT("grade", NAME, simulate_result, interval.grade, "How well measurements cover jobs like it.", .names = interval_grade_names),
    CONTRACT_MADE("nearest", LIST, nearest, "The nearest measured rows.", .items = CONTRACT_TEXT),
    CONTRACT_MADE("applicability", OBJECT, domain, "The place of the job among measured ones, by which the range was chosen.", KNOWN, .of = &applicability_contract),
    CONTRACT_END,
};
static const struct contract_object range_contract = { "range", range_rows };
/* clang-format on */

/* --- where numbers are from -------------------------------------------------------- */

static json_t *kind(enum provenance_kind k)
{
    return json_string(provenance_kind_text(k));
}

static json_t *of_instances(const void *scenario)
{
    const struct cluster *c = &((const struct scenario *)scenario)->cluster;
    json_t *list = json_array();
    for (int32_t i = 0; i < c->n_groups; i++)
        json_array_append_new(list, kind(c->groups[i].instance->provenance_kind));
    return list;
}

static json_t *of_gpus(const void *scenario)
{
    const struct cluster *c = &((const struct scenario *)scenario)->cluster;
    json_t *list = json_array();
    for (int32_t i = 0; i < c->n_groups; i++)
        json_array_append_new(list, kind(c->groups[i].instance->gpu->provenance_kind));
    return list;
}

static json_t *of_insides(const void *scenario)
{
    const struct cluster *c = &((const struct scenario *)scenario)->cluster;
    json_t *list = json_array();
    for (int32_t i = 0; i < c->n_groups; i++) {
        const struct fabric *inside = c->groups[i].instance->inside;
        json_array_append_new(list,
                              inside ? kind(inside->provenance_kind) : json_null());
    }
    return list;
}

static json_t *of_network(const void *scenario)
{
    const struct scenario *s = scenario;
    return s->fabric ? kind(s->fabric->provenance_kind) : NULL;
}

static json_t *of_framework(const void *scenario)
{
    const struct framework *f = ((const struct scenario *)scenario)->training.framework;
    return f ? kind(f->provenance_kind) : NULL;
}

/* clang-format off */
static const struct contract_member provenance_rows[] = {
    CONTRACT_MADE("gpus", LIST, of_gpus, "Of the GPUs.", .items = CONTRACT_TEXT),
    CONTRACT_MADE("instances", LIST, of_instances, "Of the instances.", .items = CONTRACT_TEXT),
    CONTRACT_MADE("inside", LIST, of_insides, "Of the fabrics of an instance.", .items = CONTRACT_TEXT, .flags = CONTRACT_NULL_ITEMS),
    CONTRACT_MADE("network", TEXT, of_network, "Of the fabric between instances.", KNOWN),
    CONTRACT_MADE("framework", TEXT, of_framework, "Of the framework profile.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object provenance_contract = { "provenance", provenance_rows };

/* --- the step ---------------------------------------------------------------------- */

static const struct contract_member utilization_rows[] = {
    CONTRACT_AT("gpu", REAL, simulate_result, util_gpu, "Of the GPU's kernels.", KNOWN),
    CONTRACT_AT("host", REAL, simulate_result, util_host, "Of the host's thread.", KNOWN),
    CONTRACT_AT("nic", REAL, simulate_result, util_nic, "Of the network interfaces.", KNOWN),
    CONTRACT_AT("nvlink", REAL, simulate_result, util_nvlink, "Of NVLink.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object utilization = { "utilization", utilization_rows };

static const struct contract_member layer_rows[] = {
    CONTRACT_AT("forward_s", REAL, layer_result, forward_s, "Its kernels, one after the other.", KNOWN),
    CONTRACT_AT("backward_s", REAL, layer_result, backward_s, "Its kernels, one after the other.", KNOWN),
    CONTRACT_AT("parameters_bytes", INT64, layer_result, parameters_B, "Its parameters."),
    CONTRACT_AT("activations_bytes", INT64, layer_result, activations_B, "What it keeps for backward."),
    CONTRACT_END,
};
static const struct contract_object layer = { "layer", layer_rows };

static const struct contract_member resources_rows[] = {
    CONTRACT_AT("seconds", REALS, resources, s, "Kernels by kind, the host, the links inside nodes and between them.", .names = resource_names),
    CONTRACT_AT("data_by", NAME, resources, data_by, "The links that gradients and sharded parameters take.", .names = resource_names),
    CONTRACT_AT("data_s", REAL, resources, data_s, "Their exposed time, part of that resource's seconds."),
    CONTRACT_AT("hidden_s", REAL, resources, hidden_s, "Their time that kernels hide."),
    CONTRACT_AT("window_s", REAL, resources, window_s, "What kernels may hide at most."),
    CONTRACT_AT("network_bytes_per_s", REAL, resources, network_Bps, "A GPU's share of its node's NICs; 0: one node."),
    CONTRACT_END,
};
static const struct contract_object resources_contract = { "resources", resources_rows };

static const struct contract_member simulation_rows[] = {
    CONTRACT_AT("network", NAME, simulate_result, network, "The fidelity of the network.", .names = fidelity_names),
    CONTRACT_AT("events", INT64, simulate_result, events, "Events of the engine."),
    CONTRACT_AT("folded", BOOL, simulate_result, folded, "Whether equal ranks were simulated once."),
    CONTRACT_AT("wall_s", REAL, simulate_result, wall_s, "Of --timing: how long simulating took.", .flags = CONTRACT_MAY_LACK),
    CONTRACT_END,
};
static const struct contract_object simulation = { "simulation", simulation_rows };
/* clang-format on */

/* clang-format off */
static const struct contract_member background_job_rows[] = {
    CONTRACT_AT("scenario", TEXT, background_job, name, "The name of its scenario."),
    CONTRACT_AT("alone_s", REAL, background_job, alone_s, "Its step with the fabric to itself."),
    CONTRACT_END,
};
static const struct contract_object background_job = { "background_job", background_job_rows };
/* clang-format on */

static json_t *background_range(const void *background)
{
    const struct background_result *b = background;
    return json_pack("[f, f]", b->range_s[0], b->range_s[1]);
}

static json_t *background_jobs(const void *background)
{
    const struct background_result *b = background;
    json_t *list = json_array();
    for (int32_t i = 0; i < b->n; i++)
        json_array_append_new(list, contract_json(&background_job, &b->jobs[i]));
    return list;
}

/* clang-format off */
static const struct contract_member background_rows[] = {
    CONTRACT_AT("alone_s", REAL, background_result, alone_s, "The step with the fabric to itself."),
    CONTRACT_AT("share", REAL, background_result, share, "Of the step, what the other jobs add."),
    CONTRACT_MADE("range_s", LIST, background_range, "Of the step, by when theirs began.", .items = CONTRACT_REAL),
    CONTRACT_MADE("jobs", LIST, background_jobs, "The other jobs.", .of = &background_job),
    CONTRACT_END,
};
static const struct contract_object background_contract = { "background", background_rows };
/* clang-format on */

/* How products read fewer than 16 bits. */
struct low_bits {
    const char *title, *format;
    bool parameters;
    int64_t first_16bit, last_16bit;
};

/* clang-format off */
static const struct contract_member recipe_rows[] = {
    CONTRACT_AT("title", TEXT, low_bits, title, "For people."),
    CONTRACT_AT("format", TEXT, low_bits, format, "The number format of operands."),
    CONTRACT_AT("quantized_parameters", BOOL, low_bits, parameters, "Whether weights are held and gathered so."),
    CONTRACT_AT("first_layers_16bit", INT64, low_bits, first_16bit, "Layers at the start that keep 16 bits."),
    CONTRACT_AT("last_layers_16bit", INT64, low_bits, last_16bit, "Layers at the end that keep 16 bits."),
    CONTRACT_END,
};
static const struct contract_object recipe_contract = { "recipe", recipe_rows };
/* clang-format on */

/* --- the result -------------------------------------------------------------------- */

struct step {
    const struct scenario *s;
    struct simulate_result r;
};

static json_t *scenario_name(const void *step)
{
    const char *name = ((const struct step *)step)->s->name;
    return name ? json_string(name) : NULL;
}

static json_t *provenance(const void *step)
{
    return contract_json(&provenance_contract, ((const struct step *)step)->s);
}

static json_t *quality(const void *step)
{
    const struct fabric *f = ((const struct step *)step)->s->fabric;
    return f ? json_string(f->state.text) : NULL;
}

static json_t *assumed(const void *step)
{
    return assumptions_json(&((const struct step *)step)->s->assumed);
}

static json_t *warnings(const void *step)
{
    const struct simulate_result *r = &((const struct step *)step)->r;
    json_t *list = json_array();
    for (int32_t i = 0; i < r->n_warnings; i++)
        json_array_append_new(list, diag_json(&r->warnings[i]));
    return list;
}

/* NULL: products read 16 bits or more. */
static json_t *recipe(const void *step)
{
    const struct training *t = &((const struct step *)step)->s->training;
    const struct op_recipe *r = op_recipe_of(t->precision);
    if (!r)
        return NULL;
    const struct low_bits x = { r->title, names_of(dtype_names, (int)r->format),
                                t->quantized_parameters, t->first_16bit,
                                t->last_16bit };
    return contract_json(&recipe_contract, &x);
}

/* NULL: no other job meets it. */
static json_t *background(const void *step)
{
    const struct background_result *b = &((const struct step *)step)->r.background;
    return b->n > 0 ? contract_json(&background_contract, b) : NULL;
}

/* clang-format off */
#define NUMBER(key, text) CONTRACT_AT(#key, REAL, step, r.key, text, KNOWN)
#define LACKS .flags = CONTRACT_MAY_LACK
static const struct contract_member rows[] = {
    CONTRACT_MADE("scenario", TEXT, scenario_name, "The name of the scenario.", KNOWN),
    NUMBER(step_time_s, "Time of one training step."),
    NUMBER(samples_per_s, "Sequences per second of the whole cluster."),
    NUMBER(tokens_per_s, "Tokens per second of the whole cluster."),
    CONTRACT_AT("real_tokens_per_s", REAL, step, r.real_tokens_per_s, "Tokens without padding; only where sequences of unequal length are padded.", LACKS),
    NUMBER(model_flops_per_gpu_s, "The model's FLOPs per second and GPU, without recomputation."),
    NUMBER(mfu, "Model FLOPs over the GPUs' dense peak."),
    NUMBER(hfu, "All FLOPs that run, over the GPUs' dense peak: recomputation included, what fused causal attention skips not."),
    CONTRACT_AT("gpus", INT64, step, r.gpus, "GPUs of the cluster."),
    CONTRACT_AT("parameters", COUNT, step, r.parameters, "Parameters, adapters too; only where some are frozen.", LACKS),
    CONTRACT_AT("trained_parameters", COUNT, step, r.trained_parameters, "Parameters that are trained; only where others are frozen.", LACKS),
    CONTRACT_AT("breakdown_s", REALS, step, r.parts_s, "Where the step's time goes; the parts sum to it but for data_comm_hidden.", .names = category_names),
    CONTRACT_AT("memory", OBJECT, step, r.memory, "Memory of the fullest GPU.", .of = &memory),
    CONTRACT_AT("cost", OBJECT, step, r.cost, "Cost at the price of price_date.", .of = &cost_contract),
    CONTRACT_AT("range", OBJECT, step, r, "The range of the step time by measured errors of the jobs nearest to it.", .of = &range_contract),
    CONTRACT_MADE("provenance", OBJECT, provenance, "Where the numbers of the data files are from: an array has one for each group of instances.", .of = &provenance_contract),
    CONTRACT_MADE("quality", TEXT, quality, "What groups over nodes get of the network: clean, typical, or the share of runs that have it better; null of one node.", KNOWN),
    CONTRACT_AT("utilization", OBJECT, step, r, "Share of the time in which each resource is busy.", .of = &utilization),
    CONTRACT_MADE("warnings", LIST, warnings, "What was warned of.", .of = &diag_contract),
    CONTRACT_MADE("assumed", LIST, assumed, "What the input leaves open, as it was decided.", .of = &assumption_contract),
    CONTRACT_AT("layer", OBJECT, step, r.layer, "One layer on one GPU.", .of = &layer),
    CONTRACT_AT("resources", OBJECT, step, r.by, "What the step's time rests on, the pipeline's bubble shared out.", .of = &resources_contract),
    CONTRACT_MADE("recipe", OBJECT, recipe, "How products read fewer than 16 bits; only where they do.", LACKS, .of = &recipe_contract),
    CONTRACT_MADE("background", OBJECT, background, "What other jobs on the fabric do to the step; only where they meet it.", LACKS, .of = &background_contract),
    CONTRACT_AT("simulation", OBJECT, step, r, "How the step was simulated.", .of = &simulation),
    CONTRACT_END,
};
/* clang-format on */
const struct contract_object result_contract = { "result", rows };

/* What is 0 where there is none is left out, and what is unknown is null. */
json_t *result_json(const struct scenario *s, const struct simulate_result *r)
{
    struct step x = { s, *r };
    struct cost_result *c = &x.r.cost;
    if (!(r->real_tokens_per_s > 0))
        x.r.real_tokens_per_s = NAN;
    if (!(r->wall_s > 0))
        x.r.wall_s = NAN;
    if (!c->has_price)
        c->usd_per_hour = c->usd_per_step = c->usd_per_million_samples = NAN;
    if (!c->has_price || !c->has_job)
        c->usd_per_job = NAN;
    if (!c->has_job)
        c->hours_per_job = NAN;
    if (!c->has_price)
        c->price_date = c->price_list = NULL;
    json_t *o = json_pack("{s:s}", "schema", RESULT_SCHEMA);
    contract_put(o, &result_contract, &x);
    return o;
}
