#include "hardware/fabric_quality.h"

#include "hardware/fabric.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct cfg_field quality_fields[] = {
    CFG_ROW("waits", CFG_T_REAL, struct fabric_quality, waits, .min = 1, .max = 1000,
            .required = true),
    CFG_REAL("growth", struct fabric_quality, growth, 0, 2),
    CFG_REAL("spread", struct fabric_quality, spread, 0, 3),
    CFG_ROW("provenance", CFG_T_STRING, struct fabric_quality, provenance,
            .required = true),
    CFG_END,
};

int fabric_quality_read(struct fabric_quality *q, struct cfg object)
{
    return cfg_present(object) ? cfg_read(object, quality_fields, q) : 0;
}

/* The factor for the share q of runs, in 0..1, on so many nodes; 1 where nothing is
 * known. */
static double quality_factor(const struct fabric_quality *q, double share,
                             int64_t nodes)
{
    if (q->waits <= 0 || nodes < 2)
        return 1;
    double z = gsl_cdf_ugaussian_Pinv(fmin(fmax(share, 1e-6), 1 - 1e-6));
    return fmax(1,
                q->waits * exp(q->growth * (log2((double)nodes) - 1) + q->spread * z));
}

/* Waits between nodes; what happens inside (chains, copies) stays as it is. */
static void slow_down(struct fabric *f, double by)
{
    f->latency_s *= by;
    for (int p = 0; p < FABRIC_PROTO_N; p++) {
        f->proto[p].base_s *= by;
        f->proto[p].step_s *= by;
        f->proto[p].hop_s *= by;
        f->proto[p].ramp_s *= by;
        f->proto[p].ramp_rank_s *= by;
    }
    for (int a = 0; a < FABRIC_ALGO_N; a++)
        for (int p = 0; p < FABRIC_PROTO_N; p++) {
            struct fabric_law *law = &f->laws.of[a][p];
            law->base_s *= by;
            law->node_s *= by;
            law->level_s *= by;
            law->ramp_s *= by;
            law->ramp_level_s *= by;
        }
}

/* The share of runs that a value names; NAN: all waits are clean. */
static int read_share(struct cfg value, double *share, char text[FABRIC_QUALITY_TEXT])
{
    *share = (double)NAN;
    snprintf(text, FABRIC_QUALITY_TEXT, "clean");
    if (!cfg_present(value))
        return 0;
    if (json_is_number(value.json)) {
        *share = json_number_value(value.json);
        snprintf(text, FABRIC_QUALITY_TEXT, "%.6g", *share);
        return *share > 0 && *share < 1
                   ? 0
                   : cfg_error(value, DIAG_OUT_OF_RANGE,
                               "is a share of the runs between 0 and 1, of those that "
                               "have it better (0.5 is \"typical\")");
    }
    const char *word = json_string_value(value.json);
    if (word && strcmp(word, "clean") == 0)
        return 0;
    if (!word || strcmp(word, "typical") != 0)
        return cfg_error(value, DIAG_WRONG_TYPE,
                         "should be \"clean\", \"typical\" or the share of runs that "
                         "have it better (0.9)");
    *share = 0.5;
    snprintf(text, FABRIC_QUALITY_TEXT, "typical");
    return 0;
}

int fabric_set_quality(struct fabric *f, struct cfg value, int64_t nodes)
{
    double share;
    if (read_share(value, &share, f->state.text))
        return -1;
    f->state.factor = 1;
    if (isnan(share))
        return 0;
    if (f->quality.waits <= 0)
        return cfg_error(value, DIAG_UNSUPPORTED,
                         "nothing was published of what groups really get of %s (write "
                         "\"clean\", or give the fabric's file a \"quality\")",
                         f->name);
    f->state.factor = quality_factor(&f->quality, share, nodes);
    slow_down(f, f->state.factor);
    return 0;
}
