#include "model/framework.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "config/cache.h"
#include "config/datadir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* AdamW decays weights apart from the moments, in the same kernels: "adamw" is Adam. */
const struct name_value optimizer_names[] = {
    { "adam", OPTIMIZER_ADAM },           { "adamw", OPTIMIZER_ADAM },
    { "lamb", OPTIMIZER_LAMB },           { "adam8bit", OPTIMIZER_ADAM8BIT },
    { "adafactor", OPTIMIZER_ADAFACTOR }, { "sgd", OPTIMIZER_SGD },
    { "lion", OPTIMIZER_LION },           { "muon", OPTIMIZER_MUON },
    { "adam4bit", OPTIMIZER_ADAM4BIT },   { "lion8bit", OPTIMIZER_LION8BIT },
    { "rmsprop", OPTIMIZER_RMSPROP },     { "adagrad", OPTIMIZER_ADAGRAD },
    { "ademamix", OPTIMIZER_ADEMAMIX },   { "ademamix8bit", OPTIMIZER_ADEMAMIX8BIT },
    { "sgd_plain", OPTIMIZER_SGD_PLAIN }, { NULL, 0 },
};

/* Of optimizers that a profile does not describe: fused, fp32, each state and the
 * parameter read and written once, the gradient read once; LAMB reads the update and
 * the parameter again for its norms. Muon without its products: gradient and momentum
 * (12), the direction written, normalised and read (16), weights (10). */
static const struct framework_optimizer plain_optimizers[OPTIMIZER_N] = {
    [OPTIMIZER_ADAM] = { .bytes = 28 },         [OPTIMIZER_LAMB] = { .bytes = 44 },
    [OPTIMIZER_ADAM8BIT] = { .bytes = 16 },     [OPTIMIZER_ADAFACTOR] = { .bytes = 24 },
    [OPTIMIZER_SGD] = { .bytes = 20 },          [OPTIMIZER_LION] = { .bytes = 20 },
    [OPTIMIZER_MUON] = { .bytes = 38 },         [OPTIMIZER_ADAM4BIT] = { .bytes = 14 },
    [OPTIMIZER_LION8BIT] = { .bytes = 14 },     [OPTIMIZER_RMSPROP] = { .bytes = 20 },
    [OPTIMIZER_ADAGRAD] = { .bytes = 20 },      [OPTIMIZER_ADEMAMIX] = { .bytes = 36 },
    [OPTIMIZER_ADEMAMIX8BIT] = { .bytes = 18 }, [OPTIMIZER_SGD_PLAIN] = { .bytes = 12 },
};

static const struct name_value attention_names[] = {
    { "transformers", FRAMEWORK_ATTENTION_TRANSFORMERS },
    { "unfused", FRAMEWORK_ATTENTION_UNFUSED },
    { "fused-softmax", FRAMEWORK_ATTENTION_SOFTMAX },
    { "sdpa", FRAMEWORK_ATTENTION_SDPA },
    { "sdpa-cudnn", FRAMEWORK_ATTENTION_CUDNN },
    { "flash", FRAMEWORK_ATTENTION_FLASH },
    { "transformer-engine", FRAMEWORK_ATTENTION_ENGINE },
    { NULL, 0 },
};

struct framework_raw {
    struct framework fw;
    bool has_factor_16bit, has_accumulate_16bit, has_dtype_16bit;
    const char *inherits; /* the parent; NULL: none */
    struct cfg optimizers, provenance;
};

#define T struct framework_raw
#define TIME(k, m) CFG_QUANTITY(k, T, fw.m, UNIT_SECONDS, 0, 3600)
#define BYTES_EACH(k, m) CFG_QUANTITY(k, T, fw.m, UNIT_BYTES, 0, 1e6)

