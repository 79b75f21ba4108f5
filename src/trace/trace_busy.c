#include "trace/trace_busy.h"

static const int64_t window_ps = 1000000000;

static void say(struct trace_busy *b, struct trace_json *j)
{
    int64_t percent = (int64_t)(b->busy_ps / (double)window_ps * 100 + 0.5);
    b->busy_ps = 0;
    if (percent == b->percent)
        return;
    b->percent = percent;
    trace_json_event(j, 'C', b->instance, 0, b->window * window_ps);
    trace_json_text(j, ",\"name\":\"");
    trace_json_text(j, b->what);
    trace_json_text(j, " of GPU ");
    trace_json_int(j, b->gpu);
    trace_json_text(j, " busy (percent)\",\"args\":{\"busy\":");
    trace_json_int(j, percent);
    trace_json_text(j, "}}");
}

static void go_to(struct trace_busy *b, struct trace_json *j, int64_t window)
{
    if (window == b->window)
        return;
    say(b, j);
    if (window > ++b->window) /* nothing in between */
        say(b, j);
    b->window = window;
}

void trace_busy_add(struct trace_busy *b, struct trace_json *j, int64_t from_ps,
                    int64_t to_ps, double share)
{
    while (from_ps < to_ps) {
        go_to(b, j, from_ps / window_ps);
        int64_t until_ps = (b->window + 1) * window_ps;
        if (until_ps > to_ps)
            until_ps = to_ps;
        b->busy_ps += share * (double)(until_ps - from_ps);
        from_ps = until_ps;
    }
}

void trace_busy_end(struct trace_busy *b, struct trace_json *j)
{
    say(b, j);
    b->window++;
    say(b, j);
}
