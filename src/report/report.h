/* Results for people and for programs. Computes nothing: what is shown is in the
 * result.
 *
 * Text is plain ASCII within 88 columns. JSON is written with twelve digits, keys in
 * the order of the contract, so that equal results are equal bytes.
 *
 * Files of this folder:
 *     text/, json/: a result's parts as text, and as JSON
 *     figure/: what of a result goes into figures; names and meanings in them
 *     provenance, ranges, replay_report, sweep_table: what several of them print
 *     all other headers: what the rooms have for a command, by its subject */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "campaign/campaign.h"
#include "config/contract.h"
#include "report/text/wrap.h"
#include "simulate/simulate.h"
#include "validation/applicability.h"
#include "validation/summary.h"

#include <jansson.h>
#include <stdio.h>

/* A step, and what its campaign adds; `beyond` may be NULL. */
void report_step_text(FILE *out, const struct scenario *s,
                      const struct simulate_result *r,
                      const struct campaign_result *beyond);
extern const struct contract report_simulate_contract;
json_t *report_step_json(const struct scenario *s, const struct simulate_result *r,
                         const struct campaign_result *beyond);

/* The verdict on it in one line: "fits with 4 GiB left; 591 ms a step (500-716), of which
 * 71 % waits for gradients". */
void report_verdict_text(FILE *out, const struct simulate_result *r);

/* The same of a plan. */
struct report_verdict {
    bool fits, near_limit;
    int64_t peak_B, capacity_B;
    double step_time_s;
    const double *range_s; /* two */
    const double *parts_s; /* by category */
};
void report_verdict_print(FILE *out, const struct report_verdict *v);

/* A line that is set off, green or red on a terminal's colours. */
void report_verdict_line(FILE *out, bool good, const char *line);

/* "assumed: ...": what the scenario leaves open, as it was decided; nothing where it
 * says all. The further lines are indented. */
void report_assumed(FILE *out, const char *first, const struct assumptions *a);

/* What a phase of a job is called for people. */
const char *report_phase_text(enum job_phase phase);

/* The part of the text that the campaign adds. */
void report_campaign_text(FILE *out, const struct campaign_result *r);
void report_uncertainty_text(FILE *out, const struct uncertainty_result *r);

/* One source: statistics per quantity, table and band, rank groups, what was dropped
 * and why; with `rows`, every row. */
void report_validation_text(FILE *out, const struct mapping_run *run,
                            const struct summary *s, bool rows);

/* The same in one line a quantity, below a header. */
void report_validation_brief_header(FILE *out);
void report_validation_brief(FILE *out, const struct mapping_run *run,
                             const struct summary *s);

json_t *report_validation_json(const struct mapping_run *run, const struct summary *s);

/* Errors of all sources' times by GPU, framework, nodes and tensor degree, and how many
 * rows keep the range that is stated of them. */
void report_applicability_text(FILE *out, const struct applicability_line *lines,
                               int32_t n, const struct applicability_coverage *c);
/* One line of the tables that no prediction was fitted to; nothing where there are
 * none. */
void report_held_out_text(FILE *out, const struct applicability_coverage *c);

/* What --json prints of a validation. */
struct report_validation {
    json_t *sources, *domains, *warnings;
    json_t *claims;  /* NULL: not asked for */
    json_t *choices; /* NULL: nothing is to choose */
    json_t *ranges;  /* NULL: of one source */
};
extern const struct contract report_validate_contract;

json_t *report_applicability_json(const struct applicability_line *lines, int32_t n);

/* What each part of a step is called for people, [CATEGORY_N]. */
extern const char *const report_part_texts[];

/* What memory holds, as people call it, and what is beyond the live tensors: the context,
 * NCCL's buffers, what the allocator cannot use. */
extern const char *const report_held_texts[LEDGER_KINDS];
extern const char report_context_text[];

/* applicability_cells' tree as a file, one cell a line. */
int report_applicability_write(json_t *tree, const char *path, struct err *err);

/* Writes a tree to a file, whole or not at all; "-" is standard output. */
int report_json_write(const json_t *tree, const char *path, struct err *err);

#endif
