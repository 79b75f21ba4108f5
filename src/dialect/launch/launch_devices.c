/* GPUs by their numbers: CUDA_VISIBLE_DEVICES, and deepspeed's --include; devices that are
 * no GPUs of CUDA, by the variables of their software. */
#include "dialect/launch/launch_shell.h"

#include "base/names.h"

#include <string.h>

static const char gpus_at[] = "/cluster/gpus_per_instance";

int64_t launch_devices_listed(const char *list, size_t n)
{
    int64_t count = 0;
    bool in = false; /* an entry */
    for (size_t i = 0; i < n; i++) {
        bool between = list[i] == ',' || list[i] == ' ';
        count += !between && !in;
        in = list[i] != ',' && (in || !between);
    }
    return count;
}

bool launch_devices_of(const char *text, int64_t *hosts, int64_t *each)
{
    bool same = *text != '\0';
    *hosts = *each = 0;
    for (const char *host = text; same && host;) {
        const char *end = strchr(host, '@');
        size_t n = end ? (size_t)(end - host) : strlen(host);
        const char *colon = memchr(host, ':', n);
        int64_t slots =
            colon ? launch_devices_listed(colon + 1, n - (size_t)(colon + 1 - host))
                  : 0;
        same = n > 0 && (*hosts == 0 || slots == *each) && !(colon && slots == 0);
        *each = slots;
        ++*hosts;
        host = end ? end + 1 : NULL;
    }
    return same;
}

void launch_take_visible(struct launch_context *t, const struct launch_command *c)
{
    static const char name[] = "CUDA_VISIBLE_DEVICES";
    const struct shell_binding *b = launch_variable(c, name);
    if (!b || c->numbered || launch_has(t, gpus_at) || launch_is_unresolved(t, gpus_at))
        return;
    int64_t n = b->value ? launch_devices_listed(b->value, strlen(b->value)) : 0;
    struct value v = { .kind = VALUE_INT, .line = b->line, .integer = n };
    const struct value_item from = { name, b->line, &v };
    if (n > 0)
        launch_set(t, gpus_at, json_integer((json_int_t)n), &from);
    else if (!b->value)
        launch_add_unresolved(t, gpus_at, b->line,
                              "%s: how many GPUs it leaves is not known", name);
}

/* A program without a starter whose model is split over more GPUs than one: something
 * outside starts it for each rank. */
void launch_settle_ranks(struct launch_context *t, const struct launch_command *c)
{
    static const char *const parts[] = { "tensor", "pipeline", "context", "expert" };
    static const char count_at[] = "/cluster/count";
    int64_t most = 1;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        int64_t n =
            launch_number(t, arena_printf(t->arena, "/parallelism/%s", parts[i]), 1);
        most = n > most ? n : most;
    }
    if (!t->alone || (most < 2 && !launch_option(c, "--use-mpi")))
        return;
    json_object_del(json_object_get(t->tree, "cluster"), strrchr(gpus_at, '/') + 1);
    json_object_del(json_object_get(t->tree, "cluster"), strrchr(count_at, '/') + 1);
    launch_forget(t, gpus_at);
    launch_forget(t, count_at);
    launch_add_unresolved(t, count_at, c->command->line,
                          "what starts this script for each rank is not in it");
}

/* nvidia-smi's switches of power and clocks (its manual, 570); "-pl 250", "-pl=250". */
static void note_limit(struct launch *l, const struct shell_command *c, int32_t at)
{
    static const char *const power[] = { "-pl", "--power-limit", NULL },
                             *const clocks[] = { "-lgc", "--lock-gpu-clocks", "-ac",
                                                 "--applications-clocks", NULL };
    for (int32_t i = at + 1; i < c->n; i++) {
        const char *text = c->words[i].text, *equals = strchr(text, '=');
        size_t n = equals ? (size_t)(equals - text) : strlen(text);
        const char *name = arena_strndup(&l->loader->arena, text, n),
                   *value = equals         ? equals + 1
                            : i + 1 < c->n ? c->words[i + 1].text
                                           : "";
        if (names_listed(power, name))
            launch_note(l, c->line, DIAG_NOT_SIMULATED,
                        "nvidia-smi %s %.20s is not simulated (give --set "
                        "/cluster/power_limit=%.20sW)",
                        name, value, value);
        else if (names_listed(clocks, name))
            launch_note(
                l, c->line, DIAG_NOT_SIMULATED,
                "nvidia-smi %s %.20s is not simulated: GPUs run at the clocks of "
                "their profile",
                name, value);
    }
}

void launch_note_limits(struct launch *l, const struct shell *s)
{
    for (int64_t i = 0; i < s->commands.n; i++) {
        const struct shell_command *c = &s->commands.v[i];
        for (int32_t k = 0; k < c->n && k < 2; k++) /* after sudo */
            if (strcmp(launch_last_part(c->words[k].text), "nvidia-smi") == 0)
                note_limit(l, c, k);
    }
}

