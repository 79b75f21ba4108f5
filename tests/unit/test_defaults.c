/* What the pages say of keys is what reading does: a scenario without a key is that with
 * its default written, under every library; and what is said to be of some libraries is
 * refused, or noted as without effect, under the others. */
#include "base/strbuf.h"
#include "dialect/emit/emit_parts.h"
#include "scenario/libraries.h"
#include "schema/reference.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_defaults_register(void);

/* Two p4d.24xlarge, as each library would use them. */
static const struct base {
    const char *library, *parallelism;
} bases[] = {
    { "ddp", "{}" },
    { "smddp", "{}" },
    { "horovod", "{}" },
    { "parameter-server", "{}" },
    { "fsdp", "{\"sharding\": {\"strategy\": \"full\"}}" },
    { "smp-v2", "{\"sharding\": {\"strategy\": \"full\"}}" },
    { "deepspeed", "{\"sharding\": {\"strategy\": \"full\"}}" },
    { "megatron", "{\"tensor\": 2, \"pipeline\": 2}" },
    { "smp-v1", "{\"tensor\": 2, \"pipeline\": 2}" },
};
enum { BASES = sizeof(bases) / sizeof(bases[0]) };

static json_t *make_base(const struct base *b)
{
    json_t *p = json_loads(b->parallelism, 0, NULL);
    json_object_set_new(p, "library", json_string(b->library));
    return json_pack("{s:s, s:{s:s, s:i}, s:{s:i, s:i, s:s, s:s}, s:o}", "model",
                     "gpt2-large", "cluster", "instance", "p4d.24xlarge", "count", 2,
                     "training", "sequence_length", 512, "micro_batch_size", 2,
                     "precision", "amp_bf16", "activation_checkpointing", "full",
                     "parallelism", p);
}

struct loaded {
    struct cfg_loader loader;
    struct scenario s;
    int rc;
};

static void load(struct loaded *l, const json_t *root)
{
    char *text = json_dumps(root, 0);
    cfg_loader_init(&l->loader);
    l->rc = scenario_read(&l->s, &l->loader,
                          cfg_parse(&l->loader, "text", text, strlen(text)));
    free(text);
}

static void unload(struct loaded *l)
{
    cfg_loader_release(&l->loader);
}

/* Sets a key; objects on the way are made. */
static void set_key(json_t *root, const char *pointer, json_t *value)
{
    char part[64];
    for (;;) {
        size_t n = strcspn(pointer + 1, "/");
        snprintf(part, sizeof(part), "%.*s", (int)n, pointer + 1);
        pointer += n + 1;
        if (!*pointer)
            break;
        if (!json_is_object(json_object_get(root, part)))
            json_object_set_new(root, part, json_object());
        root = json_object_get(root, part);
    }
    json_object_set_new(root, part, value);
}

static const json_t *get_key(const json_t *root, const char *pointer)
{
    char part[64];
    while (root && *pointer == '/') {
        size_t n = strcspn(pointer + 1, "/");
        snprintf(part, sizeof(part), "%.*s", (int)n, pointer + 1);
        root = json_object_get(root, part);
        pointer += n + 1;
    }
    return root;
}

/* --- defaults ---------------------------------------------------------------------- */

/* "V (a, b); W (c); else X" for a library: V, W or X, into buf; the whole of other
 * texts. */
static const char *default_for(const char *text, const char *library, char *buf,
                               size_t size)
{
    while (*text) {
        size_t n = strcspn(text, ";");
        const char *list = memchr(text, '(', n);
        snprintf(buf, size, "%.*s", (int)n, text);
        if (strncmp(buf, "else ", 5) == 0)
            return memmove(buf, buf + 5, strlen(buf) - 4);
        if (!list)
            return buf;
        buf[list - text - 1] = '\0';
        char *names = buf + (list - text) + 1;
        names[strcspn(names, ")")] = '\0';
        for (char *w = strtok(names, ", "); w; w = strtok(NULL, ", "))
            if (strcmp(w, library) == 0)
                return buf;
        text += n + (text[n] == ';');
        text += strspn(text, " ");
    }
    return NULL;
}

