/* Rules that join sections: what each library can shard and schedule, and what needs
 * what. Rules of SMP's dictionary are in smp.c. */
#include "layout/partition.h"
#include "model/graphs.h"
#include "scenario/distribution/distribution.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"
#include "scenario/states.h"

#include <inttypes.h>

static int check_sharding(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    struct cfg c = cfg_get(r->parallelism, "sharding");
    struct cfg at = cfg_get(c, "strategy");
    const struct library_row *library = library_of(p);
    if (library->smp.dictionary)
        return 0;
    if (!library_has(library->shardings, (int)p->shard.strategy))
        return cfg_error(at, DIAG_UNSUPPORTED, "library \"%s\" does not shard %s (%s)",
                         library_word(p),
                         p->shard.strategy == SHARDING_FULL ? "parameters"
                         : p->shard.strategy == SHARDING_GRADIENTS
                             ? "gradients"
                             : "the optimizer alone",
                         library->shardings_mend);
    if (p->pipeline > 1 &&
        !library_has(library->pipeline_shardings, (int)p->shard.strategy))
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s's pipelines keep gradients and parameters whole "
                         "(write \"optimizer\" or \"none\")",
                         library->title);
    if (p->shard.offload == OFFLOAD_PARAMETERS && p->shard.strategy != SHARDING_FULL)
        return cfg_error(cfg_get(c, "offload"), DIAG_REQUIRES,
                         "parameters leave the GPU only where they are sharded "
                         "(write strategy \"full\", or \"optimizer\")");
    return 0;
}

/* Microbatches that the schedule cannot run. */
static int check_rounds(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct schedule_traits *t = parallelism_schedule(p->stages.schedule);
    const char *name = names_of(parallelism_schedule_names, (int)p->stages.schedule);
    struct cfg at = cfg_get(r->training, "microbatches");
    int64_t n = r->s->training.microbatches, least = 2 * p->pipeline;
    if (t->rounds && n % p->pipeline != 0)
        return cfg_error(at, DIAG_NOT_DIVISIBLE,
                         "%" PRId64 " microbatches are no multiple of the %" PRId64
                         " stages, which schedule \"%s\" needs (write %" PRId64 ")",
                         n, p->pipeline, name, (n / p->pipeline + 1) * p->pipeline);
    if (t->fills && n < least)
        return cfg_error(at, DIAG_OUT_OF_RANGE,
                         "schedule \"%s\" takes at least two microbatches for each of "
                         "the %" PRId64 " stages, not %" PRId64 " (write %" PRId64 ")",
                         name, p->pipeline, n, least);
    return 0;
}

static int check_chunks(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct schedule_traits *t = parallelism_schedule(p->stages.schedule);
    const char *name = names_of(parallelism_schedule_names, (int)p->stages.schedule);
    struct cfg at = cfg_get(r->parallelism, "virtual_stages");
    bool many = p->stages.virtual_stages > 1;
    if (many && p->pipeline == 1)
        return cfg_error(at, DIAG_REQUIRES,
                         "one pipeline stage has no virtual stages (leave it at 1)");
    if (many && !t->chunks)
        return cfg_error(at, DIAG_REQUIRES,
                         "schedule \"%s\" has one chunk a stage (write 1, or "
                         "schedule \"interleaved\")",
                         name);
    if (!t->chunks || p->pipeline == 1)
        return 0;
    if (t->folds && p->stages.virtual_stages != 2)
        return cfg_error(at, DIAG_REQUIRES,
                         "schedule \"%s\" has two chunks a stage, placed as a V (write "
                         "2, or leave it out)",
                         name);
    if (!many)
        return cfg_error(cfg_get(r->parallelism, "schedule"), DIAG_REQUIRES,
                         "\"%s\" needs virtual stages (write "
                         "\"virtual_stages\": 2 or more, or \"1f1b\")",
                         name);
    return check_rounds(r);
}