static const struct cfg_field fields[] = {
    CFG_STRING("summary", T, fw.summary),
    CFG_STRING("inherits", T, inherits),
    CFG_ENUM("attention", T, fw.kernels.attention, attention_names),
    CFG_BOOL("fused_qkv", T, fw.kernels.fused_qkv),
    CFG_BOOL("fused_softmax", T, fw.kernels.fused_softmax),
    CFG_BOOL("fused_softmax_dropout", T, fw.kernels.fused_softmax_dropout),
    CFG_INT("softmax_multiple", T, fw.kernels.softmax_multiple, 0, 1024),
    CFG_INT("softmax_longest", T, fw.kernels.softmax_longest, 0, 1 << 24),
    CFG_BOOL("softmax_wide", T, fw.kernels.softmax_wide),
    CFG_BOOL("loads_all_kernels", T, fw.kernels.all_loaded),
    CFG_BOOL("fused_bias", T, fw.kernels.fused_bias),
    CFG_BOOL("pads_products", T, fw.kernels.pads_products),
    CFG_BOOL("fused_bias_gelu", T, fw.kernels.fused_bias_gelu),
    CFG_BOOL("fused_dropout_add", T, fw.kernels.fused_dropout_add),
    CFG_BOOL("fused_norm", T, fw.kernels.fused_norm),
    CFG_BOOL("fused_gate", T, fw.kernels.fused_gate),
    CFG_BOOL("fused_activation", T, fw.kernels.fused_activation),
    CFG_BOOL("fused_rope", T, fw.kernels.fused_rope),
    CFG_BOOL("fused_rope_unscaled", T, fw.kernels.fused_rope_unscaled),
    CFG_BOOL("rope_in_place", T, fw.kernels.rope_in_place),
    CFG_BOOL("value_view", T, fw.kernels.value_view),
    CFG_BOOL("split_rope", T, fw.kernels.split_rope),
    CFG_BOOL("loss_in_place", T, fw.loss.in_place),
    CFG_BOOL("fused_loss", T, fw.loss.fused),
    CFG_BOOL("compiled_loss", T, fw.loss.compiled),
    CFG_BOOL("head_modules", T, fw.loss.modules),
    CFG_REAL("head_share", T, fw.loss.share, 0, 10),
    CFG_BOOL("recompute_stops", T, fw.tensors.recompute_stops),
    CFG_BOOL("fp8_norm", T, fw.kernels.fp8_norm),
    CFG_REAL("fp8_cast", T, fw.kernels.fp8_cast, 0.1, 100),
    CFG_REAL("fp4_cast", T, fw.kernels.fp4_cast, 0.1, 100),
    CFG_BOOL("record_stream", T, fw.tensors.record_stream),
    CFG_BOOL("gather_buffers", T, fw.tensors.gather_buffers),
    CFG_BOOL("fp8_weights_kept", T, fw.tensors.fp8_weights_kept),
    CFG_BOOL("fp8_weights_transposed", T, fw.tensors.fp8_weights_transposed),
    CFG_BOOL("keeps_softmax_input", T, fw.tensors.keeps_softmax_input),
    CFG_REAL("stream_factor", T, fw.rates.stream_factor, 0.01, 100),
    CFG_ROW("stream_factor_16bit", CFG_T_REAL, T, fw.rates.stream_factor_16bit,
            .min = 0.01, .max = 100, .has = offsetof(T, has_factor_16bit)),
    CFG_REAL("score_factor", T, fw.rates.score_factor, 0.01, 100),
    CFG_REAL("stream_sm_bytes", T, fw.rates.stream_sm_B, 0, 1000),
    BYTES_EACH("logit", loss.logit_B),
    BYTES_EACH("split_loss", loss.split_B),
    CFG_BOOL("kept_logits", T, fw.loss.kept),
    CFG_REAL("flash_sinks", T, fw.rates.flash_sinks, 0.01, 10),
    CFG_BOOL("flash2", T, fw.rates.flash2),
    CFG_BOOL("flash3", T, fw.rates.flash3),
    CFG_REAL("flash_forward", T, fw.rates.flash_forward, 0.01, 10),
    CFG_REAL("flash_backward", T, fw.rates.flash_backward, 0.01, 10),
    TIME("dispatch_forward", host.dispatch_forward_s),
    TIME("dispatch_backward", host.dispatch_backward_s),
    TIME("dispatch_optimizer", host.dispatch_optimizer_s),
    TIME("dispatch_collective", host.dispatch_collective_s),
    TIME("dispatch_collective_wide", host.dispatch_wide_s),
    TIME("check_rank", host.check.inside_s),
    TIME("check_rank_apart", host.check.apart_s),
    TIME("collective_skew", host.collective_skew_s),
    TIME("microbatch", host.microbatch_s),
    TIME("stage_message", host.stage_message_s),
    CFG_REAL("launch_jitter", T, fw.host.launch_jitter, 0, 10),
    CFG_REAL("launch_jitter_tensor", T, fw.host.launch_jitter_tensor, 0, 10),
    CFG_RENAMED("host_spread", "launch_jitter"),
    CFG_RENAMED("host_spread_tensor", "launch_jitter_tensor"),
    CFG_REFUSED("step", "write \"fixed\" of each optimizer in \"optimizers\""),
    CFG_REFUSED("optimizer", "write \"bytes\" of each optimizer in \"optimizers\""),
    CFG_REFUSED("optimizer_kernels_per_tensor",
                "write \"kernels_per_tensor\" of each optimizer in \"optimizers\""),
    CFG_REFUSED("fragmentation", "leave it out: the allocator is simulated"),
    CFG_BOOL("tensor_overlap", T, fw.tensor.overlap),
    CFG_BOOL("sums_each_input", T, fw.tensor.sums_each_input),
    CFG_BOOL("list_gather", T, fw.tensor.list_gather),
    CFG_BOOL("keeps_gathered", T, fw.tensor.keeps_gathered),
    CFG_BOOL("tensor_copies", T, fw.tensor.copies),
    CFG_BOOL("gathers_quantized", T, fw.tensor.gathers_quantized),
    CFG_BOOL("send_overlap", T, fw.tensor.send_overlap),
    CFG_REAL("tensor_hidden_frac", T, fw.tensor.hidden_frac, 0, 1),
    CFG_BOOL("tensor_hidden_asked", T, fw.tensor.hidden_asked),
    CFG_BOOL("tensor_pieces", T, fw.tensor.pieces),
    CFG_REAL("expert_host", T, fw.experts.host, 0, 100),
    CFG_REAL("expert_host_pairs", T, fw.experts.host_pairs, 0, 100),
    CFG_BOOL("expert_loop", T, fw.experts.looped),
    TIME("expert_dispatch", experts.dispatch_s),
    CFG_INT("expert_fp8_kernels", T, fw.experts.fp8_kernels, 0, 100),
    CFG_BOOL("expert_sort", T, fw.experts.sorted),
    CFG_REAL("expert_scatter_sm_bytes", T, fw.experts.scatter_sm_B, 0, 1000),
    CFG_BOOL("fused_permute", T, fw.experts.fused_permute),
    CFG_BOOL("expert_weighted_activation", T, fw.experts.weighted_activation),
    CFG_BOOL("expert_joined_gate", T, fw.experts.joined_gate),
    CFG_BOOL("expert_eager_biases", T, fw.experts.eager_biases),
    CFG_BOOL("expert_fused", T, fw.experts.fused),
    CFG_BOOL("expert_fp8_padding", T, fw.experts.padded_fp8),
    CFG_INT("router_kernels", T, fw.experts.router_kernels[0], 0, 1000),
    CFG_INT("router_kernels_backward", T, fw.experts.router_kernels[1], 0, 1000),
    TIME("router_dispatch", experts.router_dispatch_s),
    TIME("read_counts", experts.read_counts_s),
    CFG_INT("expert_turn_reads", T, fw.experts.turn_reads, 0, 10),
    BYTES_EACH("accumulate", gradients.accumulate_B),
    CFG_ROW("accumulate_16bit", CFG_T_QUANTITY, T, fw.gradients.accumulate_16bit_B,
            .unit = UNIT_BYTES, .max = 1e6, .has = offsetof(T, has_accumulate_16bit)),
    CFG_BOOL("keeps_gradients", T, fw.gradients.keeps_gradients),
    CFG_BOOL("dummy_gradients", T, fw.gradients.dummy_gradients),
    BYTES_EACH("gradient_16bit", gradients.gradient_16bit_B),
    BYTES_EACH("copies_16bit", gradients.copies_16bit_B),
    BYTES_EACH("master_16bit", gradients.master_16bit_B),
    BYTES_EACH("update_16bit", gradients.update_16bit_B),
    CFG_BOOL("reduce_every_microbatch", T, fw.gradients.reduce_every_microbatch),
    CFG_ENUM("gradient_dtype", T, fw.gradients.gradient_dtype, dtype_names),
    CFG_ROW("gradient_dtype_16bit", CFG_T_ENUM, T, fw.gradients.gradient_dtype_16bit,
            .names = dtype_names, .has = offsetof(T, has_dtype_16bit)),
    CFG_BOOL("overlap", T, fw.reduction.overlap),
    CFG_BOOL("overlap_param_gather", T, fw.reduction.overlap_param_gather),
    CFG_BYTES("first_bucket", T, fw.reduction.first_bucket_B, 0, 1e15),
    CFG_BYTES("bucket", T, fw.reduction.bucket_B, 0, 1e15),
    CFG_REAL("bucket_copy", T, fw.reduction.bucket_copy_B, 0, 100),
    CFG_BOOL("scatters", T, fw.reduction.scatters),
    TIME("reduce", reduction.reduce_s),
    CFG_REAL("unit_spread", T, fw.shard.unit_spread, 0, 1),
    CFG_BOOL("shard_tensors", T, fw.shard.tensors),
    CFG_BOOL("shard_synchronous", T, fw.shard.synchronous),
    CFG_BOOL("backward_prefetch", T, fw.shard.backward_prefetch),
    TIME("unit_gather", shard.unit_gather_s),
    CFG_BOOL("adapter_units", T, fw.shard.adapter_units),
    TIME("shard_part", shard.part_s),
    CFG_REAL("network_frac", T, fw.reduction.network_frac, 0.001, 1),
    TIME("cycle", reduction.cycle_s),
    CFG_STRING("library", T, fw.library),
    CFG_STRING("backend", T, fw.backend),
    CFG_CHILD("optimizers", T, optimizers),
    CFG_CHILD("provenance", T, provenance),
    CFG_PROVENANCE(T, fw.provenance_kind),
    CFG_BOOL("unmeasured", T, fw.unmeasured),
    CFG_END,
};