/* A default as a file would have it; NULL: it is prose. */
static json_t *literal(const struct cfg_field *f, const char *text)
{
    int value;
    json_t *v = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    if (!text || v)
        return v;
    bool size = f->type == CFG_T_BYTES && strspn(text, "0123456789") > 0 &&
                strlen(text) > 3 && strcmp(text + strlen(text) - 3, "MiB") == 0;
    bool name = f->type == CFG_T_ENUM && names_find(f->names, text, &value) == 0;
    return size || name ? json_string(text) : NULL;
}

/* Whether the default, written, gives the scenario without it. */
static bool same_scenario(const struct scenario *a, const struct scenario *b,
                          const char **where)
{
    for (const struct emit_field *f = emit_fields; f->pointer; f++) {
        json_t *x = f->value(a), *y = f->value(b);
        bool same = json_equal(x, y);
        json_decref(x);
        json_decref(y);
        *where = f->pointer;
        if (!same)
            return false;
    }
    return true;
}

static bool check_default(const struct base *b, const struct reference_key *key,
                          json_t *value)
{
    struct loaded without, with;
    const char *where = "";
    json_t *root = make_base(b);
    bool adapters = strncmp(key->pointer, "/training/lora/", 15) == 0;
    bool refuses =
        adapters && strcmp(b->library, "smp-v1") == 0; /* with its tensor 2 */
    if (adapters)
        set_key(root, "/training/lora/rank", json_integer(8));
    bool given = refuses || get_key(root, key->pointer) != NULL;
    load(&without, root);
    set_key(root, key->pointer, json_incref(value));
    load(&with, root);
    bool ok = given || (without.rc == 0 && with.rc == 0 &&
                        same_scenario(&without.s, &with.s, &where));
    CU_ASSERT_TRUE(ok);
    if (!ok)
        fprintf(stderr, "%s under %s: %s: %s\n", key->pointer, b->library,
                with.rc ? diags_error_text(&with.loader.diags, 0) : "decides", where);
    unload(&with);
    unload(&without);
    json_decref(root);
    return !given;
}

static bool is_asked(const struct reference_key *key)
{
    bool section = strncmp(key->pointer, "/parallelism/", 13) == 0 ||
                   strncmp(key->pointer, "/training/", 10) == 0;
    return section && key->field && !strstr(key->pointer, "smp_script/");
}

static void test_defaults(void)
{
    struct cfg_loader l;
    struct reference r;
    int n = 0;
    cfg_loader_init(&l);
    CU_ASSERT_EQUAL_FATAL(reference_load(&r, &l, "scenario"), 0);
    for (int64_t k = 0; k < r.keys.n; k++)
        for (int i = 0; is_asked(&r.keys.v[k]) && i < BASES; i++) {
            char buf[400];
            const char *text = reference_default(&r, &r.keys.v[k]);
            text = text ? default_for(text, bases[i].library, buf, sizeof(buf)) : NULL;
            json_t *value = literal(r.keys.v[k].field, text);
            n += value && check_default(&bases[i], &r.keys.v[k], value);
            json_decref(value);
        }
    CU_ASSERT_TRUE(n > 150);
    reference_release(&r);
    cfg_loader_release(&l);
}

/* --- libraries ---------------------------------------------------------------------- */

/* Whether an error or a note is about the key. */
static bool is_said(const struct loaded *l, const char *pointer)
{
    const struct diag *d;
    for (int64_t i = 0; (d = diags_get(&l->loader.diags, DIAG_ERROR, i)); i++)
        if (d->pointer && strcmp(d->pointer, pointer) == 0)
            return true;
    for (int32_t i = 0; i < l->s.n_notes; i++)
        if (strcmp(l->s.notes[i].pointer, pointer) == 0)
            return true;
    return false;
}

/* Degrees and what goes with them are plain for scripts that bring them; the search
 * alone asks the rows (libraries.h). Elements act in whatever shards. */
static const char *const open_to_all[] = {
    "/parallelism/tensor",
    "/parallelism/sequence_parallel",
    "/parallelism/pipeline",
    "/parallelism/virtual_stages",
    "/parallelism/context",
    "/parallelism/context_comm",
    "/parallelism/expert",
    "/parallelism/expert_tensor",
    "/parallelism/expert_load",
    "/parallelism/expert_dispatcher",
    "/parallelism/expert_overlap",
    "/parallelism/sharding/param_persistence_elements",
    "/parallelism/sharding/max_live_elements",
    NULL,
};

