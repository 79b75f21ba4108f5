/* What was made of a file, kept once per loader: GPUs, fabrics, instances, profiles. A
 * name that failed is kept too, as NULL, so that its errors are reported once. Lookups
 * walk a list: a few dozen names at most.
 *
 * Loaders that live one after the other, as those of a sweep's points, share another
 * that outlives them (cfg_loader.shared; of the same thread). Files are read there, and
 * lent; but one that gives rise to an error or a warning each loader reads itself, so
 * that it is reported as if nothing were shared. */
#ifndef CONFIG_CACHE_H
#define CONFIG_CACHE_H

#include "config/cfg.h"

/* Whether `name` of that kind was added; then *value is what was added. */
bool cache_find(const struct cfg_loader *loader, const char *kind, const char *name,
                const void **value);

/* Adds a value that lives as long as the loader; kind is a literal, name is copied. */
void cache_add(struct cfg_loader *loader, const char *kind, const char *name,
               const void *value);

/* Makes a value of the file of that name, which `where` asks for; in the loader's
 * arena. NULL when anything was reported. */
typedef const void *cache_make_fn(struct cfg_loader *loader, const char *name,
                                  struct cfg where);

/* Whether it is a value that was added: it lives as long as the loader. */
bool cache_holds(const struct cfg_loader *loader, const void *value);

/* The value of that kind and name: found, lent, or else made and added. */
const void *cache_get(struct cfg_loader *loader, const char *kind, const char *name,
                      struct cfg where, cache_make_fn *make);

/* What a file is called: "my/gpu.json" is "gpu". In the arena. */
const char *cache_basename(struct arena *arena, const char *name);

#endif
