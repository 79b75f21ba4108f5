#include "model/framework.h"

#include "base/strbuf.h"
#include "config/datadir.h"

struct framework_raw {
    struct framework fw;
    struct cfg provenance;
};

#define T struct framework_raw
#define TIME(k, m) CFG_QUANTITY(k, T, fw.m, UNIT_SECONDS, 0, 3600)
#define BYTES_EACH(k, m) CFG_QUANTITY(k, T, fw.m, UNIT_BYTES, 0, 1e6)

static const struct cfg_field fields[] = {
    CFG_STRING("summary", T, fw.summary),
    CFG_BOOL("fused_qkv", T, fw.fused_qkv),
    CFG_BOOL("fused_softmax", T, fw.fused_softmax),
    CFG_BOOL("fused_softmax_dropout", T, fw.fused_softmax_dropout),
    CFG_BOOL("fused_bias_gelu", T, fw.fused_bias_gelu),
    CFG_BOOL("fused_dropout_add", T, fw.fused_dropout_add),
    CFG_BOOL("fused_norm", T, fw.fused_norm),
    CFG_BOOL("keeps_softmax_input", T, fw.keeps_softmax_input),
    CFG_REAL("stream_factor", T, fw.stream_factor, 0.01, 100),
    BYTES_EACH("logit", logit_bytes),
    TIME("dispatch_forward", dispatch_forward_s),
    TIME("dispatch_backward", dispatch_backward_s),
    TIME("dispatch_optimizer", dispatch_optimizer_s),
    TIME("step", step_s),
    TIME("microbatch", microbatch_s),
    CFG_REAL("host_spread", T, fw.host_spread, 0, 10),
    BYTES_EACH("accumulate", accumulate_B),
    CFG_BOOL("reduce_every_microbatch", T, fw.reduce_every_microbatch),
    BYTES_EACH("optimizer", optimizer_B),
    CFG_INT("optimizer_kernels_per_tensor", T, fw.optimizer_kernels_per_tensor, 0,
            1000),
    CFG_ENUM("gradient_dtype", T, fw.gradient_dtype, dtype_names),
    CFG_BOOL("overlap", T, fw.overlap),
    CFG_BYTES("first_bucket", T, fw.first_bucket_B, 0, 1e15),
    CFG_BYTES("bucket", T, fw.bucket_B, 0, 1e15),
    CFG_REAL("bucket_copy", T, fw.bucket_copy_B, 0, 100),
    TIME("cycle", cycle_s),
    CFG_STRING("library", T, fw.library),
    CFG_STRING("backend", T, fw.backend),
    CFG_CHILD("provenance", T, provenance),
    CFG_END,
};

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
    fw->provenance = arena_strdup(arena, strbuf_get(&text));
    strbuf_release(&text);
    return rc;
}

const struct framework *framework_get(struct cfg_loader *loader, const char *name,
                                      struct cfg where)
{
    struct cfg root = datadir_load(loader, "models/frameworks", name, where);
    if (!cfg_present(root))
        return NULL;
    struct framework_raw *raw = ARENA_NEW(&loader->arena, struct framework_raw);
    raw->fw = (struct framework) {
        .name = arena_strdup(&loader->arena, name),
        .summary = "",
        .fused_norm = true,
        .stream_factor = 1,
        .logit_bytes = 24,
        .accumulate_B = 12,
        .optimizer_B = 32,
        .gradient_dtype = -1,
        .library = "ddp",
        .backend = "nccl",
        .provenance = "",
    };
    int rc = cfg_read(root, fields, raw);
    if (rc < 0 || read_provenance(&raw->fw, &loader->arena, raw->provenance) < 0)
        return NULL;
    return &raw->fw;
}