/* Whether a variable before was of the same maker's. */
static bool is_said(struct launch_context *t, const char *of)
{
    bool said = t->maker && strcmp(t->maker, of) == 0;
    t->maker = of;
    return said;
}

void launch_take_device(struct launch_context *t, const struct shell_binding *b)
{
    /* AWS Neuron SDK 2.2x (torch-neuronx), Intel Gaudi's SynapseAI, PyTorch/XLA, Ascend's
     * CANN, ROCm */
    static const struct {
        const char *begins, *of;
        bool refused;
    } devices[] = {
        { "NEURON_", "AWS Trainium", true },
        { "HABANA_", "Intel Gaudi", true },
        { "PT_HPU_", "Intel Gaudi", true },
        { "HL_", "Intel Gaudi", true },
        { "TPU_", "TPUs", true },
        { "NPUS_PER_NODE", "Ascend's NPUs", true },
        { "ASCEND_", "Ascend's NPUs", true },
        { "HCCL_", "Ascend's NPUs", true },
        { "HIP_", "AMD's GPUs", false },
        { "HSA_", "AMD's GPUs", false },
        { "ROCR_", "AMD's GPUs", false },
        { "ROCM_", "AMD's GPUs", false },
        { "ROCBLAS_", "AMD's GPUs", false },
        { "RCCL_", "AMD's GPUs", false },
        { "MIOPEN_", "AMD's GPUs", false },
        { "HIPBLASLT_", "AMD's GPUs", false },
        { "TE_HIPBLASLT_", "AMD's GPUs", false },
        { "GPU_MAX_HW_QUEUES", "AMD's GPUs", false },
        { "CCL_", "Intel's GPUs", false },
        { "ZE_", "Intel's GPUs", false },
        { "SYCL_", "Intel's GPUs", false },
        { "MUSA_", "Moore Threads' GPUs", false },
        { "MCCL_", "Moore Threads' GPUs", false },
        { "MACA_", "MetaX' GPUs", false },
        { "CNCL_", "Cambricon's MLUs", false },
    };
    struct diag at = launch_diag(t->l, DIAG_UNSUPPORTED, b->line, 0);
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        if (strncmp(b->name, devices[i].begins, strlen(devices[i].begins)) != 0)
            continue;
        if (devices[i].refused && t->l->loader->diags.n_errors == 0)
            diags_add(&t->l->loader->diags, at,
                      "%.60s: the script trains on %s, whose software is not simulated "
                      "(give a job on NVIDIA's GPUs)",
                      b->name, devices[i].of);
        else if (!devices[i].refused && !is_said(t, devices[i].of))
            launch_note(t->l, b->line, DIAG_NOT_SIMULATED,
                        "%.60s: the script is for %s; NVIDIA's of /cluster/instance "
                        "are simulated",
                        b->name, devices[i].of);
    }
}

/* Names of variables that only Gaudi's scripts have, after "${". */
static void take_read(struct launch_context *t, const char *text)
{
    static const char *const begins[] = { "${HL_", "${HABANA_", "${PT_HPU_" };
    int64_t line = 1;
    for (const char *c = text; *c; line++) {
        size_t n = strcspn(c, "\n");
        const char *mark = c + strspn(c, " \t"), *at = NULL;
        char *own = arena_strndup(t->arena, c, n);
        for (size_t i = 0; *mark != '#' && i < sizeof(begins) / sizeof(begins[0]); i++)
            at = at ? at : strstr(own, begins[i]);
        if (at) {
            const char *name =
                arena_strndup(t->arena, at + 2,
                              strspn(at + 2, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
            launch_take_device(t, &(struct shell_binding) { name, NULL, line });
            return;
        }
        c += n + (c[n] == '\n');
    }
}

void launch_take_makers(struct launch_context *t, const struct launch_command *c,
                        const char *text)
{
    static const char amd[] = "AMD's GPUs";
    const struct raw_shell *d = &c->directives;
    for (int32_t i = 0; i < d->n; i++)
        for (const char *at = d->v[i].text; (at = strstr(at, "mi")) != NULL; at += 2) {
            bool begins = at > d->v[i].text && strchr("=:", at[-1]);
            if (!begins || !at[2] || strspn(at + 2, "0123456789") < 2 ||
                is_said(t, amd))
                continue;
            launch_note(t->l, d->v[i].line, DIAG_NOT_SIMULATED,
                        "%.60s: the job is for %s; NVIDIA's of /cluster/instance are "
                        "simulated",
                        d->v[i].text, amd);
        }
    take_read(t, text);
}
