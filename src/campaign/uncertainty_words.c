/* Reads the scenario's "uncertainty" section. */
#include "campaign/uncertainty.h"

#include <inttypes.h>

/* Defaults of failures: 419 unexpected interruptions in 54 days on 16,384 H100 (Llama
 * Team: The Llama 3 Herd of Models, 2024, section 3.3.4) are one in 50,700 GPU-hours; a
 * job is back within 15 minutes (Jiang et al.: MegaScale, NSDI 2024, section 6.3).
 * Failures come in clusters, as a Weibull of shape 0.7 (Schroeder, Gibson: A
 * large-scale study of failures in high-performance computing systems, DSN 2006: 0.7 to
 * 0.8). */
static const struct failures failure_defaults = {
    .given = true,
    .mtbf_hours = 50700,
    .shape = 0.7,
    .restart_s = 900,
};

enum { SAMPLES = 500, SAMPLES_MAX = 1000000 };

static const struct name_value jitter_per_names[] = {
    { "kernel", JITTER_PER_KERNEL },
    { "pass", JITTER_PER_PASS },
    { "step", JITTER_PER_STEP },
    { NULL, 0 },
};

static const struct name_value failure_per_names[] = {
    { "gpu", FAILURE_PER_GPU },
    { "instance", FAILURE_PER_INSTANCE },
    { NULL, 0 },
};

struct raw_section {
    int64_t seed, samples;
    struct cfg compute, host, link, stragglers, failures;
};

struct raw_straggler {
    struct stragglers to;
    bool has_probability, has_count;
};

struct raw_failure {
    struct failures to;
    bool has_shape, has_time, has_storage;
};

/* clang-format off */
#define SEED_MAX 9007199254740992.0 /* 2^53: whole in any JSON */
#define U struct raw_section
static const struct cfg_field uncertainty_fields[] = {
    CFG_INT("seed", U, seed, 0, SEED_MAX),
    CFG_INT("samples", U, samples, 1, SAMPLES_MAX),
    CFG_CHILD("compute_jitter", U, compute),
    CFG_CHILD("host_jitter", U, host),
    CFG_CHILD("link_jitter", U, link),
    CFG_CHILD("stragglers", U, stragglers),
    CFG_CHILD("failures", U, failures),
    CFG_END,
};
#undef U

/* Wider ones have most factors near 0, and GSL's inverse of the gamma is wrong from 5
 * on. */
#define CV_MAX 3.0
#define J struct jitter
static const struct cfg_field jitter_fields[] = {
    CFG_ENUM("distribution", J, law, random_law_names),
    CFG_ROW("cv", CFG_T_REAL, J, cv, .required = true, .min = 0, .max = CV_MAX,
            .why = "standard deviation over mean, such as 0.03"),
    CFG_ENUM("per", J, per, jitter_per_names),
    CFG_END,
};
static const struct cfg_field link_fields[] = {
    CFG_ENUM("distribution", J, law, random_law_names),
    CFG_ROW("cv", CFG_T_REAL, J, cv, .required = true, .min = 0, .max = CV_MAX,
            .why = "standard deviation over mean, such as 0.03"),
    CFG_REFUSED("per", "every collective has a factor of its own; leave it out"),
    CFG_END,
};
#undef J

#define S struct raw_straggler
static const struct cfg_field straggler_fields[] = {
    CFG_ROW("probability", CFG_T_REAL, S, to.probability, .min = 0, .max = 1,
            .has = offsetof(S, has_probability)),
    CFG_ROW("count", CFG_T_INT, S, to.count, .min = 0, .max = 1 << 30,
            .has = offsetof(S, has_count)),
    CFG_ROW("slowdown", CFG_T_REAL, S, to.slowdown, .required = true, .min = 1,
            .max = 1e6, .why = "how many times as long kernels take, such as 1.5"),
    CFG_END,
};
#undef S

#define SECONDS_MIN 1e-3
#define SECONDS_MAX 1e9
#define F struct raw_failure
static const struct cfg_field failure_fields[] = {
    CFG_REAL("mtbf_hours", F, to.mtbf_hours, 1e-3, 1e12),
    CFG_ENUM("per", F, to.per, failure_per_names),
    CFG_ENUM("distribution", F, to.law, failure_law_names),
    CFG_ROW("shape", CFG_T_REAL, F, to.shape, .min = 0.1, .max = 100,
            .has = offsetof(F, has_shape)),
    CFG_REAL("checkpoint_interval_s", F, to.interval_s, SECONDS_MIN, SECONDS_MAX),
    CFG_ROW("checkpoint_time_s", CFG_T_REAL, F, to.checkpoint_s, .min = SECONDS_MIN,
            .max = SECONDS_MAX, .has = offsetof(F, has_time)),
    CFG_ROW("storage_bandwidth", CFG_T_QUANTITY, F, to.storage_Bps,
            .unit = UNIT_BYTES_PER_S, .min = 1e3, .max = 1e15,
            .has = offsetof(F, has_storage)),
    CFG_REAL("restart_time_s", F, to.restart_s, 0, SECONDS_MAX),
    CFG_REAL("job_hours", F, to.job_hours, 1e-3, 1e6),
    CFG_END,
};
#undef F
/* clang-format on */

