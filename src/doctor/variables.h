/* Variables of the environment that hurt, as evidence of a log. */
#ifndef DOCTOR_VARIABLES_H
#define DOCTOR_VARIABLES_H

#include "doctor/hypotheses.h"
#include "scenario/variable_effects.h"

/* The effect of a variable of a log on a job; NULL: none that hurts. */
const struct variable_effect *variable_effect_of(const struct logs_variable *v,
                                                 const struct doctor_facts *f);

/* The name of the hypothesis that says what it does; NULL: none does. */
const char *variable_hypothesis(const struct variable_effect *e);

/* The strongest evidence of a log's variables for a hypothesis; 0: none. *why says what it
 * is. */
double variable_evidence(const struct doctor_view *v, const char *hypothesis,
                         const char **why);

/* The job without the variables of its own environment that the logs have, too, and that
 * take its GPUs' connections: they are a cause, and the job is healthy without them. To be
 * released. */
json_t *variables_healthy(const json_t *job, const struct logs_variables *logs);

#endif
