/* The little of JSON that a config.json of Hugging Face needs: numbers, words and true
 * or false of the outermost object. What is nested is passed over. */
#ifndef SMSIM_MEASURE_JSON_IN_H
#define SMSIM_MEASURE_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_in {
    char *text; /* whole file */
};

/* -1 with the reason in `why` for a file that cannot be read or is no JSON object. */
int json_in_open(struct json_in *j, const char *file, char *why, size_t size);
void json_in_close(struct json_in *j);

/* The value of a key of the outermost object, or what represents one that is absent. */
int64_t json_in_int(const struct json_in *j, const char *key, int64_t otherwise);
double json_in_real(const struct json_in *j, const char *key, double otherwise);
bool json_in_flag(const struct json_in *j, const char *key, bool otherwise);
bool json_in_is(const struct json_in *j, const char *key, const char *word);

#endif
