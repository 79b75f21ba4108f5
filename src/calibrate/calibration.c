#include "calibrate/calibration.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "config/datadir.h"

#include <ctype.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void calibration_init(struct calibration *c, struct arena *arena)
{
    *c = (struct calibration) { .arena = arena };
}

void calibration_release(struct calibration *c)
{
    VEC_RELEASE(&c->terms);
    VEC_RELEASE(&c->figures);
    VEC_RELEASE(&c->links);
    VEC_RELEASE(&c->products);
    VEC_RELEASE(&c->attentions);
    VEC_RELEASE(&c->transfers);
    VEC_RELEASE(&c->experts);
}

void calibration_add_fit(struct calibration *c, const struct fit *fit,
                         const struct calibration_term *terms)
{
    for (int32_t i = 0; i < fit->n_params; i++) {
        const struct fit_param *p = &fit->params[i];
        struct calibration_term t = terms[i];
        t.fitted = !p->fixed || p->bounded;
        t.value = p->value;
        t.half = p->half;
        t.n = fit->n;
        if (p->bounded)
            t.why = "at its bound";
        else if (p->fixed && !t.why)
            t.why = "the measurements do not identify it";
        VEC_PUSH(&c->terms, t);
    }
}

const double calibration_unreported = 0.5;

double calibration_within(double v, double lo, double hi)
{
    return fmin(fmax(v, lo), hi);
}

void calibration_add_kept(struct calibration *c, const char *group, const char *name,
                          enum unit_kind unit, double base, int64_t n, const char *why)
{
    VEC_PUSH(&c->terms, ((struct calibration_term) { .group = group,
                                                     .name = name,
                                                     .unit = unit,
                                                     .value = base,
                                                     .base = base,
                                                     .n = n,
                                                     .why = why }));
}

static double median_error(const double *predicted, const double *measured, int64_t n,
                           double *errors)
{
    for (int64_t i = 0; i < n; i++)
        errors[i] = fabs(predicted[i] / measured[i] - 1);
    gsl_sort(errors, 1, (size_t)n);
    return gsl_stats_median_from_sorted_data(errors, 1, (size_t)n);
}

void calibration_add_figure(struct calibration *c, const char *of,
                            const double *predicted, const double *base,
                            const double *measured, int64_t n)
{
    if (n == 0)
        return;
    double *errors = xmalloc((size_t)n * sizeof(*errors));
    struct calibration_figure f = { .of = arena_strdup(c->arena, of), .n = n };
    f.base_median = median_error(base, measured, n, errors);
    f.median = median_error(predicted, measured, n, errors);
    f.mean = gsl_stats_mean(errors, 1, (size_t)n);
    f.p90 = gsl_stats_quantile_from_sorted_data(errors, 1, (size_t)n, 0.9);
    for (int64_t i = 0; i < n; i++)
        f.bias += (predicted[i] / measured[i] - 1) / (double)n;
    free(errors);
    VEC_PUSH(&c->figures, f);
}

/* Which profile a device's name means ---------------------------------------------- */

/* Letters and digits up to the next other character, in upper case; moves on. */
static bool next_token(const char **at, char token[32])
{
    int n = 0;
    while (**at && !isalnum((unsigned char)**at))
        (*at)++;
    while (isalnum((unsigned char)**at)) {
        if (n < 31)
            token[n++] = (char)toupper((unsigned char)**at);
        (*at)++;
    }
    token[n] = '\0';
    return n > 0;
}

static bool holds_token(const char *text, const char *wanted)
{
    char token[32];
    while (next_token(&text, token))
        if (strcmp(token, wanted) == 0)
            return true;
    return false;
}

/* The modules and cards that one GPU comes on, its sizes of memory and limits of power: a
 * device's name may lack them. */
static bool is_of_module(const char *token)
{
    static const char *const begins[] = { "SXM", "PCIE", "NVL", "SERVER" };
    char *end;
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (strncmp(token, begins[i], strlen(begins[i])) == 0)
            return true;
    strtod(token, &end);
    return end != token && (strcmp(end, "GB") == 0 || strcmp(end, "W") == 0);
}

/* What a profile's name begins with ("A100", "RTX-4090") must be the device's; then each
 * token of its module that it shares counts, and so does the size that the memory is
 * nearest to. A PCIe card has less than the module of its name, so that one has to be
 * named. */
static int likeness(const char *profile, const char *device, int64_t memory_B)
{
    const char *at = profile;
    char token[32];
    int score = 4;
    bool in_module = false;
    while (next_token(&at, token)) {
        bool held = holds_token(device, token);
        in_module = in_module || is_of_module(token);
        if (!in_module && !held)
            return 0;
        char *end;
        double size = strtod(token, &end);
        if (in_module)
            score += held ? 2 : -(strcmp(token, "PCIE") == 0);
        if (end != token && strcmp(end, "GB") == 0 && memory_B > 0)
            score += fabs((double)memory_B / (size * 0x1p30) - 1) < 0.12;
    }
    return score;
}

