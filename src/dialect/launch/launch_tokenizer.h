/* How many entries a vocabulary has, by what a file says of its tokenizer: its class,
 * and the name of a file or of a model. */
#ifndef DIALECT_LAUNCH_LAUNCH_TOKENIZER_H
#define DIALECT_LAUNCH_LAUNCH_TOKENIZER_H

#include "dialect/launch/launch_context.h"

struct launch_vocabulary {
    int64_t n; /* 0: not known */
    const char
        *by; /* "the name \"tokenizer_32k\"", what it is guessed by; NULL: known */
};

/* Of a class of tokenizers that is always of one size (names.json's "vocabularies");
 * 0: of none. */
int64_t launch_words_of_class(struct launch_context *t, const char *name);

/* Of a model of the hub, by its id; 0: the table has none of that name. */
int64_t launch_words_of_hub(struct launch_context *t, const char *id);

/* Of the longest word of flavors.json's "vocabularies" within a text; 0: none. */
int64_t launch_words_within(struct launch_context *t, const char *text);

/* Of a tokenizer of a class (NULL: it is not known) that reads a path (NULL: it names
 * none). A file next to the script is counted: vocab.json, tokenizer.json, or a list by
 * lines. Of others the path names the class' own vocabulary ("gpt2-vocab.json"), or
 * a model of the hub, itself or as the directory. Else it is guessed: by a word of the
 * path, by the one number in it that is like a size ("tokenizer_32k", "nordic_131072"), or
 * by the class alone, which says less, as GPT2BPETokenizer reads everybody's merges. */
struct launch_vocabulary launch_vocabulary_of(struct launch_context *t,
                                              const char *name, const char *path);

/* "gpt/two" of ".../models--gpt--two/snapshots/4a": the folders of the Hub's cache are
 * named after ids (huggingface_hub, file_download.py, repo_folder_name); another path is
 * given back as it is. */
const char *launch_cached_id(struct arena *arena, const char *text);

/* The last two parts of a path, to name it in a message. */
const char *launch_path_end(const char *path);

#endif
