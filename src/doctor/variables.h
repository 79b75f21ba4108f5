/* Variables of the environment that hurt, by what each does to a run. */
#ifndef DOCTOR_VARIABLES_H
#define DOCTOR_VARIABLES_H

#include "doctor/hypotheses.h"

/* What a value has to be for a variable to hurt. */
enum variable_when {
    VARIABLE_IS,       /* the text itself */
    VARIABLE_BELOW,    /* a number below `value` */
    VARIABLE_SINGLE,   /* any that names one thing alone: no list, no "^" */
    VARIABLE_CONTAINS, /* the text is in it */
    VARIABLE_NIC,      /* it names one NIC: "mlx5_0", not "mlx5" */
};

struct variable_effect {
    const char *name;
    enum variable_when when;
    const char *value;
    const char *hypothesis; /* its name; NULL: no row of the table says what it does */
    double evidence;        /* natural logarithm of the likelihood ratio */
    const char *text;
    bool verbs; /* of InfiniBand and RoCE alone: EFA does not ask for it */
};

/* The effect of a variable of a log on a job; NULL: none that hurts. */
const struct variable_effect *variable_effect_of(const struct logs_variable *v,
                                                 const struct doctor_facts *f);

/* The strongest evidence of a log's variables for a hypothesis; 0: none. *why says what it
 * is. */
double variable_evidence(const struct doctor_view *v, const char *hypothesis,
                         const char **why);

#endif
