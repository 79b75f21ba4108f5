/* A diagnosis (doctor/doctor.h), for people and for programs. */
#ifndef REPORT_DOCTOR_H
#define REPORT_DOCTOR_H

#include "config/contract.h"
#include "doctor/doctor.h"

#include <stdio.h>

struct report_doctor {
    const char *job;
    const struct doctor *d;
};

void report_doctor_text(FILE *out, const struct report_doctor *r);
/* The part of it that is of traces. */
void report_doctor_traces(FILE *out, const struct doctor *d);
json_t *report_doctor_traces_json(const struct logs *l);
extern const struct contract_object report_doctor_trace;
/* Families of causes for people, and the logs that would separate their members. */
extern const char *const report_family_texts[DOCTOR_FAMILIES];
extern const char *const report_family_logs[DOCTOR_FAMILIES];
/* The part of it that explains. */
void report_doctor_next(FILE *out, const struct doctor *d); /* what to do */
void report_doctor_causes(FILE *out, const struct doctor_causes *c);
extern const struct contract report_doctor_contract;

#endif
