/* A step as one page that needs nothing else: summary, figures as SVG inside it, result
 * and scenario as JSON. Two equal runs give the same bytes. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "campaign/campaign.h"
#include "report/figure_step.h"

#include <jansson.h>

/* `scenario` is the file that was read, changed by what the command line set. */
int html_write(const struct step_figures *f, const struct scenario *s,
               const struct simulate_result *r, const struct campaign_result *beyond,
               const json_t *scenario, const char *path, struct err *err);

#endif
