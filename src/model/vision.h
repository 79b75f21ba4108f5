/* Models that read pictures and words: a language model and a tower. Private to
 * src/model/. */
#ifndef MODEL_VISION_H
#define MODEL_VISION_H

#include "model/families/families.h"

struct vision;

/* The model_type of such a model; NULL: it is none. */
const struct vision *vision_find(const char *name);

/* The member of a file that has its tower. */
const char *vision_reads(const struct vision *v);

/* The i-th of them; NULL after the last. */
const char *vision_name(int64_t i);

/* A part's file as its family says, with what the class of the whole leaves unsaid
 * (NULL: the family's own). */
typedef int vision_read_fn(struct family_raw *raw, struct cfg root,
                           const struct family *family, const struct family_raw *usual);

/* Both parts of a file. What is not in it is assumed with a warning: how many pictures
 * a sequence has, and how large they are. -1 after reporting. */
int vision_read(struct model *m, struct cfg root, const struct vision *v,
                vision_read_fn *read);

#endif
