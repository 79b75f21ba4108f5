#include "validation/measured.h"

#include "model/ops.h"

#include <inttypes.h>
#include <string.h>

static const double size_max = 1e15;
static const int64_t count_max = 1000000000;

void measured_release(struct measured *m)
{
    for (int64_t i = 0; i < m->steps.n; i++)
        VEC_RELEASE(&m->steps.v[i].ops);
    VEC_RELEASE(&m->steps);
    VEC_RELEASE(&m->failures);
}

/* Fields --------------------------------------------------------------------------- */

static int get_time_or_none(struct cfg row, const char *key, double *v)
{
    return cfg_present(cfg_get(row, key)) ? cfg_time_s(cfg_get(row, key), v) : 0;
}

static int get_count(struct cfg row, const char *key, int64_t *v)
{
    return cfg_int(cfg_get(row, key), v, 1, count_max);
}

static int get_size_or_none(struct cfg row, const char *key, int64_t *v)
{
    struct cfg c = cfg_get(row, key);
    return cfg_present(c) ? cfg_int(c, v, 1, (int64_t)size_max) : 0;
}

static int get_enum_or(struct cfg row, const char *key, const struct name_value *names,
                       int otherwise, int *v)
{
    *v = otherwise;
    return cfg_present(cfg_get(row, key)) ? cfg_enum(cfg_get(row, key), names, v) : 0;
}

/* "bert-large-uncased.json" is bert-large-uncased. */
static int read_model(struct measured_step *s, struct arena *arena, struct cfg row)
{
    static const char suffix[] = ".json";
    if (cfg_string(cfg_get(row, "model"), &s->model))
        return -1;
    size_t n = strlen(s->model), tail = sizeof(suffix) - 1;
    if (n > tail && strcmp(s->model + n - tail, suffix) == 0)
        s->model = arena_strndup(arena, s->model, n - tail);
    s->config = cfg_get(row, "config");
    if (cfg_present(s->config) && !cfg_is_object(s->config))
        return cfg_error(s->config, DIAG_WRONG_TYPE,
                         "must be an object, as a config.json has it");
    return 0;
}

/* What both programs write of a step, but for its times. */
static int read_common(struct measured_step *s, struct cfg row)
{
    if (get_count(row, "batch", &s->batch) || get_count(row, "sequence", &s->sequence))
        return -1;
    if (cfg_present(cfg_get(row, "error")))
        return cfg_string(cfg_get(row, "error"), &s->failed);
    if (cfg_present(cfg_get(row, "spread")) &&
        cfg_real(cfg_get(row, "spread"), &s->spread, 0, 1e9))
        return -1;
    return cfg_time_s(cfg_get(row, "time_s"), &s->time_s);
}

/* Rows ----------------------------------------------------------------------------- */

/* The program's 16-bit numbers are those of parameters, too. */
static const struct name_value own_precisions[] = {
    { "fp16", OP_FP16 },
    { "bf16", OP_BF16 },
    { NULL, 0 },
};

static int read_step(struct measured_step *s, struct arena *arena, struct cfg row)
{
    if (read_model(s, arena, row) ||
        cfg_enum(cfg_get(row, "dtype"), own_precisions, &s->precision) ||
        get_enum_or(row, "attention", op_attention_names, OP_ATTENTION_FUSED_SOFTMAX,
                    &s->attention) ||
        get_count(row, "gpus", &s->n_gpus) || read_common(s, row))
        return -1;
    return get_time_or_none(row, "update_s", &s->update_s) ||
                   get_time_or_none(row, "compute_s", &s->compute_s) ||
                   get_size_or_none(row, "peak_bytes", &s->peak_B)
               ? -1
               : 0;
}

static const struct name_value pytorch_modes[] = {
    { "eager", MEASURED_EAGER },
    { "compiled", MEASURED_COMPILED },
    { NULL, 0 },
};

/* Those in which PyTorch keeps the states that op_precision means by the name: its pure
 * bf16 has no fp32 master weights. */
static const struct name_value pytorch_precisions[] = {
    { "amp_bf16", OP_AMP_BF16 },
    { "amp_fp16", OP_AMP_FP16 },
    { "tf32", OP_TF32 },
    { "fp32", OP_FP32 },
    { NULL, 0 },
};

static int read_pytorch(struct measured_step *s, struct arena *arena, struct cfg row)
{
    int mode;
    s->n_gpus = 1;
    if (read_model(s, arena, row) ||
        cfg_enum(cfg_get(row, "mode"), pytorch_modes, &mode) ||
        cfg_enum(cfg_get(row, "precision"), pytorch_precisions, &s->precision) ||
        get_enum_or(row, "attention", op_attention_names, OP_ATTENTION_FLASH,
                    &s->attention) ||
        read_common(s, row))
        return -1;
    s->program = (enum measured_program)mode;
    return get_size_or_none(row, "allocated_bytes", &s->allocated_B) ||
                   get_size_or_none(row, "reserved_bytes", &s->reserved_B)
               ? -1
               : 0;
}

