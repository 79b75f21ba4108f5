#include "base/strbuf.h"
#include "page/palette.h"
#include "page/step.h"
#include "report/figure/step_data.h"

#include <string.h>

/* Intervals of one stream of one track, by their begins. */
struct lane {
    VEC(struct span) spans;
};

struct lanes {
    const struct step_figures *f;
    struct lane *v; /* [n_tracks * SPAN_STREAMS] */
    int64_t n_spans, end_ps;
    int64_t least_ps; /* shorter ones are merged */
};

static struct lane *lane_of(const struct lanes *x, int32_t track, int stream)
{
    return &x->v[(int64_t)track * SPAN_STREAMS + stream];
}

/* One kernel after the other of a pass is one interval, unless 20 us lie between. */
static bool continues(const struct span *last, const struct span *s)
{
    const int64_t gap_ps = 20000000;
    return last->kind == s->kind && last->number == s->number &&
           s->begun_ps >= last->begun_ps && s->begun_ps - last->ended_ps <= gap_ps;
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->begun_ps != y->begun_ps)
        return x->begun_ps < y->begun_ps ? -1 : 1;
    return (x->ended_ps > y->ended_ps) - (x->ended_ps < y->ended_ps);
}

static void collect(struct lanes *x)
{
    const struct step_figures *f = x->f;
    for (int64_t i = 0; i < f->spans.n; i++) {
        const struct span *s = &f->spans.v[i];
        if (s->stream == SPAN_STREAM_HOST && f->n_tracks > 1)
            continue; /* as many again as all others */
        struct lane *l = lane_of(x, s->track, s->stream);
        struct span *last = l->spans.n ? &l->spans.v[l->spans.n - 1] : NULL;
        if (last && continues(last, s)) {
            if (s->ended_ps > last->ended_ps)
                last->ended_ps = s->ended_ps;
        } else {
            VEC_PUSH(&l->spans, *s);
            x->n_spans++;
        }
        if (s->ended_ps > x->end_ps)
            x->end_ps = s->ended_ps;
    }
    for (int64_t i = 0; i < f->n_tracks * (int64_t)SPAN_STREAMS; i++)
        if (x->v[i].spans.n)
            qsort(x->v[i].spans.v, (size_t)x->v[i].spans.n, sizeof(struct span),
                  by_begin);
}

/* Neighbours that are short, with what lies between them, become one: of the longer's
 * kind. */
static void merge_short(struct lanes *x, struct lane *l)
{
    int64_t n = 0;
    for (int64_t i = 0; i < l->spans.n; i++) {
        struct span s = l->spans.v[i], *last = n ? &l->spans.v[n - 1] : NULL;
        int64_t length_ps = s.ended_ps - s.begun_ps;
        int64_t held_ps = last ? last->ended_ps - last->begun_ps : 0;
        if (last && length_ps < x->least_ps && held_ps < x->least_ps &&
            s.begun_ps - last->ended_ps < x->least_ps) {
            last->kind = length_ps > held_ps ? s.kind : last->kind;
            last->number = s.number == last->number ? s.number : -1;
            if (s.ended_ps > last->ended_ps)
                last->ended_ps = s.ended_ps;
            x->n_spans--;
        } else {
            l->spans.v[n++] = s;
        }
    }
    l->spans.n = n;
}

static void reduce(struct lanes *x)
{
    enum {
        FIRST = 20000
    }; /* of the step: pixels of a wide screen, ten times as fine */
    int64_t least_ps = x->end_ps / FIRST + 1;
    for (; x->n_spans > PAGE_INTERVALS && least_ps < x->end_ps; least_ps *= 2) {
        x->least_ps = least_ps;
        for (int64_t i = 0; i < x->f->n_tracks * (int64_t)SPAN_STREAMS; i++)
            merge_short(x, &x->v[i]);
    }
}

static void add_quantity(struct strbuf *b, int64_t v)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    do {
        int64_t low = v & 31;
        v >>= 5;
        strbuf_addch(b, digits[low + (v ? 32 : 0)]);
    } while (v);
}

static json_t *lane_json(const struct lane *l, int stream, int64_t unit_ps)
{
    struct strbuf b;
    int64_t at = 0;
    strbuf_init(&b);
    for (int64_t i = 0; i < l->spans.n; i++) {
        const struct span *s = &l->spans.v[i];
        int64_t begun = s->begun_ps / unit_ps, ended = s->ended_ps / unit_ps;
        add_quantity(&b, begun - at);
        add_quantity(&b, ended - begun);
        add_quantity(&b, s->kind + SPAN_KINDS * ((int64_t)s->number + 1));
        at = begun;
    }
    const char *name = stream == SPAN_STREAM_HOST      ? "host"
                       : stream == SPAN_STREAM_BUFFERS ? "fused buffers"
                                                       : names_of(stream_names, stream);
    json_t *o = json_pack("{s:s, s:s}", "name", name, "intervals", strbuf_get(&b));
    strbuf_release(&b);
    return o;
}

static json_t *track_json(const struct lanes *x, int32_t track, int64_t unit_ps)
{
    const struct watched *w = &x->f->tracks[track];
    json_t *streams = json_array();
    for (int k = -1; k < SPAN_STREAMS; k++) { /* the host first */
        int stream = k < 0 ? SPAN_STREAM_HOST : k;
        const struct lane *l = lane_of(x, track, stream);
        if (l->spans.n && (k < 0 || stream != SPAN_STREAM_HOST))
            json_array_append_new(streams, lane_json(l, stream, unit_ps));
    }
    return json_pack("{s:I, s:I, s:o}", "stage", (json_int_t)w->stage, "rank",
                     (json_int_t)w->number, "streams", streams);
}

/* In the order of enum span_kind. */
static json_t *kinds_json(void)
{
    json_t *list = json_array();
    for (int i = 0; i < SPAN_KINDS; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "name", figure_span_kinds[i].name, "meaning",
                            page_meaning_name(figure_span_kinds[i].meaning)));
    return list;
}

/* A round unit, of which the step has between 1 and 10 millions. */
static int64_t unit_of(int64_t end_ps)
{
    const int64_t most = 10000000;
    int64_t unit_ps = 1;
    while (end_ps / unit_ps > most)
        unit_ps *= 10;
    return unit_ps;
}

json_t *page_timeline(const struct step_figures *f)
{
    struct lanes x = { .f = f, .end_ps = 1 };
    x.v = xcalloc((size_t)f->n_tracks * SPAN_STREAMS + 1, sizeof(*x.v));
    collect(&x);
    reduce(&x);
    int64_t unit_ps = unit_of(x.end_ps);
    json_t *tracks = json_array();
    for (int32_t i = 0; i < f->n_tracks; i++)
        json_array_append_new(tracks, track_json(&x, i, unit_ps));
    json_t *o =
        json_pack("{s:f, s:f, s:f, s:I, s:o, s:o}", "unit_s", (double)unit_ps * 1e-12,
                  "end_s", (double)x.end_ps * 1e-12, "merged_below_s",
                  (double)x.least_ps * 1e-12, "accumulation_not_shown",
                  (json_int_t)(f->n_tracks > 0 ? f->tracks[0].extra : 0), "kinds",
                  kinds_json(), "tracks", tracks);
    for (int64_t i = 0; i < f->n_tracks * (int64_t)SPAN_STREAMS; i++)
        VEC_RELEASE(&x.v[i].spans);
    free(x.v);
    return o;
}