static int check_stages(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct model *m = &r->s->model;
    int64_t layers = m->layers + m->decoder_layers,
            most = partition_most(p->stages.partition, layers);
    bool smp_only =
        schedule_is_smp(p->stages.schedule) && !library_of(p)->smp_extensions;
    struct cfg at = cfg_get(r->parallelism, "pipeline");
    if (library_of(p)->smp.dictionary)
        at = cfg_get(r->smp.parameters,
                     cfg_present(cfg_get(r->smp.parameters, "pipeline_parallel_degree"))
                         ? "pipeline_parallel_degree"
                         : "partitions");
    if (r->has_model && p->stages.partition != PARTITION_MANUAL &&
        p->pipeline * p->stages.virtual_stages > most)
        return cfg_error(at, DIAG_OUT_OF_RANGE,
                         "%" PRId64 " stages%s are more than the %" PRId64
                         " layers of %s (write %" PRId64 " or less)",
                         p->pipeline * p->stages.virtual_stages,
                         p->stages.virtual_stages > 1 ? ", virtual ones counted," : "",
                         layers, m->name, most / p->stages.virtual_stages);
    int64_t least = library_of(p)->fill_needs_stages && p->pipeline > 1 &&
                            p->stages.schedule == SCHEDULE_1F1B
                        ? p->pipeline - 1
                        : 0;
    if (r->s->training.microbatches > 0 && r->s->training.microbatches < least)
        return cfg_error(at, DIAG_LIBRARY_RULE,
                         "%s's 1F1B takes %" PRId64 " stages with at least %" PRId64
                         " microbatches, not %" PRId64,
                         library_of(p)->title, p->pipeline, least,
                         r->s->training.microbatches);
    if (smp_only && p->pipeline > 1)
        return cfg_error(cfg_get(r->parallelism, "schedule"), DIAG_REQUIRES,
                         "schedule \"%s\" is SMP's own (write \"library\": \"smp\", or "
                         "\"gpipe\" or \"1f1b\")",
                         names_of(parallelism_schedule_names, (int)p->stages.schedule));
    return 0;
}

/* As Megatron-LM's arguments.py asserts. */
static int check_param_gather(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->parallelism, "overlap_param_gather");
    if (!r->written.overlap_param_gather || !p->reduce.overlap_param_gather)
        return 0;
    if (!states_shard_updates(r->s))
        return cfg_error(at, DIAG_REQUIRES,
                         "updated parameters are gathered where the optimizer is "
                         "sharded (give /parallelism/sharding strategy \"optimizer\", "
                         "or write false)");
    if (!p->reduce.overlap)
        return cfg_error(
            at, DIAG_REQUIRES,
            "gathers overlapped with forward need sums overlapped with backward (write "
            "\"overlap\": true, or false here)");
    return 0;
}

/* Both ways at once: a ring of groups that deal heads out (Transformer Engine's
 * cp_comm_type "a2a+p2p"; --hierarchical-context-parallel-sizes). */
static int check_inner(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->parallelism, "context_inner");
    bool both = p->context_comm == OP_CONTEXT_BOTH;
    if (!both && cfg_present(at))
        return cfg_error(at, DIAG_REQUIRES,
                         "heads are dealt out within inner groups by \"alltoall+ring\" "
                         "alone (write \"context_comm\": \"alltoall+ring\", or leave "
                         "it out)");
    if (!both || p->context == 1)
        return 0;
    if (!cfg_present(at))
        return cfg_error(cfg_get(r->parallelism, "context_comm"), DIAG_REQUIRES,
                         "\"alltoall+ring\" needs the ranks of its inner groups (write "
                         "\"context_inner\": 2)");
    if (p->context % p->context_inner != 0)
        return cfg_error(at, DIAG_NOT_DIVISIBLE,
                         "inner groups of %" PRId64
                         " ranks do not divide context %" PRId64,
                         p->context_inner, p->context);
    if (!op_attention_is_fused(r->s->training.attention))
        return cfg_error(cfg_get(r->parallelism, "context_comm"), DIAG_REQUIRES,
                         "a ring takes attention in pieces (write \"attention\": "
                         "\"flash\", or \"all-gather\" here)");
    return 0;
}

/* All-to-all context parallelism deals each tensor rank's heads out to its ranks. */
static int check_ulysses(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct model *m = &r->s->model;
    bool both = p->context_comm == OP_CONTEXT_BOTH;
    if (check_inner(r) < 0)
        return -1;
    if (p->context == 1 || (p->context_comm != OP_CONTEXT_HEADS && !both))
        return 0;
    int64_t ranks = both ? p->context_inner : p->context;
    bool queries = m->attention.heads % (p->tensor * ranks) != 0;
    if (!queries && m->attention.kv_heads % (p->tensor * ranks) == 0)
        return 0;
    return cfg_error(cfg_get(r->parallelism, both ? "context_inner" : "context_comm"),
                     DIAG_NOT_DIVISIBLE,
                     "\"%s\" deals %" PRId64 " %s out to tensor %" PRId64
                     " x %s %" PRId64 " ranks, which does not come out even (write "
                     "\"ring\", or degrees whose product divides them)",
                     names_of(context_comm_names, (int)p->context_comm),
                     queries ? m->attention.heads : m->attention.kv_heads,
                     queries ? "attention heads" : "key-value heads", p->tensor,
                     both ? "inner" : "context", ranks);
}

