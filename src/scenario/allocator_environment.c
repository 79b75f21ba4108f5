#include "scenario/allocator_environment.h"

#include <string.h>

#define FEW "what it changes of a few segments is not counted"

/* Settings, and why those that do not act do not. NULL: it acts. */
static const struct {
    const char *name, *why;
    bool warns; /* it would change memory */
} settings[] = {
    { "expandable_segments", NULL, false },
    { "backend", NULL, false },
    { "max_split_size_mb", FEW, true },
    { "max_non_split_rounding_mb", FEW, true },
    { "roundup_power2_divisions", FEW, true },
    { "roundup_bypass_threshold_mb", FEW, true },
    { "garbage_collection_threshold", FEW, true },
    { "per_process_memory_fraction", FEW, true },
    { "release_lock_on_cudamalloc", "it is for other threads of the host", false },
    { "pinned_use_cuda_host_register", "it is for memory of the host", false },
    { "pinned_num_register_threads", "it is for memory of the host", false },
    { "pinned_use_background_threads", "it is for memory of the host", false },
    { "pinned_reserve_segment_size_mb", "it is for memory of the host", false },
};

static bool is(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(text, word, n) == 0;
}

static int set(struct parse_context *r, struct cfg c, const char *value, size_t n)
{
    bool on = is(value, n, "True"), off = is(value, n, "False");
    if (!on && !off)
        return cfg_error(c, DIAG_SYNTAX,
                         "expandable_segments is \"True\" or \"False\", not \"%.*s\"",
                         (int)(n > 40 ? 40 : n), value);
    r->s->software.expandable_segments = on;
    return 0;
}

/* The native allocator is replayed. */
static int set_backend(struct cfg c, const char *value, size_t n)
{
    if (!is(value, n, "native"))
        cfg_warn(c, DIAG_NOT_SIMULATED, "backend:%.*s is not simulated: \"native\" is",
                 (int)(n > 40 ? 40 : n), value);
    return 0;
}

static int take_setting(struct parse_context *r, struct cfg c, const char *at, size_t n)
{
    const char *colon = memchr(at, ':', n);
    size_t name = colon ? (size_t)(colon - at) : n;
    size_t rest = colon ? n - name - 1 : 0;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (!is(at, name, settings[i].name))
            continue;
        if (i == 0)
            return set(r, c, colon ? colon + 1 : at + n, rest);
        if (i == 1)
            return set_backend(c, colon ? colon + 1 : at + n, rest);
        if (settings[i].warns)
            cfg_warn(c, DIAG_NOT_SIMULATED, "%s is not simulated: %s", settings[i].name,
                     settings[i].why);
        else
            parse_note(r, c,
                       arena_printf(&r->loader->arena,
                                    "%s does not change the simulation: %s",
                                    settings[i].name, settings[i].why));
        return 0;
    }
    return cfg_error(c, DIAG_UNKNOWN_NAME,
                     "\"%.*s\" is no setting of PyTorch's allocator (write "
                     "\"expandable_segments:True\")",
                     (int)(name > 40 ? 40 : name), at);
}

/* The end of a setting: a comma outside of brackets. */
static const char *setting_end(const char *at)
{
    for (int depth = 0; *at && (*at != ',' || depth > 0); at++)
        depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
    return at;
}

int allocator_environment(struct parse_context *r, struct cfg c, const char *value)
{
    for (const char *at = value; *at;) {
        const char *end = setting_end(at);
        if (end > at && take_setting(r, c, at, (size_t)(end - at)))
            return -1;
        at = *end ? end + 1 : end;
    }
    return 0;
}
