/* Layers of several kinds: Megatron-LM's letters (megatron/core/ssm/
 * mamba_hybrid_layer_allocation.py and megatron/core/models/hybrid, core_r0.12 to main of
 * 2026-08; arguments.py: --hybrid-override-pattern, --hybrid-layer-pattern). After "/"
 * stand the layers that predict further tokens. */
#include "dialect/megatron/megatron.h"

#include <math.h>
#include <string.h>

enum { LAYERS_MAX = 10000 };

#define PATTERN_AT "/model/hybrid_layer_pattern"

/* After the layers' pattern, those of modules that predict further tokens: attention,
 * then an MLP or experts. How many there are; -1: others. */
static int64_t further(const char *rest)
{
    int64_t n = 0;
    for (; *rest == '/'; rest += 3, n++)
        if (rest[1] != '*' || (rest[2] != 'E' && rest[2] != '-'))
            return -1;
    return *rest ? -1 : n;
}

void megatron_take_pattern(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "";
    size_t n = strcspn(text, "/");
    if (n == 0) {
        launch_leave_out(t, it, "a pattern of layers (M, *, - and E)");
        return;
    }
    int64_t modules = further(text + n);
    if (modules > 0)
        launch_decide(t, "/training/mtp_layers", json_integer((json_int_t)modules), it,
                      "");
    else if (modules < 0 && !launch_has(t, "/training/mtp_layers"))
        launch_note(t->l, it->line, DIAG_NOT_SIMULATED,
                    "%s: layers that predict further tokens are left out", it->key);
    launch_set(t, row->pointer, json_stringn(text, n), it);
    if (!launch_has(t, "/model/num_layers"))
        launch_set(t, "/model/num_layers", json_integer((json_int_t)n), it);
    launch_hear(t, it);
}

/* clang-format off */
static const struct dialect_option pattern_rows[] = {
    ROW("--hybrid-layer-pattern", PATTERN_AT, .take = megatron_take_pattern, .kind = DIALECT_TEXT, .written = true),
    ROW("--hybrid-override-pattern", PATTERN_AT, .take = megatron_take_pattern),
    ROW_END,
};
const struct dialect_option megatron_hybrid_rows[] = {
    ROW("--hybrid-layer-pattern", PATTERN_AT, .take = megatron_take_pattern, .kind = DIALECT_TEXT, .written = true),
    ROW("--hybrid-override-pattern", PATTERN_AT, .take = megatron_take_pattern),
    ROW_ACTS("--is-hybrid-model", PATTERN_AT), ROW_ACTS("--hybrid-attention-ratio", PATTERN_AT), ROW_ACTS("--hybrid-mlp-ratio", PATTERN_AT),
    ROW("--mamba-num-heads", "/model/mamba_num_heads", .kind = DIALECT_SIZE, .written = true),
    ROW("--mamba-head-dim", "/model/mamba_head_dim", .kind = DIALECT_SIZE, .written = true),
    ROW("--mamba-state-dim", "/model/mamba_state_dim", .kind = DIALECT_SIZE, .written = true),
    ROW("--mamba-num-groups", "/model/mamba_num_groups", .kind = DIALECT_SIZE, .written = true),
    ROW_END,
};
/* clang-format on */

/* Layers by ratios ----------------------------------------------------------------- */

/* A share of all layers; 0 without the option, which is heard. */
static double ratio_of(struct launch_context *t, const struct launch_command *c,
                       const char *option)
{
    const struct value_item *it = launch_option(c, option);
    double x = 0;
    launch_hear(t, it);
    if (it && (!launch_real(it->value, &x) || x < 0 || x > 1)) {
        launch_unresolved_item(t, PATTERN_AT, it, "share from 0 to 1");
        return 0;
    }
    return x;
}

/* Makes layers of every so manieth "M", with `every` of them before each
 * (_allocate_auto() of mamba_hybrid_layer_allocation.py, core_r0.7 to core_r0.15). */
static void deal(char *letters, int64_t n, char letter, double every)
{
    double left = every;
    for (int64_t i = 0; i < n; i++) {
        bool here = letters[i] == 'M';
        bool dealt = here && left < 0.5;
        letters[i] = dealt ? letter : letters[i];
        left += dealt ? every : here ? -1 : 0;
    }
}

/* Attention evenly, from Mamba to Mamba; then MLPs, up to the end. */
static void take_ratios(struct launch_context *t, const struct launch_command *c,
                        const struct value_item *layers, int64_t n)
{
    double attention = ratio_of(t, c, "--hybrid-attention-ratio"),
           mlp = ratio_of(t, c, "--hybrid-mlp-ratio");
    double n_attention = rint((double)n * attention), n_mlp = rint((double)n * mlp),
           rest = (double)n - n_attention;
    char letters[LAYERS_MAX];
    if (launch_is_unresolved(t, PATTERN_AT))
        return;
    memset(letters, 'M', (size_t)n);
    if (n_attention > 0)
        deal(letters, n, '*', rest / (n_attention + 1));
    if (n_mlp > 0)
        deal(letters, n, '-', (rest - n_mlp) / n_mlp);
    launch_set(t, PATTERN_AT, json_stringn(letters, (size_t)n), layers);
}

/* Whether the job's layers are of kinds: by its program, or by an option. */
static bool is_hybrid(const struct launch_context *t, const struct launch_command *c,
                      const char *model)
{
    double ratio = 0;
    const struct value_item *it = launch_option(c, "--hybrid-attention-ratio");
    bool some = it && (!launch_real(it->value, &ratio) || ratio > 0);
    it = launch_option(c, "--hybrid-mlp-ratio");
    some |= it && (!launch_real(it->value, &ratio) || ratio > 0);
    return some || launch_has(t, PATTERN_AT) || launch_option(c, "--is-hybrid-model") ||
           (model && strcmp(model, "mamba") == 0);
}

void megatron_take_hybrid(struct launch_context *t, const struct launch_command *c,
                          const char *model)
{
    const struct value_item *flag = launch_option(c, "--is-hybrid-model"),
                            *layers = launch_option(c, "--num-layers");
    int64_t n;
    launch_take_rows(t, pattern_rows, &c->options);
    if (!is_hybrid(t, c, model))
        return;
    launch_hear(t, flag);
    launch_take_rows(t, megatron_hybrid_rows, &c->options);
    if (launch_has(t, PATTERN_AT) || launch_is_unresolved(t, PATTERN_AT))
        return;
    if (!layers || !launch_whole(layers->value, &n) || n < 1 || n > LAYERS_MAX)
        return;
    take_ratios(t, c, layers, n);
}