/* As Megatron-LM's model_parallel_config.py raises; its other schedules have no pass
 * that ends a fill. */
static int check_deferral(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->parallelism, "defer_embedding_wgrad");
    enum schedule k = p->stages.schedule;
    if (!p->stages.deferred_wgrads)
        return 0;
    if (!library_of(p)->defers_wgrads)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s makes gradients of weights in backward (write "
                         "\"library\": \"megatron\", or false)",
                         library_of(p)->title);
    if (p->pipeline == 1)
        return cfg_error(at, DIAG_REQUIRES,
                         "the head's gradients are deferred to the end of a pipeline's "
                         "passes (write \"pipeline\": 2 or more, or false)");
    if (k != SCHEDULE_1F1B && k != SCHEDULE_INTERLEAVED)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "schedule \"%s\" is not Megatron's (write \"1f1b\" or "
                         "\"interleaved\", or false)",
                         names_of(parallelism_schedule_names, (int)k));
    return 0;
}

/* Megatron-LM's --no-scatter-gather-tensors-in-pipeline, DeepSpeed's pipe_partitioned. */
static int check_messages(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    return p->stages.whole_messages && !library_of(p)->scatters_messages
               ? cfg_error(cfg_get(r->parallelism, "scatter_gather"), DIAG_UNSUPPORTED,
                           "whether ranks send parts of messages is Megatron's and "
                           "DeepSpeed's to choose (write \"library\": \"megatron\", or "
                           "true)")
               : 0;
}

/* Each chunk would sum over the tensor group; nanotron's loss is a module of its own. */
static int check_loss_chunks(const struct parse_context *r)
{
    const struct training *t = &r->s->training;
    struct cfg at = cfg_get(r->training, "loss_chunks");
    if (t->loss_chunks == 0)
        return 0;
    if (r->s->parallel.tensor > 1)
        return cfg_error(
            at, DIAG_NOT_SIMULATED,
            "losses in chunks over a tensor group are not simulated (write "
            "1, or leave it out)");
    if (t->mtp_layers > 0)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "losses of modules that predict further tokens are not "
                         "simulated in chunks (write 1, or leave it out)");
    if (t->framework->loss.modules)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "head and loss of \"%s\" are modules of their own, which are "
                         "not simulated in chunks (write 1, or leave it out)",
                         t->framework->name);
    return 0;
}

/* A tile's sums over a tensor group and its adapters are not. */
static int check_mlp_tiles(const struct parse_context *r)
{
    const struct training *t = &r->s->training;
    struct cfg at = cfg_get(r->training, "mlp_tiles");
    if (t->mlp_tiles == 0)
        return 0;
    if (r->s->parallel.tensor > 1)
        return cfg_error(
            at, DIAG_NOT_SIMULATED,
            "MLPs in tiles over a tensor group are not simulated (write 1, "
            "or leave it out)");
    if (t->lora.rank > 0)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "MLPs with adapters are not simulated in tiles (write 1, or "
                         "leave it out)");
    return 0;
}

/* As Megatron-LM's transformer_config.py asserts. */
static int check_graphs(const struct parse_context *r)
{
    uint32_t graphs = r->s->training.graphs;
    struct cfg at = cfg_get(r->training, "cuda_graphs");
    bool router = graphs >> OP_GRAPH_ROUTER & 1,
         counts = graphs >> OP_GRAPH_PREPROCESS & 1,
         all = graphs >> OP_GRAPH_ITERATION & 1;
    if (graphs && !library_of(&r->s->parallel)->graphs)
        return cfg_error(
            at, DIAG_UNSUPPORTED,
            "parts of layers are captured by Megatron (write \"framework\": "
            "\"pytorch2-graphs\" for torch.compile's graphs)");
    if (counts && !router)
        return cfg_error(at, DIAG_REQUIRES,
                         "\"moe_preprocess\" is captured with the router (write "
                         "\"moe_router\", too)");
    if (all && graphs != 1u << OP_GRAPH_ITERATION)
        return cfg_error(
            at, DIAG_CONTRADICTION,
            "\"full_iteration\" is one graph of all (leave out the others)");
    return 0;
}

