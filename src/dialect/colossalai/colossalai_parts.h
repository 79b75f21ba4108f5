/* Between the files of this folder. */
#ifndef DIALECT_COLOSSALAI_COLOSSALAI_PARTS_H
#define DIALECT_COLOSSALAI_COLOSSALAI_PARTS_H

#include "dialect/colossalai/colossalai.h"
#include "dialect/launch/launch_context.h"
#include "dialect/launch/launch_shell.h"

enum colossalai_kind { ZERO, GEMINI, HYBRID, FSDP, DDP };

struct colossalai_plugin {
    const char *word;
    enum colossalai_kind kind;
    int stage;          /* of ZERO; 0: another option says it */
    bool offload, half; /* half: it converts to fp16 by default */
};

/* Programs whose parsers are known, distinguished by an option that the others lack. */
struct colossalai_program {
    const char *name, *mark, *model, *plugin, *precision; /* the last three: defaults */
    int64_t length, batch, accumulation;                  /* likewise; 0: not known */
    int64_t pipeline, expert, stage;                      /* likewise */
    double norm;
    const char *split; /* sp_mode's default; NULL: the plugin's */
    bool inside;       /* degrees are in its text */
    bool classifies;   /* GLUE */
};

/* Rows that are read one by one (colossalai_words.c). */
extern const struct dialect_option colossalai_rows[];

/* All options of the script, with "_" in their names; a value under a key, in place of
 * an earlier one. */
struct value *colossalai_words(struct launch_context *t,
                               const struct launch_command *c);
void colossalai_put(struct arena *arena, struct value *d, const char *key, int64_t line,
                    struct value *v);
void colossalai_leave_out(struct value *d, const char *key);

/* The first of the names that is given, NULL: none; whether it is on. */
const struct value_item *colossalai_any(const struct value *c,
                                        const char *const *names);
bool colossalai_is_on(struct launch_context *t, const struct value *c,
                      const char *const *names);

/* A plugin by its word; NULL: none. */
const struct colossalai_plugin *colossalai_plugin(const char *word);

/* Library and states of a plugin, which `it` names (NULL: the program's default). */
void colossalai_take_plugin(struct launch_context *t, const struct value *c,
                            const struct colossalai_program *program,
                            const struct colossalai_plugin *p,
                            const struct value_item *it);

void colossalai_take_batch(struct launch_context *t, const struct value *c,
                           const struct colossalai_program *program, bool hybrid);

/* The arguments of a class by the rows' names, with the batch of the loader (or NULL); the
 * kind of a class that colossalai_has_class(). */
struct value *colossalai_words_of_call(struct launch_context *t,
                                       const struct value *given,
                                       const struct value *batch, int64_t line);
enum colossalai_kind colossalai_kind_of(const char *class);

/* What the program's text makes of the plugin's options, in their place; `batch`: where no
 * option says it. false: its text is not there, or does not say which plugin it makes. */
bool colossalai_read_program(struct launch_context *t, const struct launch_command *c,
                             struct value *words,
                             const struct colossalai_plugin *plugin, int64_t batch);

#endif