/* Beyond it one factor in a thousand would be negative. */
#define NORMAL_CV_MAX 0.3

static int read_jitter(struct jitter *j, struct cfg at, const struct cfg_field *fields)
{
    *j = (struct jitter) { .per = JITTER_PER_PASS };
    if (!cfg_present(at))
        return 0;
    if (!cfg_is_object(at))
        return cfg_error(at, DIAG_WRONG_TYPE,
                         "jitter is an object (write { \"distribution\": "
                         "\"lognormal\", \"cv\": 0.03 })");
    if (cfg_read(at, fields, j))
        return -1;
    if (j->law == RANDOM_NORMAL && j->cv > NORMAL_CV_MAX)
        return cfg_error(cfg_get(at, "cv"), DIAG_OUT_OF_RANGE,
                         "so wide a normal distribution has negative times (at most "
                         "%g, or write \"distribution\": \"lognormal\")",
                         NORMAL_CV_MAX);
    return 0;
}

static int read_stragglers(struct stragglers *to, const struct scenario *s,
                           struct cfg at)
{
    struct raw_straggler w = { .to.slowdown = 1 };
    *to = w.to;
    if (!cfg_present(at))
        return 0;
    if (!cfg_is_object(at))
        return cfg_error(at, DIAG_WRONG_TYPE,
                         "stragglers are an object (write { \"count\": 1, "
                         "\"slowdown\": 1.5 })");
    if (cfg_read(at, straggler_fields, &w))
        return -1;
    if (w.has_probability == w.has_count)
        return cfg_error(at, w.has_count ? DIAG_CONTRADICTION : DIAG_MISSING,
                         w.has_count
                             ? "\"probability\" and \"count\" both say how many "
                               "(keep one of them)"
                             : "how many is not given (write \"count\": 1, or "
                               "\"probability\": 0.001)");
    if (w.to.count > scenario_world(s))
        return cfg_error(cfg_get(at, "count"), DIAG_OUT_OF_RANGE,
                         "%" PRId64 " of %" PRId64 " GPUs cannot be slow (write at "
                         "most %" PRId64 ")",
                         w.to.count, scenario_world(s), scenario_world(s));
    *to = w.to;
    return 0;
}

static int read_failures(struct failures *to, struct cfg at, bool job_saves)
{
    struct raw_failure w = { .to = failure_defaults };
    *to = (struct failures) { .given = cfg_present(at) };
    if (!to->given)
        return 0;
    if (!cfg_is_object(at))
        return cfg_error(at, DIAG_WRONG_TYPE,
                         "failures are an object (write { \"mtbf_hours\": 50000, "
                         "\"checkpoint_time_s\": 60 })");
    if (cfg_read(at, failure_fields, &w))
        return -1;
    if (w.has_shape && w.to.law != FAILURE_WEIBULL)
        return cfg_error(cfg_get(at, "shape"), DIAG_REQUIRES,
                         "only a Weibull distribution has one (write "
                         "\"distribution\": \"weibull\", or leave it out)");
    if (w.has_time == w.has_storage && (w.has_time || !job_saves))
        return cfg_error(at, w.has_time ? DIAG_CONTRADICTION : DIAG_MISSING,
                         w.has_time ? "\"checkpoint_time_s\" and \"storage_bandwidth\" "
                                      "both say how long a checkpoint takes (keep one)"
                                    : "how long a checkpoint takes is not given (write "
                                      "\"checkpoint_time_s\": 60, or "
                                      "\"storage_bandwidth\": \"2GB/s\")");
    *to = w.to;
    return 0;
}

/* Draws replay the step of one job. */
static int check_alone(const struct raw_section *w, const struct scenario *s)
{
    const struct cfg drawn[] = { w->compute, w->host, w->link, w->stragglers };
    for (size_t i = 0; s->background.acts && i < sizeof(drawn) / sizeof(drawn[0]); i++)
        if (cfg_present(drawn[i]))
            return cfg_error(drawn[i], DIAG_CONTRADICTION,
                             "is not drawn next to other jobs (leave it or /background "
                             "out)");
    return 0;
}

int uncertainty_read(struct uncertainty *u, const struct scenario *s, struct cfg at,
                     bool job_saves)
{
    struct raw_section w = { .samples = SAMPLES };
    *u = (struct uncertainty) { .given = cfg_present(at) };
    u->stragglers.slowdown = 1;
    if (!u->given)
        return 0;
    if (!cfg_is_object(at))
        return cfg_error(at, DIAG_WRONG_TYPE,
                         "uncertainty is an object (write { \"compute_jitter\": { "
                         "\"cv\": 0.03 } })");
    int rc = cfg_read(at, uncertainty_fields, &w);
    u->seed = w.seed;
    u->samples = w.samples;
    rc |= read_jitter(&u->compute, w.compute, jitter_fields);
    rc |= read_jitter(&u->host, w.host, jitter_fields);
    rc |= read_jitter(&u->link, w.link, link_fields);
    rc |= read_stragglers(&u->stragglers, s, w.stragglers);
    rc |= read_failures(&u->failures, w.failures, job_saves);
    rc |= check_alone(&w, s);
    return rc ? -1 : 0;
}
