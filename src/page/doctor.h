/* The data of a diagnosis for its page: the result, hypotheses in words, the time of
 * each step that was used. */
#ifndef PAGE_DOCTOR_H
#define PAGE_DOCTOR_H

#include "report/doctor.h"

#include <jansson.h>

/* Of more records than this, the longest of each stretch is kept. */
enum { PAGE_RECORDS = 2000 };

/* `result` is what --json writes; borrowed. A new tree. */
json_t *page_doctor(const struct report_doctor *r, json_t *result);

#endif
