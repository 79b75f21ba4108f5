/* smsim collective --log: logs of nccl-tests against the prediction. */
#ifndef CMD_COLLECTIVE_LOG_H
#define CMD_COLLECTIVE_LOG_H

#include "cmd/options.h"
#include "doctor/bandwidth.h"
#include "draw/draw.h"

/* What is asked of logs. */
struct collective_logs {
    const char *cluster; /* as on the command line */
    struct bandwidth_ask ask;
    const char *json;    /* NULL: not asked for */
    struct draw_to plot; /* its path likewise */
    const struct option_list *logs;
};

/* Prints size by size what was measured and predicted, a verdict, and what fits; or writes
 * it. *slower is how many sizes are slower than normal; -1 after reporting, or with err
 * set. */
int collective_log(struct cfg_loader *loader, const struct collective_logs *q,
                   int64_t *slower, struct err *err);

#endif
