#include "search/space/forms.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values up to SPACE_GROUP are those of enum checkpointing; after it a number of layers
 * each, then the modules' bits. */
enum {
    NUMBER_MAX = 100000,
    CONTIGUOUS = SPACE_GROUP + NUMBER_MAX + 1,
    EVERY = 1 << 20,
    BLOCK = 2 << 20,
    MODULES = 3 << 20
};

struct space_form space_form_of(int64_t value)
{
    struct space_form f = { .how = CHECKPOINT_FULL, .group = 1, .every = 1 };
    if (value >= MODULES) {
        f.how = CHECKPOINT_SELECTIVE;
        f.modules = (uint32_t)(value - MODULES);
    } else if (value >= BLOCK) {
        f.block = value - BLOCK;
    } else if (value >= EVERY) {
        f.every = value - EVERY;
    } else if (value > SPACE_GROUP) {
        f.how = CHECKPOINT_GROUP;
        f.group = value == CONTIGUOUS ? INT64_MAX : value - SPACE_GROUP;
    } else {
        f.how = (enum checkpointing)value;
        f.modules = value == CHECKPOINT_SELECTIVE ? 1U << OP_REGION_CORE : 0;
    }
    return f;
}

int64_t space_form_value(const struct space_form *f)
{
    if (f->how == CHECKPOINT_SELECTIVE && f->modules != 1U << OP_REGION_CORE)
        return MODULES + (int64_t)f->modules;
    if (f->how == CHECKPOINT_GROUP)
        return f->group > NUMBER_MAX ? CONTIGUOUS : SPACE_GROUP + f->group;
    if (f->how == CHECKPOINT_FULL && f->block > 0)
        return BLOCK + f->block;
    if (f->how == CHECKPOINT_FULL && f->every > 1)
        return EVERY + f->every;
    return f->how;
}

struct space_form space_form_given(const struct training *t)
{
    return (struct space_form) { t->checkpointing, t->checkpoint_group,
                                 t->checkpoint_every, t->checkpoint_block,
                                 t->recompute_modules };
}

static int read_number(const char *word, int64_t *v)
{
    char *end;
    errno = 0;
    *v = strtoll(word, &end, 10);
    return end == word || *end || errno || *v < 1 || *v > NUMBER_MAX ? -1 : 0;
}

/* "core_attn+moe_act" */
static int read_modules(const char *word, uint32_t *bits)
{
    char copy[128], *save = NULL;
    if (strlen(word) >= sizeof(copy))
        return -1;
    memcpy(copy, word, strlen(word) + 1);
    for (char *w = strtok_r(copy, "+", &save); w; w = strtok_r(NULL, "+", &save)) {
        int region;
        if (names_find(op_region_names, w, &region) < 0)
            return -1;
        *bits |= 1U << region;
    }
    return *bits ? 0 : -1;
}

int space_form_read(const char *word, int64_t *value)
{
    struct space_form f = { .how = CHECKPOINT_FULL, .group = 1, .every = 1 };
    int rc;
    if (strcmp(word, "contiguous") == 0) {
        *value = CONTIGUOUS;
        return 0;
    }
    if (strncmp(word, "every:", 6) == 0) {
        rc = read_number(word + 6, &f.every);
    } else if (strncmp(word, "block:", 6) == 0) {
        rc = read_number(word + 6, &f.block);
    } else if (read_number(word, &f.group) == 0) {
        f.how = CHECKPOINT_GROUP;
        rc = 0;
    } else {
        f.how = CHECKPOINT_SELECTIVE;
        rc = read_modules(word, &f.modules);
    }
    if (rc == 0)
        *value = space_form_value(&f);
    return rc;
}

/* Its modules, one by one. */
static int32_t next_module(uint32_t *modules)
{
    int32_t region = __builtin_ctz(*modules);
    *modules &= *modules - 1;
    return region;
}

static void modules_text(uint32_t modules, char *buf, size_t size)
{
    size_t at = 0;
    buf[0] = '\0';
    while (modules && at < size)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? "+" : "",
                               names_of(op_region_names, (int)next_module(&modules)));
}

char *space_form_text(int64_t value, char *buf, size_t size)
{
    struct space_form f = space_form_of(value);
    if (value == CONTIGUOUS)
        snprintf(buf, size, "all layers of a stage together");
    else if (f.how == CHECKPOINT_GROUP)
        snprintf(buf, size, "every %" PRId64 " layers", f.group);
    else if (value >= MODULES)
        modules_text(f.modules, buf, size);
    else if (f.every > 1)
        snprintf(buf, size, "one layer in %" PRId64, f.every);
    else if (f.block > 0)
        snprintf(buf, size, "the first %" PRId64 " layers of a chunk", f.block);
    else
        snprintf(buf, size, "%s", names_of(checkpointing_names, (int)value));
    return buf;
}

json_t *space_form_json(int64_t value)
{
    struct space_form f = space_form_of(value);
    if (value == CONTIGUOUS)
        return json_string("contiguous");
    if (value <= SPACE_GROUP)
        return json_string(names_of(checkpointing_names, (int)value));
    json_t *o = json_object(), *list;
    if (f.how == CHECKPOINT_GROUP)
        json_object_set_new(o, "group", json_integer((json_int_t)f.group));
    else if (f.every > 1)
        json_object_set_new(o, "every", json_integer((json_int_t)f.every));
    else if (f.block > 0)
        json_object_set_new(o, "block", json_integer((json_int_t)f.block));
    if (value < MODULES)
        return o;
    list = json_array();
    for (uint32_t modules = f.modules; modules;)
        json_array_append_new(
            list, json_string(names_of(op_region_names, (int)next_module(&modules))));
    json_object_set_new(o, "modules", list);
    return o;
}

double space_form_share(const struct space_form *f, double chunk_layers)
{
    if (f->how == CHECKPOINT_NONE || f->how == CHECKPOINT_SELECTIVE)
        return 0;
    if (f->block > 0)
        return fmin(1, (double)f->block / chunk_layers);
    return 1 / (double)(f->every > 0 ? f->every : 1);
}

double space_form_sum(const double of[OP_REGIONS], uint32_t modules)
{
    const uint32_t within = 1U << OP_REGION_SHARED | 1U << OP_REGION_MOE_ACT;
    double sum = 0;
    if (modules & 1U << OP_REGION_MOE)
        modules &= ~within;
    if (modules & 1U << OP_REGION_DELTA)
        modules &= ~(1U << OP_REGION_DELTA_NORM);
    while (modules)
        sum += of[next_module(&modules)];
    return sum;
}
