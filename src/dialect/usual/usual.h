/* The document of a program of one's own, which no framework has: a model by name, a batch
 * and a rate of learning, in sections that the program calls what it likes. What a value is
 * usually called is what it is taken to be; what decides a step and is not there is asked
 * for, as the program's text is not.
 *
 * Files of this folder:
 *     usual       the document
 *     usual_model a decoder of the program's own, by its sizes
 *     usual_words words that no row of the Trainer's has */
#ifndef DIALECT_USUAL_USUAL_H
#define DIALECT_USUAL_USUAL_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

enum { USUAL_DEPTH = 3 }; /* of sections in which a name is looked for */

bool usual_recognises(const struct dialect_input *in);
void usual_read(struct launch_context *t, const struct dialect_input *in);

/* The value of a name of the list in the dictionary, or in those within it; NULL. */
const struct value_item *usual_value(const struct value *v, const char *const *names,
                                     int depth);

/* usual_model.c: whether a document has the sizes of a decoder of its program's own; sets
 * the model by them, which go out of the document, and asks for what lacks. */
bool usual_has_sizes(const struct value *root);
void usual_take_sizes(struct launch_context *t, struct value *root);

/* The method that a document names: sets the task, asks for it, or refuses the document of
 * a training on what a model generates. */
void usual_take_method(struct launch_context *t, const struct value *root);

/* What a document in a framework's words has of its program's own: the cluster of a
 * scheduler's section, and a method by its name. */
void usual_take_own(struct launch_context *t, const struct value *root);

/* The nodes and the GPUs of each that it says. */
void usual_take_cluster(struct launch_context *t, const struct value *root);

#endif
