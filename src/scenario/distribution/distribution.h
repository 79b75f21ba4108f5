/* SageMaker's "distribution" dictionary, which scenarios hold verbatim: how the job is
 * launched, and SMP's parameters.
 *
 * Files of this folder:
 *     distribution, mpi_options      launchers, and who reduces gradients by them
 *     smp, smp_params                which SMP it is; parameters as rows
 *     smp_v1, _rules, _apply         SMP v1: its words, what is refused, what they mean
 *     smp_v2                         SMP v2
 *     smp_script                     what a script says to SMP in its own code
 *     smp_rules                      rules that need degrees and training */
#ifndef SCENARIO_DISTRIBUTION_DISTRIBUTION_H
#define SCENARIO_DISTRIBUTION_DISTRIBUTION_H

#include "scenario/parse.h"

/* Each returns -1 after reporting. */
int distribution_read(struct parse_context *r);

/* Part of parallelism_read: "smp_script". */
int smp_script_read(struct parse_context *r, struct cfg c);

/* Part of rules_check: what needs degrees and training, after both. */
int smp_check(struct parse_context *r);

/* Within the folder: parts of distribution_read. */
int mpi_options_read(struct parse_context *r, struct cfg at, const char *text);
int smp_read(struct parse_context *r, struct cfg modelparallel, bool mpi, bool torch);
int smp_v1_read(struct parse_context *r, struct cfg parameters);
int smp_v2_read(struct parse_context *r, struct cfg parameters);

#endif
