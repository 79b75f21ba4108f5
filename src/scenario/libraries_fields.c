#include "scenario/libraries_fields.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "scenario/libraries.h"

#include <inttypes.h>
#include <string.h>

typedef const struct library_row row;

/* The rows that a scenario can name, in the order of library_words. */
static row *const listed[] = {
    &library_ddp,           &library_smddp,     &library_fsdp,
    &library_smp_v2,        &library_megatron,  &library_deepspeed,
    &library_smp,           &library_horovod,   &library_parameter_server,
    &library_megatron_fsdp, &library_internevo,
};
enum { LISTED = sizeof(listed) / sizeof(listed[0]) };

/* What a row has ------------------------------------------------------------------- */

static bool has_tensor(row *l)
{
    return l->tensor;
}

static bool has_sequence(row *l)
{
    return l->sequence_parallel;
}

static bool has_pipeline(row *l)
{
    return l->pipeline;
}

static bool has_chunks(row *l)
{
    return library_has(l->schedules, SCHEDULE_INTERLEAVED);
}

static bool has_smp_schedule(row *l)
{
    return library_has(l->schedules, SCHEDULE_SMP_INTERLEAVED);
}

static bool has_rings(row *l)
{
    return l->context;
}

static bool has_context(row *l)
{
    return l->context || l->ulysses;
}

static bool has_dispatchers(row *l)
{
    return l->dispatchers != 0;
}

static bool has_expert_tensor(row *l)
{
    return l->expert_tensor;
}

static bool has_expert(row *l)
{
    return l->expert;
}

static bool has_graphs(row *l)
{
    return l->graphs;
}

static bool has_mtp(row *l)
{
    return l->mtp;
}

static bool offloads_modules(row *l)
{
    return l->offloads_modules;
}

static bool offloads_layers(row *l)
{
    return l->offloads_layers;
}

static bool has_smddp(row *l)
{
    return l->smddp;
}

static bool has_bucket(row *l)
{
    return l->bucket.size_B > 0 || l->bucket.elements > 0;
}

static bool has_views(row *l)
{
    return l->bucket_views;
}

static bool has_cycle(row *l)
{
    return l->fuses_by_cycle;
}

static bool has_servers(row *l)
{
    return l->servers;
}

static bool has_buffers(row *l)
{
    return l->broadcasts_buffers;
}

static bool has_outputs(row *l)
{
    return l->broadcasts_outputs;
}

static bool has_script(row *l)
{
    return l->smp.script;
}

static bool has_sharding(row *l)
{
    return l->smp.engine || (l->shardings & ~(1U << SHARDING_NONE)) != 0;
}

static bool has_offload(row *l)
{
    return library_has(l->offloads, OFFLOAD_PARAMETERS);
}

static bool has_shard_bucket(row *l)
{
    return l->shards.bucket > 0;
}

static bool has_persistence(row *l)
{
    return l->shards.persistence > 0;
}

static bool has_live(row *l)
{
    return l->shards.live > 0;
}

static bool has_reuse(row *l)
{
    return l->shards.reuse > 0;
}

static bool has_limit(row *l)
{
    return l->shards.in_flight > 0;
}

/* Defaults ------------------------------------------------------------------------- */

static void elements(struct strbuf *out, int64_t n)
{
    if (n > 0)
        strbuf_printf(out, "%" PRId64, n);
}

static void usual_bucket(struct strbuf *out, row *l)
{
    char size[UNITS_TEXT_MAX];
    if (l->bucket.size_B > 0)
        strbuf_addstr(out, units_bytes_text(size, (double)l->bucket.size_B));
    else if (l->bucket.elements > 0)
        strbuf_printf(out, "%" PRId64 " elements", l->bucket.elements);
    if (l->bucket.each_rank > 0)
        strbuf_printf(out, ", or %" PRId64 " a rank where that is more",
                      l->bucket.each_rank);
}

static void usual_strategy(struct strbuf *out, row *l)
{
    strbuf_addstr(out, names_of(parallelism_sharding_names, (int)l->sharding));
}

static void usual_shard_bucket(struct strbuf *out, row *l)
{
    elements(out, l->shards.bucket);
}

static void usual_persistence(struct strbuf *out, row *l)
{
    elements(out, l->shards.persistence);
}

static void usual_live(struct strbuf *out, row *l)
{
    elements(out, l->shards.live);
}

static void usual_reuse(struct strbuf *out, row *l)
{
    elements(out, l->shards.reuse);
}

static void usual_limit(struct strbuf *out, row *l)
{
    (void)l;
    strbuf_addstr(out, "true");
}

/* The table ------------------------------------------------------------------------ */