#undef T
#define T struct framework_optimizer

static const struct cfg_field optimizer_fields[] = {
    CFG_ROW("bytes", CFG_T_QUANTITY, T, bytes, .unit = UNIT_BYTES, .max = 1e6,
            .required = true),
    CFG_INT("kernels_per_tensor", T, kernels_per_tensor, 0, 1000),
    CFG_QUANTITY("dispatch", T, dispatch_s, UNIT_SECONDS, 0, 3600),
    CFG_QUANTITY("fixed", T, fixed_s, UNIT_SECONDS, 0, 3600),
    CFG_END,
};

#undef T

/* "optimizers": { "adam": { ... }, ... } */
static int read_optimizers(struct framework *fw, struct cfg c)
{
    int rc = 0;
    for (void *it = cfg_first(c); it; it = cfg_next(c, it)) {
        struct cfg member = cfg_member(c, it);
        int which;
        if (names_find(optimizer_names, cfg_key(it), &which) < 0)
            rc = cfg_error_key(member, DIAG_UNKNOWN_NAME,
                               "unknown optimizer \"%s\" (write a word of "
                               "/training/optimizer)",
                               cfg_key(it));
        else if (cfg_read(member, optimizer_fields, &fw->optimizers[which]) < 0)
            rc = -1;
    }
    return rc;
}

