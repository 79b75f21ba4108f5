/* Readings of launch files: the base of tests of dialects. */
#ifndef TESTS_LAUNCH_BENCH_H
#define TESTS_LAUNCH_BENCH_H

#include "dialect/launch/launch.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a note, a question, an error or a warning has that part. */
static inline bool is_said(const struct launch *l, const char *part)
{
    for (int64_t i = 0; i < l->notes.n; i++)
        if (strstr(l->notes.v[i].text, part))
            return true;
    for (int64_t i = 0; i < l->unresolved.n; i++)
        if (strstr(l->unresolved.v[i].what, part))
            return true;
    for (int64_t i = 0; i < l->loader->diags.n; i++)
        if (strstr(l->loader->diags.v[i].text, part))
            return true;
    return false;
}

/* The text as a file of that ending, deep in a folder of its own: programs that it starts
 * are looked for in up to five folders above it. */
static inline struct cfg load_alone(struct launch *l, struct cfg_loader *loader,
                                    const char *text, const char *ending,
                                    const struct launch_given *given)
{
    char file[64] = "/tmp/smsim-launch-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(file));
    for (int deep = 0; deep < 5; deep++)
        CU_ASSERT_EQUAL_FATAL(mkdir(strcat(file, "/d"), 0700), 0);
    strcat(strcat(file, "/job"), ending);
    FILE *out = fopen(file, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(text, out);
    fclose(out);
    cfg_loader_init(loader);
    struct cfg root = launch_load(l, loader, file, given);
    unlink(file);
    for (int deep = 0; deep < 6; deep++) {
        *strrchr(file, '/') = '\0';
        rmdir(file);
    }
    return root;
}

/* A text or a file as a training program, and what it is read as. */
struct program_case {
    const char *text;
    const char *tree;  /* of the scenario, its keys in order */
    const char *noted; /* a part of a note, or of an error; NULL: any */
};

/* The file of that path, or (NULL) the text under that name. */
static inline void check_program(const char *path, const char *name,
                                 const struct program_case *c)
{
    struct cfg_loader loader;
    struct launch l = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = path ? launch_load(&l, &loader, path, NULL)
                           : launch_load_text(&l, &loader, name, c->text);
    char *tree = root.json ? json_dumps(root.json, JSON_COMPACT | JSON_SORT_KEYS |
                                                       JSON_REAL_PRECISION(6))
                           : NULL;
    CU_ASSERT_PTR_NOT_NULL(tree);
    CU_ASSERT_STRING_EQUAL(tree ? tree : "", c->tree);
    if (tree && strcmp(tree, c->tree) != 0)
        fprintf(stderr, "%s\n    gives %s\n    instead %s\n", c->text, tree, c->tree);
    CU_ASSERT(!c->noted || is_said(&l, c->noted));
    if (c->noted && !is_said(&l, c->noted))
        fprintf(stderr, "%s\n    does not say %s\n", c->text, c->noted);
    free(tree);
    launch_release(&l);
    cfg_loader_release(&loader);
}

#endif