static int check_decoder_length(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->training, "decoder_length");
    if (!r->s->training.decoder_length)
        return 0;
    if (r->s->model.arch != MODEL_ENCODER_DECODER)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s has no decoder after an encoder (leave it out)",
                         r->s->model.name);
    if (p->pipeline > 1 || p->context > 1 || p->split.sequence_parallel ||
        library_of(p)->smp.dictionary)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "a decoder's own length is not modelled with a pipeline, "
                         "context or sequence parallelism, or SMP (leave it out)");
    return 0;
}

static int check_no_master_weights(const struct parse_context *r)
{
    const struct training *t = &r->s->training;
    struct cfg at = cfg_get(r->training, "master_weights");
    if (!t->no_master_weights)
        return 0;
    if (dtype_bytes(op_parameter_dtype(t->precision)) != 2)
        return cfg_error(at, DIAG_REQUIRES,
                         "in %s parameters are fp32 themselves (leave it out, or write "
                         "\"precision\": \"bf16\")",
                         names_of(op_precision_names, (int)t->precision));
    if (library_of(&r->s->parallel)->fp32_weights)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s's optimizers keep fp32 weights (leave it out)",
                         library_word(&r->s->parallel));
    return 0;
}

/* What keeps a model whole on each GPU of a group. */
static const char *whole_why(const struct model *m)
{
    return m->tower             ? "has a vision tower"
           : m->stages          ? "has stages of layers of different sizes"
           : m->encoder         ? "has an encoder and a decoder of different sizes"
           : m->diffusion.stack ? "is a diffusion transformer"
           : m->n_variants      ? "has layers with heads of different sizes"
                                : "has words of fewer columns than its layers";
}

/* A tower that has no picture to read is held whole, but by no pipeline's stages. */
static int check_whole(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct model *m = &r->s->model;
    bool sees = m->tower && m->tower->crops > 0;
    const struct {
        const char *key;
        int64_t degree;
        bool whole;
    } rows[] = { { "tensor", p->tensor, model_is_undivided(m) },
                 { "pipeline", p->pipeline, model_is_whole(m) },
                 { "context", p->context, model_is_undivided(m) } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].degree > 1 && rows[i].whole)
            return cfg_error(
                cfg_get(r->parallelism, rows[i].key), DIAG_NOT_SIMULATED,
                "%s %s, which is not modelled over a %s group (write 1; sharded data "
                "parallelism divides it%s)",
                m->name, whole_why(m), rows[i].key,
                sees && i != 1
                    ? "; where texts alone are read, \"images_per_sequence\": "
                      "0 in the model"
                    : "");
    return 0;
}

/* A model that reads pictures: whole on each GPU, its pictures within the sequence. */
static int check_tower(const struct parse_context *r)
{
    const struct model *m = &r->s->model;
    const struct model_tower *t = m->tower;
    const struct model_diffusion *d = &r->s->model.diffusion;
    if (check_whole(r) < 0)
        return -1;
    if (m->stages && r->s->training.sequence_length != model_stage_tokens(m, 0))
        return cfg_error(
            cfg_get(r->training, "sequence_length"), DIAG_OUT_OF_RANGE,
            "%s reads %" PRId64 " x %" PRId64 " patches (write %" PRId64 ")", m->name,
            m->stages->rows, m->stages->columns, model_stage_tokens(m, 0));
    if (d->stack && d->text_tokens >= r->s->training.sequence_length)
        return cfg_error(
            cfg_get(r->training, "sequence_length"), DIAG_OUT_OF_RANGE,
            "the text of a sequence is %" PRId64 " tokens, and those of the "
            "picture come to them (write %" PRId64 " for %" PRId64 " x %" PRId64
            " pixels)",
            d->text_tokens, d->text_tokens + d->picture_tokens, d->side, d->side);
    if (model_picture_tokens(&r->s->model) > r->s->training.sequence_length)
        return cfg_error(cfg_get(r->training, "sequence_length"), DIAG_OUT_OF_RANGE,
                         "the pictures of a sequence are %" PRId64 " tokens (write at "
                         "least as many, or \"model\": {\"like\": NAME} with "
                         "\"max_pixels\" or an \"image_size\" of its vision_config "
                         "that is smaller; of texts alone with "
                         "\"images_per_sequence\": 0)",
                         t->crops * t->tokens);
    return 0;
}

