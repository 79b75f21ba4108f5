/* What a model file was understood as, as text and as JSON. */
#ifndef REPORT_MODEL_REPORT_H
#define REPORT_MODEL_REPORT_H

#include "base/strbuf.h"
#include "model/summary.h"

#include <jansson.h>

/* What was taken though nothing said so: "sequence=4096", a text each; NULL ends. */
void report_model_text(struct strbuf *out, const struct model *m,
                       const struct model_summary *s, const char *const *assumed);

/* With the warnings of reading; a new tree. */
extern const struct contract report_model_contract;
json_t *report_model_json(const struct model *m, const struct model_summary *s,
                          const char *const *assumed, const struct diags *diags);

#endif
