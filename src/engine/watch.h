/* Who is notified how far long work has come. */
#ifndef ENGINE_WATCH_H
#define ENGINE_WATCH_H

#include "engine/sim.h"

typedef void watch_fn(void *arg, int64_t done, int64_t total);

struct watch {
    watch_fn *notify; /* NULL: nobody */
    void *arg;
};

/* What counts as done of how much, at this instant. */
typedef void watch_count_fn(const void *of, int64_t *done, int64_t *total);

/* sim_run, which notifies the watch every few events, and at the end that all is
 * done. */
void watch_run(struct sim *sim, const struct watch *watch, watch_count_fn *count,
               const void *of);

#endif
