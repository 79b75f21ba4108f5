#include "simulate/interpretations.h"

#include "model/share.h"
#include "run/groups.h"
#include "scenario/libraries.h"
#include "simulate/simulate.h"

#include <inttypes.h>

/* What the other interpretation takes, and this one's, as text; empty when it cannot be had
 * cheaply. */
static const char *other_peak(struct arena *arena, const struct scenario *other,
                              int64_t own_B)
{
    struct err ignored = { 0 };
    int64_t peak_B;
    if (!cluster_is_uniform(&other->cluster) ||
        simulate_peak_B(&peak_B, arena, other, &ignored) < 0)
        return "";
    if (peak_B == own_B)
        return ", just as much";
    return arena_printf(arena, ", %.1f GB", (double)peak_B / 1e9);
}

static const char *tensor_note(struct arena *arena, const struct scenario *s,
                               int64_t peak_B)
{
    struct scenario other = *s;
    bool scatters = s->parallel.split.tensor_policy == TENSOR_SMP_SCATTER;
    other.parallel.split.tensor_policy =
        scatters ? TENSOR_SMP_GATHER : TENSOR_SMP_SCATTER;
    const char *names[] = { "smp-scatter", "smp-gather" };
    return arena_printf(arena,
                        "inferred: optimize \"memory\" is read as %s, %.1f GB at most "
                        "(the other interpretation: %s%s; tensor_policy chooses)",
                        names[!scatters], (double)peak_B / 1e9, names[scatters],
                        other_peak(arena, &other, peak_B));
}

static const char *forward_note(struct arena *arena, const struct scenario *s,
                                int64_t peak_B)
{
    struct scenario other = *s;
    bool eager = s->parallel.stages.forward_policy == FORWARD_EAGER;
    other.parallel.stages.forward_policy = eager ? FORWARD_PACED : FORWARD_EAGER;
    const char *names[] = { "eager", "paced" };
    return arena_printf(
        arena,
        "inferred: SMP's forwards run ahead %s, %.1f GB at most (the "
        "other interpretation: %s%s; forward_policy chooses)",
        eager ? "as far as active_microbatches lets them" : "as 1F1B's do",
        (double)peak_B / 1e9, names[eager], other_peak(arena, &other, peak_B));
}

/* Attention or MLPs that the tensor degree does not divide; NULL: it does. */
static const char *whole_note(struct arena *arena, const struct scenario *s,
                              enum op_module module)
{
    struct op_settings settings = scenario_op_settings(s);
    const char *why = share_obstacle(arena, &s->model, &settings, module);
    if (!why)
        return NULL;
    return arena_printf(
        arena,
        "SMP leaves %s whole on every rank of a tensor group, %s: tensor degree "
        "%" PRId64 " does not divide the model's %s",
        module == OP_MLP ? "the MLP" : "attention",
        settings.prescaled ? "each of which computes all of it"
                           : "each of which runs it on its own samples",
        settings.tensor, why);
}

/* SMP assigns modules that share a parameter to one device (developer guide, "How
 * partitioning works"). Other schedules than its own never come back there. */
static bool copies_embedding(const struct scenario *s)
{
    return library_of(&s->parallel)->shares_on_one_stage && s->parallel.pipeline > 1 &&
           !schedule_is_smp(s->parallel.stages.schedule) && model_ties_head(&s->model);
}

/* Gathers of several GPUs in each of several nodes. */
static bool gathers_in_two_steps(struct arena *arena, const struct scenario *s)
{
    struct groups all;
    struct coll_group g;
    struct err ignored = { 0 };
    if (!library_of(&s->parallel)->smp.sharding ||
        s->parallel.shard.strategy != SHARDING_FULL ||
        !s->parallel.shard.hierarchical || s->cluster.n_instances < 2)
        return false;
    groups_init(&all, arena, &s->cluster, &s->parallel);
    struct ranks r = groups_of(&all, CHANNEL_SHARD, 0);
    return groups_spans(&all, &r, &g, &ignored) == 0 && g.n_spans == 1 &&
           g.spans[0].n_instances > 1 && g.spans[0].n_gpus > 1;
}

static void add(struct diag *out, int32_t *n, enum diag_code code, const char *text)
{
    if (text)
        out[(*n)++] =
            (struct diag) { .severity = DIAG_WARNING, .code = code, .text = text };
}

int32_t interpretations_note(struct diag *out, struct arena *arena,
                             const struct scenario *s, int64_t peak_B)
{
    int32_t n = 0;
    if (s->parallel.split.infers_tensor)
        add(out, &n, DIAG_INFERRED, tensor_note(arena, s, peak_B));
    if (s->parallel.stages.infers_forward)
        add(out, &n, DIAG_INFERRED, forward_note(arena, s, peak_B));
    if (copies_embedding(s))
        add(out, &n, DIAG_APPROXIMATE,
            "the last stage has its own copy of the tied embedding, and both "
            "copies' gradients are summed, as Megatron does; SMP keeps head and "
            "embedding on one stage");
    if (gathers_in_two_steps(arena, s))
        add(out, &n, DIAG_INFERRED,
            "inferred: NCCL gathers sharded parameters between nodes first, then "
            "inside, as DeepSpeed's MiCS does; AWS describes the other order, in "
            "which each GPU of a node sends the same bytes between nodes");
    if (s->training.framework->unmeasured)
        add(out, &n, DIAG_INFERRED,
            arena_printf(
                arena,
                "inferred: times of \"%s\" are counted from its code and taken "
                "from its kin; no step of it was measured",
                s->training.framework->name));
    for (int m = OP_ATTENTION; m <= OP_MLP; m++)
        add(out, &n, DIAG_LIBRARY_RULE, whole_note(arena, s, (enum op_module)m));
    return n;
}
