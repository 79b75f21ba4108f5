#include "report/figure/plan_labels.h"

#include "base/strbuf.h"
#include "report/figure/written.h"
#include "search/space/words.h"

#include <inttypes.h>
#include <string.h>

/* A plan's words in the order of a name. */
static const struct {
    const char *before, *after;
    int field;
    bool degree;    /* said of each point where it is above one */
    int64_t silent; /* that value of the field has no word */
} words[] = {
    { "", ":", SPACE_COUNT, false, -1 }, /* as GPUs */
    { "", "", SPACE_INSTANCE, false, -1 },
    { "", " GPUs each", SPACE_GPUS, false, -1 },
    { "", "", SPACE_LIBRARY, false, -1 },
    { "tp", "", SPACE_TENSOR, true, 1 },
    { "pp", "", SPACE_PIPELINE, true, 1 },
    { "cp", "", SPACE_CONTEXT, true, 1 },
    { "ep", "", SPACE_EXPERT, true, 1 },
    { "dp", "", SPACE_DATA, true, 1 },
    { "", "", SPACE_SCHEDULE, false, -1 },
    { "v", "", SPACE_VIRTUAL, false, 1 },
    { "shard ", "", SPACE_SHARDING, false, 0 },
    { "over ", "", SPACE_DEGREE, false, 0 },
    { "ckpt ", "", SPACE_CHECKPOINTING, false, 0 },
    { "offload ", "", SPACE_OFFLOAD, false, 0 },
    { "sp", "", SPACE_SEQUENCE, false, 0 },
    { "overlap", "", SPACE_OVERLAP, false, 0 },
    { "optimize ", "", SPACE_OPTIMIZE, false, -1 },
    { "", "", SPACE_PLACEMENT, false, -1 },
    { "bucket ", "", SPACE_BUCKET, false, 0 },
    { "mb", "", SPACE_MICRO, true, 0 },
    { "fill ", "", SPACE_MICROBATCHES, false, 0 },
};
enum { N_WORDS = sizeof(words) / sizeof(words[0]) };

static int64_t value_at(const struct space_point *p, int word)
{
    int field = words[word].field;
    if (field == SPACE_DATA)
        return p->data;
    if (field == SPACE_COUNT)
        return p->world;
    if (field == SPACE_SCHEDULE && p->v[SPACE_PIPELINE] <= 1)
        return -1;
    if (field == SPACE_PLACEMENT && /* the library's own goes without saying */
        p->v[field] == space_stack_placement(&space_stacks[p->v[SPACE_LIBRARY]]))
        return -1;
    return p->v[field];
}

static bool differ(const struct space_point *const *points, size_t n, int word)
{
    for (size_t i = 1; i < n; i++)
        if (value_at(points[i], word) != value_at(points[0], word))
            return true;
    return false;
}

static void add_word(struct strbuf *out, const struct plan_job *job, int word,
                     int64_t v)
{
    char text[64] = "";
    int field = words[word].field;
    if (field == SPACE_PLACEMENT)
        snprintf(text, sizeof(text), "%s", space_placements[v]);
    else if (field == SPACE_DATA || field == SPACE_COUNT)
        snprintf(text, sizeof(text), "%" PRId64, (int64_t)v);
    else if (field != SPACE_SEQUENCE && field != SPACE_OVERLAP)
        space_value_text(&job->space, (enum space_field)field, v, text, sizeof(text));
    strbuf_printf(out, "%s%s%s%s", out->len ? " " : "", words[word].before, text,
                  words[word].after);
}

void plan_labels(const char **labels, struct arena *arena, const struct plan_job *job,
                 const struct space_point *const *points, size_t n)
{
    bool shown[N_WORDS];
    for (int w = 0; w < N_WORDS; w++)
        shown[w] = words[w].degree || differ(points, n, w);
    for (size_t i = 0; i < n; i++) {
        struct strbuf text;
        strbuf_init(&text);
        for (int w = 0; w < N_WORDS; w++) {
            int64_t v = value_at(points[i], w);
            if (shown[w] && v >= 0 && v != words[w].silent)
                add_word(&text, job, w, v);
        }
        labels[i] = arena_strdup(arena, strbuf_get(&text));
        strbuf_release(&text);
    }
}

const char *plan_libraries(struct arena *arena, const struct plan_entry *entries,
                           int32_t n)
{
    uint32_t seen = 0;
    const char *text = "", *last = NULL;
    for (int32_t i = 0; i < n; i++)
        seen |= 1u << entries[i].point.v[SPACE_LIBRARY];
    for (int row = 0; row < SPACE_STACKS_N; row++) {
        if (!(seen >> row & 1))
            continue;
        if (last)
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", last);
        last = written_word(space_stacks[row].name);
    }
    return *text ? arena_printf(arena, "%s or %s", text, last) : last ? last : "";
}
