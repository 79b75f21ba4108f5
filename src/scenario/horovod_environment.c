#include "scenario/horovod_environment.h"

#include "scenario/libraries.h"
#include "scenario/nccl_environment.h"

#include <stdlib.h>
#include <string.h>

#define BUCKET_MAX_B 1e13
#define CYCLE_MAX_MS 1e4

/* mpirun's -x goes before the environment; NULL. */
static const char *value_of(const struct parse_context *r, const char *name)
{
    for (int32_t i = 0; i < r->n_exports; i++)
        if (strcmp(r->exports[i].name, name) == 0)
            return r->exports[i].value;
    struct cfg all = cfg_get(r->software, "environment");
    return json_string_value(json_object_get(all.json, name));
}

static bool real_of(const char *text, double most, double *x)
{
    char *end = NULL;
    *x = text ? strtod(text, &end) : 0;
    return end && end != text && !*end && *x >= 0 && *x <= most;
}

bool horovod_fusion_threshold(const struct parse_context *r, int64_t *bytes)
{
    double x;
    bool known = real_of(value_of(r, "HOROVOD_FUSION_THRESHOLD"), BUCKET_MAX_B, &x);
    *bytes = known ? (int64_t)x : 0;
    return known;
}

bool horovod_cycle_time(const struct parse_context *r, double *seconds)
{
    double ms;
    bool known = real_of(value_of(r, "HOROVOD_CYCLE_TIME"), CYCLE_MAX_MS, &ms);
    *seconds = ms * 1e-3;
    return known;
}

/* Both act where defaults are taken (scenario/bucket_defaults.c). */
static int read_fusion(struct parse_context *r, struct cfg c, const char *value,
                       const char *field, double most)
{
    double x;
    if (!real_of(value, most, &x))
        return cfg_error(c, DIAG_OUT_OF_RANGE, "\"%.40s\" is no number from 0 to %g",
                         value, most);
    if (!library_of(&r->s->parallel)->fuses_by_cycle)
        parse_note(r, c, "it is for Horovod's jobs");
    else if (cfg_present(cfg_get(r->parallelism, field)))
        parse_note(
            r, c,
            arena_printf(&r->loader->arena, "/parallelism/%s goes before it", field));
    return 0;
}

int horovod_read_threshold(struct parse_context *r, struct cfg c, const char *value)
{
    return read_fusion(r, c, value, "bucket_size", BUCKET_MAX_B);
}

int horovod_read_cycle(struct parse_context *r, struct cfg c, const char *value)
{
    return read_fusion(r, c, value, "fusion_cycle", CYCLE_MAX_MS);
}

/* What Horovod would do differently, and is not simulated. */
int horovod_read_switch(struct parse_context *r, struct cfg c, const char *value)
{
    long n;
    if (environment_number(c, value, &n))
        return -1;
    if (!library_of(&r->s->parallel)->fuses_by_cycle)
        parse_note(r, c, "it is for Horovod's jobs");
    else if (n > 0)
        cfg_warn(c, DIAG_NOT_SIMULATED,
                 "is not simulated: NCCL reduces over all ranks "
                 "at once, with a fixed threshold and cycle");
    else
        parse_note(r, c, "0 is Horovod's default");
    return 0;
}

/* Responses are cached unless the capacity is 0. */
int horovod_read_cache(struct parse_context *r, struct cfg c, const char *value)
{
    long n;
    if (environment_number(c, value, &n))
        return -1;
    if (!library_of(&r->s->parallel)->fuses_by_cycle)
        parse_note(r, c, "it is for Horovod's jobs");
    else if (n == 0)
        cfg_warn(c, DIAG_NOT_SIMULATED,
                 "is not simulated: without a cache ranks negotiate each tensor anew");
    else
        parse_note(r, c, "negotiated tensors are taken to be in the cache");
    return 0;
}
