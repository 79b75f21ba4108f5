/* GPUs by their numbers: CUDA_VISIBLE_DEVICES, and deepspeed's --include. */
#include "dialect/launch/launch_shell.h"

#include <string.h>

static const char gpus_at[] = "/cluster/gpus_per_instance";

/* "0,1,2" has three; an empty list none. */
static int64_t count_of(const char *list, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += list[i] != ',' && list[i] != ' ' && (i == 0 || list[i - 1] == ',');
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
        int64_t slots = colon ? count_of(colon + 1, n - (size_t)(colon + 1 - host)) : 0;
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
    int64_t n = b->value ? count_of(b->value, strlen(b->value)) : 0;
    struct value v = { .kind = VALUE_INT, .line = b->line, .integer = n };
    const struct value_item from = { name, b->line, &v };
    if (n > 0)
        launch_set(t, gpus_at, json_integer((json_int_t)n), &from);
    else if (!b->value)
        launch_add_unresolved(t, gpus_at, b->line,
                              "%s: how many GPUs it leaves is not known", name);
}
