#include "lib/lib.h"

#include "base/release.h"
#include "base/xmalloc.h"
#include "campaign/campaign.h"
#include "config/datadir.h"
#include "dialect/launch/launch.h"
#include "dialect/launch/launch_open.h"
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

const char *smsim_version(void)
{
    return VERSION_TEXT;
}

char *smsim_data(void)
{
    struct lib_call c;
    LIB_BEGIN(&c, NULL, LIB_ALONE)
    char *root = xstrdup(datadir_root(&c.loader.arena));
    lib_call_end(&c);
    return root;
}

void smsim_free(char *text)
{
    free(text);
}

/* Reading -------------------------------------------------------------------------- */

static int set_all(struct cfg root, const char *const *sets)
{
    int rc = root.json ? 0 : -1;
    for (int32_t i = 0; rc == 0 && i < lib_count(sets); i++)
        rc = cfg_set(root, sets[i]);
    return rc;
}

/* Whether the scenario and the sections beyond its step are right. */
static int check(struct lib_call *c, struct cfg root)
{
    struct scenario s = { 0 };
    struct campaign beyond;
    return scenario_read(&s, &c->loader, root) ? -1 : campaign_read(&beyond, &s);
}

static int read_script(struct lib_call *c, struct cfg *root, const char *file,
                       const char *const *sets, json_t *notes)
{
    struct launch l = { 0 };
    const struct launch_sets given = { lib_count(sets), sets };
    *root = launch_open(&l, &c->loader, file, &given, NULL);
    int rc = root->json ? launch_complete(&l, *root) : -1;
    if (rc == 0)
        rc = check(c, *root);
    launch_place(&l);
    for (int64_t i = 0; i < l.notes.n; i++)
        json_array_append_new(notes, diag_json(&l.notes.v[i]));
    launch_release(&l);
    return rc;
}

static int read_file(struct lib_call *c, struct cfg *root, const char *name,
                     const char *const *sets, json_t *notes)
{
    if (launch_is_script(name))
        return read_script(c, root, name, sets, notes);
    *root = datadir_load(&c->loader, "scenarios", name, (struct cfg) { 0 });
    return set_all(*root, sets) ? -1 : check(c, *root);
}

static void add_sets(struct smsim_job *job, int32_t n, const char *const *sets)
{
    job->sets =
        xrealloc(job->sets, (size_t)job->n_sets + (size_t)n, sizeof(*job->sets));
    for (int32_t i = 0; i < n; i++)
        job->sets[job->n_sets++] = xstrdup(sets[i]);
}

/* The job of a root that was checked. */
static struct smsim_job *make(struct lib_call *c, struct cfg root, const char *name,
                              json_t *notes)
{
    struct smsim_job *job = xcalloc(1, sizeof(*job));
    json_t *warnings = diags_json(&c->loader.diags);
    const char *text = cfg_document_text(root, &job->length);
    json_array_extend(warnings, notes);
    job->name = xstrdup(name);
    job->file = xstrdup(cfg_document_name(root));
    job->script = launch_is_script(name);
    job->text = text && !job->script ? xstrndup(text, job->length) : NULL;
    job->tree = json_deep_copy(root.json);
    job->json = lib_json(job->tree);
    job->warnings = lib_json(warnings);
    json_decref(warnings);
    return job;
}

/* What reading came to: NULL where rc says so. */
static struct smsim_job *made(struct lib_call *c, int rc, struct cfg root,
                              const char *name, json_t *notes)
{
    struct smsim_job *job = rc == 0 ? make(c, root, name, notes) : NULL;
    json_decref(notes);
    return job ? job : lib_call_fail(c);
}

static struct smsim_job *load(struct lib_call *c, const char *name,
                              const char *const *sets)
{
    struct cfg root;
    json_t *notes = json_array();
    int rc = read_file(c, &root, name, sets, notes);
    struct smsim_job *job = made(c, rc, root, name, notes);
    if (!job)
        return NULL;
    add_sets(job, lib_count(sets), sets);
    lib_call_end(c);
    return job;
}

struct smsim_job *smsim_load(const char *name, const char *const *sets,
                             struct smsim_error *error)
{
    struct lib_call c;
    LIB_BEGIN(&c, error, LIB_ALONE)
    return load(&c, name, sets);
}

static struct smsim_job *parse(struct lib_call *c, struct cfg root, const char *name,
                               const char *const *sets)
{
    int rc = set_all(root, sets) ? -1 : check(c, root);
    struct smsim_job *job = made(c, rc, root, name, json_array());
    if (!job)
        return NULL;
    add_sets(job, lib_count(sets), sets);
    lib_call_end(c);
    return job;
}

struct smsim_job *smsim_parse(const char *text, size_t length, const char *name,
                              const char *const *sets, struct smsim_error *error)
{
    struct lib_call c;
    LIB_BEGIN(&c, error, LIB_ALONE)
    const char *called = name ? name : "scenario";
    return parse(&c, cfg_parse(&c.loader, called, text, length), called, sets);
}

static struct smsim_job *change(struct lib_call *c, const struct smsim_job *from,
                                const char *const *sets)
{
    struct cfg root = lib_job_root(c, from);
    int rc = set_all(root, sets) ? -1 : check(c, root);
    struct smsim_job *job = made(c, rc, root, from->name, json_array());
    if (!job)
        return NULL;
    job->script = from->script;
    add_sets(job, from->n_sets, (const char *const *)from->sets);
    add_sets(job, lib_count(sets), sets);
    lib_call_end(c);
    return job;
}

struct smsim_job *smsim_changed(const struct smsim_job *job, const char *const *sets,
                                struct smsim_error *error)
{
    struct lib_call c;
    LIB_BEGIN(&c, error, LIB_ALONE)
    return change(&c, job, sets);
}

struct cfg lib_job_root(struct lib_call *c, const struct smsim_job *job)
{
    if (!job->text)
        return cfg_from_tree(&c->loader, job->file, json_deep_copy(job->tree));
    struct cfg root = cfg_parse(&c->loader, job->file, job->text, job->length);
    for (int32_t i = 0; i < job->n_sets; i++)
        cfg_set(root, job->sets[i]);
    return root;
}

void smsim_job_free(struct smsim_job *job)
{
    if (!job)
        return;
    for (int32_t i = 0; i < job->n_sets; i++)
        free(job->sets[i]);
    json_decref(job->tree);
    free(job->sets);
    free(job->name);
    free(job->file);
    free(job->text);
    free(job->json);
    free(job->warnings);
    free(job);
}

const char *smsim_job_json(const struct smsim_job *job)
{
    return job->json;
}

const char *smsim_job_warnings(const struct smsim_job *job)
{
    return job->warnings;
}
