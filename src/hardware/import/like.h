/* A description while it becomes an instance, and the known instance that fills its
 * gaps. Between import.c and hardware/import/like.c. */
#ifndef HARDWARE_IMPORT_LIKE_H
#define HARDWARE_IMPORT_LIKE_H

#include "base/strbuf.h"
#include "hardware/import/import.h"

struct import_filling {
    const struct import *im;
    const struct raw_import *words;
    struct cfg_loader *loader;
    struct instance *inst;
    enum import_joint joint;
    const struct gpu *gpu;       /* named by the user or by the file; NULL */
    const struct instance *like; /* fills the gaps */
    struct strbuf taken;         /* "host memory, fabric ..." */
    struct strbuf others;        /* "; as like are p4de.24xlarge ..." */
};

/* Sets joint, gpu and like: the instance that the user names, else of those shipped
 * that nothing in the file speaks against, the one that shares most with it. -1 after
 * reporting that there is none. */
int import_choose_like(struct import_filling *f);

bool import_joint_is(enum import_joint joint, enum fabric_kind kind);
int import_links_of(const struct import *im, int32_t gpu); /* NVLinks to other GPUs */
bool import_same_numa(const struct import *im, const struct instance *inst);

/* Reports "file: what (mend)"; returns -1. */
int import_fail(const struct import_filling *f, const char *what, const char *mend);

#endif