/* What a profile leaves out of pairs takes the other's value. */
static void fill_pairs(struct framework_raw *raw)
{
    struct framework *fw = &raw->fw;
    if (!raw->has_factor_16bit)
        fw->rates.stream_factor_16bit = fw->rates.stream_factor;
    if (!raw->has_accumulate_16bit)
        fw->gradients.accumulate_16bit_B = fw->gradients.accumulate_B;
    if (!raw->has_dtype_16bit)
        fw->gradients.gradient_dtype_16bit = fw->gradients.gradient_dtype;
}

/* A parent's lines of groups that the profile itself says nothing of. */
static void add_inherited(struct strbuf *text, struct cfg own, const char *lines)
{
    while (*lines) {
        int length = (int)strcspn(lines, "\n"), group = (int)strcspn(lines, ":");
        char *key = xasprintf("%.*s", group, lines);
        if (!cfg_present(cfg_get(own, key)))
            strbuf_printf(text, "%s%.*s", text->len ? "\n" : "", length, lines);
        free(key);
        lines += length + (lines[length] == '\n');
    }
}

/* Where the numbers are from: a text, or one a group of numbers. */
static int read_provenance(struct framework *fw, struct arena *arena, struct cfg c)
{
    if (!cfg_is_object(c))
        return cfg_present(c) ? cfg_string(c, &fw->provenance) : 0;
    struct strbuf text;
    strbuf_init(&text);
    int rc = 0;
    for (void *it = cfg_first(c); it; it = cfg_next(c, it)) {
        const char *from = "";
        if (cfg_string(cfg_member(c, it), &from) < 0)
            rc = -1;
        strbuf_printf(&text, "%s%s: %s", text.len ? "\n" : "", cfg_key(it), from);
    }
    add_inherited(&text, c, fw->provenance);
    fw->provenance = arena_strdup(arena, strbuf_get(&text));
    strbuf_release(&text);
    return rc;
}

