#include "validation/job_release.h"

#include <string.h>

void job_releases_start(struct job_releases *r, const char *wanted)
{
    *r = (struct job_releases) { .wanted = wanted, .found = !wanted };
    strbuf_init(&r->listed);
}

void job_releases_add(struct job_releases *r, const char *software)
{
    const char *listed = strbuf_get(&r->listed);
    const char *name = NULL;
    r->found |= r->wanted && strcmp(r->wanted, software) == 0;
    for (const char *s = listed; !name && (s = strstr(s, software)) != NULL; s++) {
        const char *end = s + strlen(software);
        if ((s == listed || s[-1] == ' ') && (!*end || *end == ','))
            name = s;
    }
    if (!name)
        strbuf_printf(&r->listed, "%s%s", *listed ? ", " : "", software);
}

int job_releases_end(struct job_releases *r, const char *what, const char *gpu,
                     struct err *err)
{
    if (!r->found)
        err_set(err,
                "no %s of \"%.60s\" were measured on %s (those listed are of %.600s)",
                what, r->wanted, gpu, strbuf_get(&r->listed));
    strbuf_release(&r->listed);
    return r->found ? 0 : -1;
}