static bool is_listed(const char *list, const char *library)
{
    size_t n = strlen(library);
    for (const char *at = list; (at = strstr(at, library)); at += n)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ','))
            return true;
    return false;
}

static void check_owner(const struct base *b, const struct reference_key *key,
                        const char *owners)
{
    struct loaded l;
    json_t *root = make_base(b);
    set_key(root, key->pointer, json_deep_copy(json_object_get(key->text, "example")));
    load(&l, root);
    const struct library_row *row = library_of(&l.s.parallel);
    row = row->planned_as ? row->planned_as : row;
    bool ok = is_listed(owners, row->name) || is_said(&l, key->pointer);
    CU_ASSERT_TRUE(ok);
    if (!ok)
        fprintf(stderr, "%s acts under %s, which is not of %s\n", key->pointer,
                row->name, owners);
    unload(&l);
    json_decref(root);
}

static void test_owners(void)
{
    struct cfg_loader l;
    struct reference r;
    int n = 0;
    cfg_loader_init(&l);
    CU_ASSERT_EQUAL_FATAL(reference_load(&r, &l, "scenario"), 0);
    for (int64_t k = 0; k < r.keys.n; k++) {
        const struct reference_key *key = &r.keys.v[k];
        const char *owners = reference_libraries(&r, key);
        bool asked = is_asked(key) && owners && key->field->type != CFG_T_CHILD &&
                     !names_listed(open_to_all, key->pointer);
        for (int i = 0; asked && i < BASES; i++, n++)
            check_owner(&bases[i], key, owners);
    }
    CU_ASSERT_TRUE(n > 100);
    reference_release(&r);
    cfg_loader_release(&l);
}

/* Whether a generation of SMP knows a parameter of its dictionary. */
static bool knows(bool second, const struct reference_key *key)
{
    struct loaded l;
    const struct diag *d;
    bool known = true;
    json_t *root = make_base(&bases[0]);
    json_object_del(root, "parallelism");
    json_object_set_new(root, "distribution",
                        json_pack("{s:{s:b}, s:{s:{s:b}}}",
                                  second ? "torch_distributed" : "mpi", "enabled", 1,
                                  "smdistributed", "modelparallel", "enabled", 1));
    set_key(root, key->pointer, json_deep_copy(json_object_get(key->text, "example")));
    load(&l, root);
    for (int64_t i = 0; (d = diags_get(&l.loader.diags, DIAG_ERROR, i)); i++)
        known &= !(d->pointer && strcmp(d->pointer, key->pointer) == 0 &&
                   (d->code == DIAG_UNKNOWN_KEY || d->code == DIAG_REFUSED_KEY));
    unload(&l);
    json_decref(root);
    return known;
}

/* Parameters of SMP's dictionaries are of the generations that the pages name. */
static void test_generations(void)
{
    static const char prefix[] =
        "/distribution/smdistributed/modelparallel/parameters/";
    struct cfg_loader l;
    struct reference r;
    int n = 0;
    cfg_loader_init(&l);
    CU_ASSERT_EQUAL_FATAL(reference_load(&r, &l, "scenario"), 0);
    for (int64_t k = 0; k < r.keys.n; k++) {
        const struct reference_key *key = &r.keys.v[k];
        const char *text = reference_text(key, "libraries");
        if (strncmp(key->pointer, prefix, sizeof(prefix) - 1) != 0 || !key->text)
            continue;
        bool first = text && strstr(text, "v1"), second = text && strstr(text, "v2");
        bool ok = knows(false, key) == first && knows(true, key) == second;
        CU_ASSERT_TRUE(ok);
        if (!ok)
            fprintf(stderr, "%s is not of %s\n", key->pointer, text ? text : "any");
        n++;
    }
    CU_ASSERT_TRUE(n > 35);
    reference_release(&r);
    cfg_loader_release(&l);
}

void test_defaults_register(void)
{
    CU_pSuite suite = CU_add_suite("defaults", NULL, NULL);
    CU_ADD_TEST(suite, test_defaults);
    CU_ADD_TEST(suite, test_owners);
    CU_ADD_TEST(suite, test_generations);
}