double framework_optimizer_dispatch_s(const struct framework *fw,
                                      const struct framework_optimizer *o)
{
    return o->dispatch_s > 0 ? o->dispatch_s : fw->host.dispatch_optimizer_s;
}

double framework_experts_host(const struct framework *fw, bool pairs)
{
    double host = fw->experts.host > 0 ? fw->experts.host : 1;
    return pairs && fw->experts.host_pairs > 0 ? host * fw->experts.host_pairs : host;
}

bool framework_hides(const struct framework *fw)
{
    return fw->tensor.pieces || fw->tensor.hidden_frac > 0;
}

double framework_hidden_frac(const struct framework *fw, int64_t ranks, bool asked)
{
    if (asked && fw->tensor.pieces)
        return 1 - 1 / (double)ranks;
    return asked || !fw->tensor.hidden_asked ? fw->tensor.hidden_frac : 0;
}

double framework_collective_dispatch_s(const struct framework *fw, int64_t ranks)
{
    enum { WIDE_GROUP = 8 };
    return ranks >= WIDE_GROUP ? fw->host.dispatch_wide_s
                               : fw->host.dispatch_collective_s;
}

double framework_check_s(struct check_times each, int64_t ranks, bool apart)
{
    return (apart ? each.apart_s : each.inside_s) * (double)ranks;
}

/* By how many standard deviations the last of so many ranks comes after their mean:
 * the leading term of the expected largest of normal deviates. */
static double slowest_of(int64_t ranks)
{
    return sqrt(2 * log((double)ranks));
}

double framework_skew_s(const struct framework *fw, int64_t ranks)
{
    return ranks > 1 ? fw->host.collective_skew_s * slowest_of(ranks) : 0;
}

double framework_unit_wait_frac(const struct framework *fw, int64_t ranks)
{
    enum { OF_A_NODE = 8 };
    if (ranks <= OF_A_NODE)
        return 0;
    return fw->shard.unit_spread * (slowest_of(ranks) - slowest_of(OF_A_NODE));
}

