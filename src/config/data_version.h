/* Which data the program reads: their place, their hash, how many there are. */
#ifndef CONFIG_DATA_VERSION_H
#define CONFIG_DATA_VERSION_H

#include "base/arena.h"

#include <stdint.h>

struct data_version {
    const char *root; /* in the arena */
    uint64_t hash;    /* of names and bytes of all files that simulations may read */
    int64_t files;    /* 0: no data are there */
    int64_t tables;   /* of published measurements */
};

/* O(bytes): a megabyte or two. */
void data_version_get(struct data_version *v, struct arena *arena);

#endif
