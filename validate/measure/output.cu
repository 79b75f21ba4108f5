#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct output_text *t, const char *s, size_t n)
{
    if (t->n + n + 1 > t->cap) {
        t->cap = 2 * (t->n + n + 1);
        t->s = (char *)realloc(t->s, t->cap);
        if (!t->s)
            abort();
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = '\0';
}

void output_add(struct output_text *t, const char *line, size_t n)
{
    add(t, t->n ? ",\n        " : "        ", t->n ? 10 : 8);
    add(t, line, n);
}

static int write_to(const struct output *o, FILE *out, bool complete)
{
    fprintf(out,
            "{\n    \"format\": \"smsim-measure\",\n    \"version\": 1,\n"
            "    \"complete\": %s,\n    \"date\": \"%s\",\n    \"driver\": \"%s\",\n"
            "    \"cuda\": %d,\n    \"cublas\": %d,\n",
            complete ? "true" : "false", o->date, o->driver, CUDART_VERSION,
            CUBLAS_VERSION);
#ifdef SMSIM_NO_NCCL
    fprintf(out, "    \"nccl\": null,\n");
#else
    fprintf(out, "    \"nccl\": true,\n");
#endif
    fprintf(out, "    \"devices\": [\n%s\n    ],\n    \"rows\": [\n%s\n    ]\n}\n",
            o->devices.s, o->rows.s ? o->rows.s : "");
    return ferror(out) ? -1 : 0;
}

int output_save(const struct output *o, bool complete)
{
    char temp[4096];
    snprintf(temp, sizeof(temp), "%s.part", o->options->out);
    FILE *out = fopen(temp, "w");
    if (!out) {
        fprintf(stderr, "smsim-measure: %s: %s\n", temp, strerror(errno));
        return -1;
    }
    int rc = write_to(o, out, complete);
    rc |= fclose(out);
    if (rc || rename(temp, o->options->out)) {
        fprintf(stderr, "smsim-measure: %s: %s\n", o->options->out, strerror(errno));
        remove(temp);
        return -1;
    }
    return 0;
}

void output_free(struct output *o)
{
    free(o->devices.s);
    free(o->rows.s);
}