/* What needs something else to be set. */
static int check_needs(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct training *t = &r->s->training;
    if (p->split.sequence_parallel && p->tensor == 1)
        return cfg_error(cfg_get(r->parallelism, "sequence_parallel"), DIAG_REQUIRES,
                         "sequence parallelism is over the tensor group, which has one "
                         "rank (write \"tensor\": 2 or more, or false)");
    if (p->tensor > 1 && r->s->model.attention.latent_kv &&
        library_of(p) != &library_megatron)
        return cfg_error(
            cfg_get(r->parallelism, "tensor"), DIAG_NOT_SIMULATED,
            "%s's attention is latent, which is not modelled over a tensor "
            "group but Megatron's (write 1; \"expert\" and \"pipeline\" divide the "
            "model)",
            r->s->model.name);
    if (check_tower(r) < 0)
        return -1;
    if (p->split.tensor_policy != TENSOR_MEGATRON && !library_of(p)->smp_extensions)
        return cfg_error(
            cfg_get(r->parallelism, "tensor_policy"), DIAG_REQUIRES,
            "\"%s\" is SMP's own (write \"library\": \"smp\", or "
            "\"megatron\")",
            names_of(parallelism_tensor_names, (int)p->split.tensor_policy));
    if (p->offload_activations && t->checkpointing == CHECKPOINT_NONE &&
        !library_of(p)->smp.dictionary)
        return cfg_error(cfg_get(r->parallelism, "offload_activations"), DIAG_REQUIRES,
                         "activations are offloaded at checkpoints (give "
                         "/training/activation_checkpointing too)");
    if (p->context > 1 && t->sequence_length % p->context != 0)
        return cfg_error(cfg_get(r->training, "sequence_length"), DIAG_NOT_DIVISIBLE,
                         "%" PRId64 " tokens are no multiple of context %" PRId64,
                         t->sequence_length, p->context);
    return check_decoder_length(r) || check_no_master_weights(r) ? -1
                                                                 : check_ulysses(r);
}

/* PyTorch's hooks after a gradient is complete (register_post_accumulate_grad_hook):
 * torchtune's optimizer_in_bwd and torchtitan's early_step_in_backward refuse what needs
 * gradients of several micro-batches, or of all tensors. DDP's buckets hold them. */
static int check_early_updates(const struct parse_context *r)
{
    const struct training *t = &r->s->training;
    const struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->training, "update_in_backward");
    if (!t->updates_in_backward)
        return 0;
    if (t->accumulation * t->microbatches > 1)
        return cfg_error(at, DIAG_CONTRADICTION,
                         "gradients of several micro-batches are summed before an "
                         "update (write one, or leave this out)");
    if (t->gradient_clipping > 0)
        return cfg_error(at, DIAG_CONTRADICTION,
                         "clipping needs the gradients of all parameters (leave one of "
                         "them out)");
    if (!library_of(p)->early_updates || p->pipeline > 1 || p->tensor > 1 ||
        (p->shard.strategy != SHARDING_FULL && r->s->parallel.data > 1))
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "updates within backward are simulated on one GPU and under "
                         "FSDP's full sharding alone (leave it out)");
    return 0;
}

/* Each rank keeps and moves all of an average, where optimizer states are divided. */
static int check_average(const struct parse_context *r)
{
    const struct parallelism_shard *shard = &r->s->parallel.shard;
    struct cfg at = cfg_get(r->training, "weight_average");
    bool apart =
        shard->strategy == SHARDING_OPTIMIZER || shard->strategy == SHARDING_GRADIENTS;
    if (r->s->training.weight_average && (apart || shard->offload != OFFLOAD_NONE))
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "an average of the weights is simulated without sharding and "
                         "under full sharding, on the GPU alone (leave it out)");
    return 0;
}

int rules_check(struct parse_context *r)
{
    degrees_note(r);
    return check_sharding(r) | check_chunks(r) | check_stages(r) | check_needs(r) |
           check_param_gather(r) | check_deferral(r) | check_messages(r) |
           check_loss_chunks(r) | check_mlp_tiles(r) | check_graphs(r) | work_check(r) |
           mtp_check(r) | saved_check(r) | saved_check_layers(r) | muon_check(r) |
           check_early_updates(r) | check_average(r) | lora_check(r) | smp_check(r) |
           precision_check(r) | task_check(r);
}
