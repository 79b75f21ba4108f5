/* Models by their ids on the Hugging Face hub: models/hub/ids.json. */
#ifndef MODEL_HUB_H
#define MODEL_HUB_H

#include "base/strbuf.h"
#include "config/cfg.h"

/* An id of the table, with what its row says. */
struct hub_id {
    const char *name;    /* as the table spells it */
    const char *family;  /* model_type; NULL: the shipped file says it */
    const char *shipped; /* the file of models/ that has its sizes; NULL: the row has */
    const char *source;  /* of the published count: a key of the table's "sources" */
    int64_t parameters;  /* as published */
    bool stored_twice;   /* the published count has the tied head's matrix once more */
    bool alias;          /* another row's sizes: a fine-tuned or renamed model */
    struct cfg base, row; /* of the table */
};

/* Whether the word is an id: "org/name", that is neither a path nor a file's name. */
bool hub_is_id(const char *word);

/* Whether the table has the id, by its name or by a rule (hub_find). */
bool hub_knows(struct cfg_loader *loader, const char *id);

/* The row of an id or of its name alone, whatever the case of its letters. Fine-tuned
 * variants ("-Instruct", "-chat", "-hf") and mirrors of other organisations have the
 * sizes of their original. false: none. */
bool hub_find(struct hub_id *found, struct cfg_loader *loader, const char *id);

/* The row whose name alone an id of another organisation has ("klue/roberta-base" of
 * roberta-base, before it had its own): its vocabulary may be another. NULL: the id is
 * the row's own, a mirror's or a path, or is not known. */
const char *hub_namesake(struct cfg_loader *loader, const char *id);

/* The family of an id that the table has as not modelled (family_refusal says why), by
 * the same rules; NULL: it has none. */
const char *hub_refused(struct cfg_loader *loader, const char *id);

/* Why an id of such a family is refused, as a sentence; NULL: it is of none. */
const char *hub_refusal(struct cfg_loader *loader, const char *id);

/* Up to three ids of the family that an unknown id's name has ("llama" of
 * "someone/my-llama-9b"), those of its size first, as "a, b, c"; NULL: there are none. */
const char *hub_kin(struct cfg_loader *loader, const char *id);

/* The known id that a fine-tuned model's name, or the path of its folder, says it was
 * made of ("Llama-3.1-Swallow-8B-v0.1" of Llama-3.1-8B): of those whose words it has in
 * their order and that leave no word of a size or of another architecture, the one of
 * most words. A guess, which has to be said. NULL: none. */
const char *hub_original(struct cfg_loader *loader, const char *id);

/* The config.json of an id. Where the table has none, an error at `where` suggests the
 * nearest, and the value is absent. What the id says that the sizes do not (weights of
 * 4 bits, an unknown organisation) is warned of. */
struct cfg hub_load(struct cfg_loader *loader, const char *id, struct cfg where);

/* All ids in the table's order, aliases after their row; for lists and tests. NULL
 * when the table cannot be read. The loader owns them. */
const struct hub_id *hub_ids(struct cfg_loader *loader, int64_t *n);

#endif
