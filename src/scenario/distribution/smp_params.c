#include "scenario/distribution/smp_params.h"

#include "scenario/versions.h"

#include <assert.h>
#include <string.h>

static bool *given(const struct smp_param *row, void *words)
{
    return (bool *)((char *)words + row->field.has);
}

/* 0 or 1 where True or False should be: read apart from the others. */
static bool is_number_for_bool(const struct smp_param *row, struct cfg c)
{
    return row->field.type == CFG_T_BOOL && cfg_is_number(cfg_get(c, row->field.key));
}

static int read_number(const struct smp_param *row, struct cfg c, void *words)
{
    int64_t v;
    if (cfg_int(cfg_get(c, row->field.key), &v, 0, 1))
        return -1;
    *(bool *)((char *)words + row->field.at) = v == 1;
    *given(row, words) = true;
    return 0;
}

static int check_since(struct parse_context *r, struct cfg c,
                       const struct smp_param *row)
{
    const char *v = r->smp.version;
    if (!row->since || !v || version_compare(v, row->since) >= 0)
        return 0;
    return cfg_error_key(cfg_get(c, row->field.key), DIAG_UNSUPPORTED,
                         "smp rule: %s came with SMP %s, and the job runs %s (leave it "
                         "out, or raise the version in /software)",
                         row->field.key, row->since, v);
}

/* TensorFlow's half of the library takes fewer: neither tensor nor sharded data
 * parallelism is implemented there. */
static int check_framework(struct parse_context *r, struct cfg c,
                           const struct smp_param *row)
{
    const char *key = row->field.key;
    if (row->only != SMP_FOR_PYTORCH || !parse_is_tensorflow(r))
        return 0;
    if (strcmp(key, "pipeline_parallel_degree") == 0)
        return cfg_error_key(cfg_get(c, key), DIAG_SMP_RULE,
                             "smp rule: TensorFlow's scripts say \"partitions\" (write "
                             "that)");
    if (strcmp(key, "ddp") == 0)
        return cfg_error_key(cfg_get(c, key), DIAG_SMP_RULE,
                             "smp rule: TensorFlow's replicas are kept the same by "
                             "Horovod (give \"horovod\": True instead)");
    if (strcmp(key, "tensor_parallel_degree") == 0)
        return cfg_error_key(cfg_get(c, key), DIAG_UNSUPPORTED,
                             "smp rule: SMP v1 has tensor parallelism for PyTorch "
                             "only, not for TensorFlow (leave it out)");
    return cfg_error_key(cfg_get(c, key), DIAG_UNSUPPORTED,
                         "smp rule: SMP v1 has %s for PyTorch only, not for TensorFlow "
                         "(leave it out)",
                         key);
}

int smp_params_read(struct parse_context *r, struct cfg c, const struct smp_param *rows,
                    void *words)
{
    struct cfg_field fields[SMP_PARAMS_MAX];
    int n = 0, rc = 0;
    for (; rows[n].field.key; n++) {
        assert(n < SMP_PARAMS_MAX - 1);
        fields[n] = rows[n].field;
        if (is_number_for_bool(&rows[n], c)) /* known, and kept out of the way */
            fields[n] = (struct cfg_field) { .key = rows[n].field.key,
                                             .type = CFG_T_CHILD,
                                             .at = 0 };
    }
    fields[n] = (struct cfg_field) { .key = NULL };
    if (cfg_read(c, fields, words))
        rc = -1;
    for (int i = 0; i < n; i++) {
        if (is_number_for_bool(&rows[i], c) && read_number(&rows[i], c, words))
            rc = -1;
        if (rows[i].field.type == CFG_T_REFUSED || !*given(&rows[i], words))
            continue;
        if (check_framework(r, c, &rows[i]) || check_since(r, c, &rows[i]))
            rc = -1;
        if (rows[i].no_effect)
            parse_note(r, cfg_get(c, rows[i].field.key), rows[i].no_effect);
    }
    return rc;
}
