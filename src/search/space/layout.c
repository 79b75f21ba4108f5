#include "search/space/layout.h"

#include "layout/partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t degree_of(const json_t *parallelism, const char *key)
{
    const json_t *v = json_object_get(parallelism, key);
    return json_is_integer(v) ? (int64_t)json_integer_value(v) : 1;
}

static int64_t end_of(const json_t *ends, const char *key)
{
    int64_t n = (int64_t)json_integer_value(json_object_get(ends, key));
    return n > 0 ? n : 0;
}

static bool folds_of(const json_t *parallelism)
{
    const char *name = json_string_value(json_object_get(parallelism, "schedule"));
    int schedule;
    return name && names_find(parallelism_schedule_names, name, &schedule) == 0 &&
           parallelism_schedule((enum schedule)schedule)->folds;
}

/* Layers of the fullest stage, all its chunks. */
static int64_t most_of(const struct space_layout *l, const struct model *m)
{
    int64_t n = l->pipeline, most = 0, all = m->layers + m->decoder_layers;
    for (int64_t i = 0; i < n && json_is_array(l->partition); i++) {
        int64_t stage = 0;
        for (int64_t k = 0; k < l->chunks; k++)
            stage += (int64_t)json_integer_value(json_array_get(
                l->partition, (size_t)partition_part(n, l->folds, i, k)));
        most = stage > most ? stage : most;
    }
    if (json_is_object(l->partition)) {
        int64_t first = end_of(l->partition, "first"),
                last = end_of(l->partition, "last"),
                less = end_of(l->partition, "first_less") +
                       end_of(l->partition, "last_less"),
                inner = n - (first > 0) - (last > 0);
        most = first > last ? first : last;
        int64_t each =
            inner > 0 ? (all + less - first - last + inner - 1) / inner : most;
        most = each > most ? each : most;
    }
    return most;
}

bool space_layout_read(struct space_layout *l, const json_t *parallelism,
                       const struct model *m)
{
    int method;
    const json_t *partition = json_object_get(parallelism, "partition");
    *l = (struct space_layout) { 0 };
    if (json_is_string(partition)) {
        if (names_find(parallelism_partition_names, json_string_value(partition),
                       &method) < 0)
            return false;
        const char *library =
            json_string_value(json_object_get(parallelism, "library"));
        if (!library || names_find(library_names, library, &l->library) < 0)
            l->library = -1;
        l->partition = partition;
        l->ends = partition_ends((enum partition_method)method);
        return true;
    }
    l->pipeline = degree_of(parallelism, "pipeline");
    l->chunks = degree_of(parallelism, "virtual_stages");
    if (!partition || l->pipeline < 2 || l->chunks < 1 ||
        (json_is_array(partition) &&
         (int64_t)json_array_size(partition) != l->pipeline * l->chunks))
        return false;
    l->partition = partition;
    l->folds = folds_of(parallelism);
    l->most = most_of(l, m);
    return true;
}

bool space_layout_holds(const struct space *s, const struct space_point *p)
{
    const struct space_layout *l = &s->layout;
    int64_t n = p->v[SPACE_PIPELINE], v = p->v[SPACE_VIRTUAL];
    int64_t stack = p->v[SPACE_LIBRARY];
    if (!l->partition || n == 1 || space_stacks[stack].dialect != DIALECT_WORDS)
        return false;
    if (json_is_string(l->partition))
        return (l->library < 0 ||
                (int)space_stacks[stack].row->library == l->library) &&
               (l->ends == 0 || (s->layers + l->ends) % (n * v) == 0);
    const struct schedule_traits *t =
        parallelism_schedule((enum schedule)p->v[SPACE_SCHEDULE]);
    return n == l->pipeline && v == l->chunks && t->folds == l->folds;
}

static bool folds(const struct space_point *p)
{
    return parallelism_schedule((enum schedule)p->v[SPACE_SCHEDULE])->folds;
}

bool space_layout_spreads(const struct space *s, const struct space_point *p)
{
    const struct space_stack *stack = &space_stacks[p->v[SPACE_LIBRARY]];
    int64_t parts = p->v[SPACE_PIPELINE] * p->v[SPACE_VIRTUAL];
    return p->v[SPACE_PIPELINE] > 1 && stack->dialect == DIALECT_WORDS &&
           stack->row->stage_counts && parts <= s->layers && s->layers % parts != 0 &&
           !space_layout_holds(s, p);
}

/* The stages in the order in which they have a layer less: that of the head, that of the
 * embedding, then from the last on. */
static int64_t relieved(int64_t n, bool folded, int64_t i)
{
    int64_t head = folded ? 0 : n - 1;
    return i == 0 ? head : i == 1 && !folded ? 0 : n - i;
}

/* Layers of each part, in the order of execution: as many, and what that is too many is
 * taken from the stages in turn, from the embedding's in its first chunk first. */
static json_t *spread(int64_t layers, int64_t n, int64_t chunks, bool folded)
{
    json_t *counts = json_array();
    int64_t parts = n * chunks, each = (layers + parts - 1) / parts,
            less = each * parts - layers;
    for (int64_t i = 0; i < parts; i++)
        json_array_append_new(counts, json_integer((json_int_t)each));
    for (int64_t i = 0; i < less; i++) {
        int64_t stage = relieved(n, folded, i % n), turn = i / n;
        bool first = stage == 0 && !folded;
        int64_t chunk = first ? turn : chunks - 1 - turn;
        json_array_set_new(counts, (size_t)partition_part(n, folded, stage, chunk),
                           json_integer((json_int_t)each - 1));
    }
    return counts;
}

void space_layout_put(const struct space *s, const struct space_point *p,
                      json_t *parallelism)
{
    json_t *partition = NULL;
    if (space_layout_holds(s, p))
        partition = json_deep_copy(s->layout.partition);
    else if (space_layout_spreads(s, p))
        partition =
            spread(s->layers, p->v[SPACE_PIPELINE], p->v[SPACE_VIRTUAL], folds(p));
    if (partition)
        json_object_set_new(parallelism, "partition", partition);
}

int space_layout_text(const struct space *s, const struct space_point *p, char *buf,
                      size_t size)
{
    int64_t n = p->v[SPACE_PIPELINE], most = (s->layers + n - 1) / n,
            less = n * most - s->layers;
    if (space_layout_holds(s, p))
        return snprintf(buf, size, ", layout as given");
    if (!space_layout_spreads(s, p))
        return snprintf(buf, size, "%s", "");
    if (less == 0) /* its chunks alone do not come out even */
        return snprintf(buf, size, ", %" PRId64 " layers a stage", most);
    return snprintf(buf, size,
                    ", %" PRId64 " layers a stage (%" PRId64 " on %" PRId64 ")", most,
                    most - 1, less);
}

double space_layout_most(const struct space *s, const struct space_point *p)
{
    return space_layout_holds(s, p) ? (double)s->layout.most : 0;
}
