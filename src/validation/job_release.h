/* A kernel's "software": one of those whose kernels were measured. */
#ifndef VALIDATION_JOB_RELEASE_H
#define VALIDATION_JOB_RELEASE_H

#include "base/err.h"
#include "base/strbuf.h"

struct job_releases {
    const char *wanted; /* NULL: any */
    bool found;
    struct strbuf listed; /* each once */
};

void job_releases_start(struct job_releases *r, const char *wanted);
/* Of each that is listed. */
void job_releases_add(struct job_releases *r, const char *software);
/* -1 with err set, by name and with those that are listed: it is none of them. `what` it
 * should have run ("bf16 products"), on a GPU. What the list held is released. */
int job_releases_end(struct job_releases *r, const char *what, const char *gpu,
                     struct err *err);

#endif
