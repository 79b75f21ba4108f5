/* What was made of a file, kept once per loader: GPUs, fabrics, instances. A name that
 * failed is kept too, as NULL, so that its errors are reported once. Lookups walk a
 * list: a few dozen names at most. */
#ifndef CONFIG_CACHE_H
#define CONFIG_CACHE_H

#include "config/cfg.h"

/* Whether `name` of that kind was added; then *value is what was added. */
bool cache_find(const struct cfg_loader *loader, const char *kind, const char *name,
                const void **value);

/* Adds a value that lives as long as the loader; kind is a literal, name is copied. */
void cache_add(struct cfg_loader *loader, const char *kind, const char *name,
               const void *value);

/* What a file is called: "my/gpu.json" is "gpu". In the arena. */
const char *cache_basename(struct arena *arena, const char *name);

#endif
