/* Scenarios with their sections beyond the step: the base of tests of campaigns. */
#ifndef TESTS_CAMPAIGN_BENCH_H
#define TESTS_CAMPAIGN_BENCH_H

#include "campaign/campaign.h"

#include "scenario_bench.h"

struct loaded {
    struct cfg_loader loader;
    struct scenario s;
    struct campaign c;
    int rc; /* of campaign_read */
};

/* `changes`: pointer=value, separated by blanks. */
static inline void bench_campaign(struct loaded *l, const char *text,
                                  const char *changes)
{
    bench_scenario(&l->loader, &l->s, text, "", changes);
    l->rc = campaign_read(&l->c, &l->s);
}

static inline void unload(struct loaded *l)
{
    cfg_loader_release(&l->loader);
}

#endif