#define P "/parallelism/"
#define S P "sharding/"
/* clang-format off */
static const struct field {
    const char *pointer;
    bool (*has)(row *);
    void (*usual)(struct strbuf *, row *); /* NULL: rows have no default */
} fields[] = {
    { P "tensor", has_tensor, NULL },
    { P "sequence_parallel", has_sequence, NULL },
    { P "pipeline", has_pipeline, NULL },
    { P "virtual_stages", has_chunks, NULL },
    { P "active_microbatches", has_smp_schedule, NULL },
    { P "forward_policy", has_smp_schedule, NULL },
    { P "broadcast_outputs", has_outputs, NULL },
    { P "smp_script", has_script, NULL },
    { P "context", has_context, NULL },
    { P "context_comm", has_context, NULL },
    { P "context_inner", has_rings, NULL },
    { P "expert", has_expert, NULL },
    { P "expert_dispatcher", has_expert, NULL },
    { P "expert_dispatch_sms", has_dispatchers, NULL },
    { P "expert_dispatch_fp8", has_dispatchers, NULL },
    { P "expert_overlap", has_expert, NULL },
    { P "expert_tensor", has_expert_tensor, NULL },
    { P "expert_load", has_expert, NULL },
    { P "expert_capacity", has_expert, NULL },
    { P "expert_padding", has_expert, NULL },
    { P "mtp_part", has_mtp, NULL },
    { P "offload_modules", offloads_modules, NULL },
    { P "offload_layers", offloads_layers, NULL },
    { "/training/mtp_layers", has_mtp, NULL },
    { "/training/mtp_repeated", has_mtp, NULL },
    { "/training/cuda_graphs", has_graphs, NULL },
    { P "backend", has_smddp, NULL },
    { P "bucket_size", has_bucket, usual_bucket },
    { P "gradient_as_bucket_view", has_views, NULL },
    { P "fusion_cycle", has_cycle, NULL },
    { P "servers", has_servers, NULL },
    { P "asynchronous", has_servers, NULL },
    { P "server_replicas", has_servers, NULL },
    { P "broadcast_buffers", has_buffers, NULL },
    { P "sharding", has_sharding, NULL },
    { S "strategy", has_sharding, usual_strategy },
    { S "limit_all_gathers", has_limit, usual_limit },
    { S "offload", has_offload, NULL },
    { S "reduce_bucket_elements", has_shard_bucket, usual_shard_bucket },
    { S "param_persistence_elements", has_persistence, usual_persistence },
    { S "max_live_elements", has_live, usual_live },
    { S "max_reuse_elements", has_reuse, usual_reuse },
};
/* clang-format on */
#undef P
#undef S

static const struct field *field_of(const char *pointer)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcmp(fields[i].pointer, pointer) == 0)
            return &fields[i];
    return NULL;
}

const char *library_field_owners(struct arena *arena, const char *pointer)
{
    const struct field *f = field_of(pointer);
    struct strbuf b;
    int n = 0;
    strbuf_init(&b);
    for (int i = 0; f && i < LISTED; i++)
        if (f->has(listed[i]))
            strbuf_printf(&b, "%s%s", n++ ? ", " : "", listed[i]->name);
    const char *text = n > 0 && n < LISTED ? arena_strdup(arena, strbuf_get(&b)) : NULL;
    strbuf_release(&b);
    return text;
}

static const char *usual_of(struct arena *arena, const struct field *f, row *l)
{
    struct strbuf b;
    strbuf_init(&b);
    if (f->has(l))
        f->usual(&b, l);
    const char *text = b.len ? arena_strdup(arena, strbuf_get(&b)) : NULL;
    strbuf_release(&b);
    return text;
}

/* "25MiB (ddp, smp-v1)": all rows that have the default of the i-th; nothing where an
 * earlier row has the same. */
static void add_usual(struct strbuf *out, const char *const *usual, int i)
{
    for (int k = 0; k < i; k++)
        if (usual[k] && strcmp(usual[k], usual[i]) == 0)
            return;
    strbuf_printf(out, "%s%s (", out->len ? "; " : "", usual[i]);
    const char *sep = "";
    for (int k = i; k < LISTED; k++)
        if (usual[k] && strcmp(usual[k], usual[i]) == 0) {
            strbuf_printf(out, "%s%s", sep, listed[k]->name);
            sep = ", ";
        }
    strbuf_addch(out, ')');
}

const char *library_field_defaults(struct arena *arena, const char *pointer)
{
    const struct field *f = field_of(pointer);
    const char *usual[LISTED];
    struct strbuf b;
    if (!f || !f->usual)
        return NULL;
    strbuf_init(&b);
    for (int i = 0; i < LISTED; i++)
        usual[i] = usual_of(arena, f, listed[i]);
    for (int i = 0; i < LISTED; i++)
        if (usual[i])
            add_usual(&b, usual, i);
    const char *text = arena_strdup(arena, strbuf_get(&b));
    strbuf_release(&b);
    return text;
}