const char *calibration_gpu_of(struct arena *arena, const char *device,
                               int64_t memory_B)
{
    const char *best = NULL;
    int most = 0;
    for (const char **name = datadir_list(arena, "topologies/gpus"); *name; name++) {
        int score = likeness(*name, device, memory_B);
        if (score > most) {
            most = score;
            best = *name;
        }
    }
    return best;
}

/* Whether a token that begins so is in a text. */
static bool holds_begin(const char *text, const char *begin)
{
    char token[32];
    while (next_token(&text, token))
        if (strncmp(token, begin, strlen(begin)) == 0)
            return true;
    return false;
}

bool calibration_may_be(const char *device, const char *gpu)
{
    static const char *const modules[] = { "SXM", "PCIE", "NVL" };
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        if (holds_begin(device, modules[i]) && !holds_begin(gpu, modules[i]))
            return false;
    return !device[0] || likeness(gpu, device, 0) > 0;
}

/* The profile ---------------------------------------------------------------------- */

/* Quantities as files have them: four digits, no blank before the unit. */
static json_t *value_json(const struct calibration_term *t)
{
    char digits[40], text[UNITS_TEXT_MAX];
    int precision = t->unit == UNIT_BYTES ? 12 : 4;
    snprintf(digits, sizeof(digits), "%.*g", precision, t->value);
    double rounded = strtod(digits, NULL);
    if (t->is_flag)
        return json_boolean(t->value != 0);
    if (t->unit == UNIT_NONE)
        return json_real(rounded);
    if (t->unit == UNIT_BYTES) {
        snprintf(text, sizeof(text), "%.0fMiB", t->value / 0x1p20);
        return json_string(text);
    }
    units_text(text, t->unit, rounded);
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ')
            *to++ = *from;
    *to = '\0';
    return json_string(text);
}

static void put(json_t *tree, const char *path, json_t *value)
{
    char key[64];
    for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
        snprintf(key, sizeof(key), "%.*s", (int)(slash - path), path);
        json_t *inner = json_object_get(tree, key);
        if (!inner) {
            inner = json_object();
            json_object_set_new(tree, key, inner);
        }
        tree = inner;
    }
    json_object_set_new(tree, path, value);
}

static void add_terms(struct strbuf *out, const struct calibration *c, bool fitted)
{
    const char *group = NULL;
    for (int64_t i = 0; i < c->terms.n; i++) {
        const struct calibration_term *t = &c->terms.v[i];
        if (t->fitted != fitted)
            continue;
        if (!group || strcmp(group, t->group) != 0)
            strbuf_printf(out, "%s%s: %s", group ? "; " : "", t->group, t->name);
        else
            strbuf_printf(out, ", %s", t->name);
        group = t->group;
    }
    if (!group)
        strbuf_addstr(out, "nothing");
}

/* Names without their folders. */
static void add_files(struct strbuf *out, const struct samples *s)
{
    for (int64_t i = 0; i < s->files.n; i++) {
        const char *slash = strrchr(s->files.v[i], '/');
        strbuf_printf(out, "%s%s", i ? ", " : "", slash ? slash + 1 : s->files.v[i]);
    }
}

static json_t *provenance(const struct calibration *c, const struct samples *s)
{
    struct strbuf text;
    strbuf_init(&text);
    strbuf_addstr(&text, "smsim calibrate from ");
    add_files(&text, s);
    if (s->device)
        strbuf_printf(&text, " (%s", s->device);
    if (s->device && s->driver)
        strbuf_printf(&text, ", driver %s", s->driver);
    if (s->device && s->date)
        strbuf_printf(&text, ", %s", s->date);
    if (s->device)
        strbuf_addstr(&text, ")");
    if (c->machine)
        strbuf_printf(&text, ", collectives on %s", c->machine);
    strbuf_addstr(&text, ". Fitted: ");
    add_terms(&text, c, true);
    strbuf_printf(&text, ". Without data of their own, kept from %s: ", c->base);
    add_terms(&text, c, false);
    for (int64_t i = 0; i < c->figures.n; i++)
        strbuf_printf(&text, "%s%s %.1f/%.1f %% median/mean",
                      i ? ", " : ". Errors: ", c->figures.v[i].of,
                      100 * c->figures.v[i].median, 100 * c->figures.v[i].mean);
    json_t *json = json_string(text.s);
    strbuf_release(&text);
    return json;
}

bool calibration_fitted(const struct calibration *c)
{
    for (int64_t i = 0; i < c->terms.n; i++)
        if (c->terms.v[i].fitted)
            return true;
    return false;
}

json_t *calibration_profile(const struct calibration *c, struct cfg file,
                            const struct samples *s)
{
    json_t *tree = json_deep_copy(file.json);
    for (int64_t i = 0; i < c->terms.n; i++)
        if (c->terms.v[i].fitted && c->terms.v[i].path)
            put(tree, c->terms.v[i].path, value_json(&c->terms.v[i]));
    json_object_set_new(tree, "provenance", provenance(c, s));
    if (calibration_fitted(c))
        json_object_set_new(
            tree, "provenance_kind",
            json_string(names_of(provenance_kind_names, PROVENANCE_FITTED)));
    return tree;
}