static int add_step(struct measured *m, struct arena *arena, struct cfg row,
                    const char *file,
                    int (*read)(struct measured_step *, struct arena *, struct cfg))
{
    struct measured_step s = { .file = file, .row = row };
    if (read(&s, arena, row))
        return -1;
    VEC_PUSH(&m->steps, s);
    return 0;
}

/* Operators follow the step that they are of. */
static int add_op(struct measured *m, struct cfg row, bool has_step)
{
    struct measured_op op = { 0 };
    if (!has_step)
        return cfg_error(row, DIAG_SYNTAX, "is an operator without a step before it");
    if (cfg_present(cfg_get(row, "error")))
        return 0;
    if (cfg_string(cfg_get(row, "name"), &op.name) ||
        cfg_bool(cfg_get(row, "backward"), &op.backward) ||
        get_count(row, "count", &op.count) ||
        cfg_time_s(cfg_get(row, "time_s"), &op.time_s))
        return -1;
    VEC_PUSH(&m->steps.v[m->steps.n - 1].ops, op);
    return 0;
}

static int add_launch(struct measured *m, struct cfg row)
{
    const char *what;
    if (!cfg_present(cfg_get(row, "what")) || cfg_present(cfg_get(row, "error")))
        return 0;
    if (cfg_string(cfg_get(row, "what"), &what))
        return -1;
    if (strcmp(what, "host, kernel launch") == 0)
        return cfg_time_s(cfg_get(row, "time_s"), &m->launch_s);
    if (strcmp(what, "host, cuBLAS product") == 0)
        return cfg_time_s(cfg_get(row, "time_s"), &m->product_s);
    return 0;
}

static int add_failure(struct measured *m, struct arena *arena, struct cfg row)
{
    const char *name, *error;
    if (!cfg_present(cfg_get(row, "error")))
        return 0;
    if (cfg_string(cfg_get(row, "name"), &name) ||
        cfg_string(cfg_get(row, "error"), &error))
        return -1;
    VEC_PUSH(&m->failures, arena_printf(arena, "%s: %s", name, error));
    return 0;
}

/* Kinds of rows that calibrate fits, and no step has. */
static bool is_kind_elsewhere(const char *kind)
{
    static const char *const kinds[] = { "gemm",  "flash",      "stream", "link",
                                         "clock", "collective", NULL };
    return names_listed(kinds, kind);
}

/* Where rows are read from: a file, whose steps are those from `before` on. */
struct source {
    struct measured *m;
    struct arena *arena;
    const char *file;
    int64_t before, n_unknown;
    struct cfg unknown; /* the first row of an unknown kind */
};

static int read_row(struct source *s, struct cfg row, const char *kind)
{
    if (strcmp(kind, "step") == 0)
        return add_step(s->m, s->arena, row, s->file, read_step);
    if (strcmp(kind, "pytorch_step") == 0)
        return add_step(s->m, s->arena, row, s->file, read_pytorch);
    if (strcmp(kind, "operator") == 0)
        return add_op(s->m, row, s->m->steps.n > s->before);
    if (strcmp(kind, "launch") == 0)
        return add_launch(s->m, row);
    if (strcmp(kind, "section") == 0)
        return add_failure(s->m, s->arena, row);
    if (!is_kind_elsewhere(kind) && !s->n_unknown++)
        s->unknown = cfg_get(row, "kind");
    return 0;
}

int measured_read(struct measured *m, struct cfg_loader *loader, struct cfg root,
                  const char *file)
{
    struct cfg rows = cfg_get(root, "rows");
    struct source s = { .m = m,
                        .arena = &loader->arena,
                        .file = arena_strdup(&loader->arena, file),
                        .before = m->steps.n };
    bool complete = true;
    int rc = 0;
    if (cfg_present(cfg_get(root, "complete")))
        rc = cfg_bool(cfg_get(root, "complete"), &complete);
    m->incomplete |= !complete;
    for (int64_t i = 0; i < cfg_len(rows); i++) {
        struct cfg row = cfg_at(rows, i);
        const char *kind;
        if (cfg_is_string(cfg_get(row, "kind")))
            rc |= cfg_string(cfg_get(row, "kind"), &kind) || read_row(&s, row, kind)
                      ? -1
                      : 0;
    }
    if (s.n_unknown)
        cfg_warn(s.unknown, DIAG_LEFT_OUT,
                 "is no kind of row that is known here: rows left out, %" PRId64,
                 s.n_unknown);
    return rc;
}
