#include "engine/watch.h"

/* An event of the chunk fidelity may be a thousand messages: few at a time. */
enum { EVENTS = 64 };

void watch_run(struct sim *sim, const struct watch *watch, watch_count_fn *count,
               const void *of)
{
    int64_t done, total;
    if (!watch->notify) {
        sim_run(sim);
        return;
    }
    while (sim_run_some(sim, EVENTS)) {
        count(of, &done, &total);
        if (done < total)
            watch->notify(watch->arg, done, total);
    }
    watch->notify(watch->arg, 1, 1);
}