/* E[max of B(t) - x t over 0 <= t <= 1], B a standard Brownian motion; x >= 0. */
static double brownian_max(double x)
{
    static const double density_0 = 0.39894228040143268; /* of normal deviates, at 0 */
    static const double small = 1e-3;
    double density = density_0 * exp(-0.5 * x * x);
    double above = 0.5 * erfc(x / sqrt(2)); /* a normal deviate exceeds x */
    double middle = x < small ? density_0 : (0.5 - above) / x;
    return middle + density - x * above;
}

double framework_host_lost_s(double deviation_s, double host_s, double gpu_s)
{
    if (deviation_s <= 0)
        return 0;
    return deviation_s * brownian_max(fabs(gpu_s - host_s) / deviation_s);
}

/* What a profile without a parent leaves out. */
static const struct framework plain_framework = {
    .summary = "",
    .kernels.fused_bias = true,
    .kernels.fused_norm = true,
    .kernels.fused_activation = true,
    .kernels.fp8_cast = 1,
    .kernels.fp4_cast = 1,
    .rates.stream_factor = 1,
    .loss.logit_B = 24,
    .loss.share = 1,
    .rates.flash_forward = 1,
    .rates.flash_sinks = 1,
    .rates.flash_backward = 1,
    .host.check = { 210e-6, 265e-6 },
    .gradients.accumulate_B = 12,
    .gradients.gradient_dtype = -1,
    .reduction.network_frac = 1,
    .shard.backward_prefetch = true,
    .library = "ddp",
    .backend = "nccl",
    .provenance = "",
};

/* The profiles that are being read: one, the one that inherits from it, and so on. */
struct descent {
    const char *file;
    const struct descent *child;
};

static bool is_above(const struct descent *d, const char *file)
{
    while (d && strcmp(d->file, file) != 0)
        d = d->child;
    return d;
}

static int read_profile(struct framework_raw *raw, struct cfg_loader *loader,
                        const char *name, struct cfg where,
                        const struct descent *child);

/* The parent that a profile names, or what is plain. */
static int read_parent(struct framework_raw *raw, struct cfg_loader *loader,
                       struct cfg inherits, const struct descent *self)
{
    const char *parent;
    *raw = (struct framework_raw) { .fw = plain_framework };
    memcpy(raw->fw.optimizers, plain_optimizers, sizeof(plain_optimizers));
    if (!cfg_present(inherits))
        return 0;
    if (cfg_string(inherits, &parent) < 0)
        return -1;
    return read_profile(raw, loader, parent, inherits, self);
}

/* Parents first, whose members the profile's own replace one by one. */
static int read_profile(struct framework_raw *raw, struct cfg_loader *loader,
                        const char *name, struct cfg where, const struct descent *child)
{
    static const char folder[] = "models/frameworks";
    struct arena *arena = &loader->arena;
    struct descent self = { .file = datadir_file(arena, folder, name), child };
    if (is_above(child, self.file))
        return cfg_error(where, DIAG_CONTRADICTION,
                         "\"%.60s\" inherits from itself (name another parent, or "
                         "leave \"inherits\" out)",
                         name);
    struct cfg root = datadir_load(loader, folder, name, where);
    if (!cfg_present(root) ||
        read_parent(raw, loader, cfg_get(root, "inherits"), &self) < 0)
        return -1;
    raw->fw.name = arena_strdup(arena, name);
    int rc = cfg_read(root, fields, raw);
    rc |= read_optimizers(&raw->fw, raw->optimizers);
    return rc < 0 ? -1 : read_provenance(&raw->fw, arena, raw->provenance);
}

static const void *make_framework(struct cfg_loader *loader, const char *name,
                                  struct cfg where)
{
    struct framework_raw *raw = ARENA_NEW(&loader->arena, struct framework_raw);
    if (read_profile(raw, loader, name, where, NULL) < 0)
        return NULL;
    fill_pairs(raw);
    return &raw->fw;
}

const struct framework *framework_get(struct cfg_loader *loader, const char *name,
                                      struct cfg where)
{
    return cache_get(loader, "framework", name, where, make_framework);
}
