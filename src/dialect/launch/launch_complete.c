/* What a file leaves open, after --set; and the places of what was reported. */
#include "base/file.h"
#include "config/datadir.h"
#include "config/pointer.h"
#include "dialect/dialect.h"
#include "dialect/launch/launch_ask.h"
#include "dialect/launch/launch_context.h"
#include "hardware/instance.h"
#include "model/model.h"
#include "scenario/scenario.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the script says is still shown where --set says something else. */
static void mark_replaced(struct launch *l, struct cfg root)
{
    for (int64_t i = 0; i < l->resolved.n; i++) {
        struct launch_resolved *f = &l->resolved.v[i];
        json_t *now = pointer_get(root.json, f->pointer);
        char *text = now ? json_dumps(now, LAUNCH_SHOWN) : NULL;
        f->replaced = !text || strcmp(text, f->value) != 0;
        free(text);
    }
}

static const char sequence_at[] = "/training/sequence_length";

/* The model of the scenario, to ask for its positions alone; what is wrong with it is
 * reported when the scenario is read. */
static bool peek_model(struct model *m, struct cfg_loader *loader, struct cfg root)
{
    json_t *model = json_object_get(root.json, "model");
    json_t *all = model ? json_pack("{s:O}", "model", model) : NULL;
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    cfg_loader_init(loader);
    bool known =
        text && model_read(m, loader,
                           cfg_get(cfg_parse(loader, "model", text, strlen(text)),
                                   "model")) == 0;
    free(text);
    json_decref(all);
    return known;
}

/* How the words of the note go on before the program's name. */
static const char *said_of(const struct launch_lengths *own, bool pictures)
{
    bool as = pictures || own->full || own->each;
    return as         ? "as"
           : own->cut ? "the most that the model takes, at which texts are cut by"
                      : "the most by its default and padded to the longest of a "
                        "batch, as";
}

/* Where nothing else gives one: the length that a model of pictures always reads, or
 * the program's own, or the most that it lets through, of at most the model's
 * positions. */
static void settle_lengths(struct launch *l, struct cfg root)
{
    const struct launch_lengths *own = &l->lengths;
    struct cfg_loader loader;
    struct model m;
    struct err err = { 0 };
    bool model_s = own->full || own->cut;
    if (l->has_program && !model_s)
        l->lengths = (struct launch_lengths) { 0 };
    if (launch_is_set(root, sequence_at))
        return;
    bool known = peek_model(&m, &loader, root);
    int64_t most = known ? m.ends.positions - m.ends.positions_unused : 0;
    if (known && m.stages)
        most = model_stage_tokens(&m, 0);
    bool pictures = known && m.ends.patch && m.arch == MODEL_ENCODER && most > 0;
    int64_t each = model_s ? most : own->each ? own->each : own->longest;
    bool open = launch_unresolved_of(l, sequence_at) != NULL;
    int64_t n = pictures ? most : open ? 0 : known && most && most < each ? most : each;
    if (n && pointer_set(root.json, sequence_at, json_integer(n), &err) == 0)
        launch_note(l, pictures || !own->line ? l->line : own->line, DIAG_ASSUMED,
                    "sequences are of %" PRId64
                    " tokens, %s %.80s%s (give --set /training/sequence_length=... "
                    "for others)",
                    n, said_of(own, pictures), pictures ? m.name : own->program,
                    own->cut && !pictures ? "; shorter ones are taken to be as long"
                                          : " has them");
    cfg_loader_release(&loader);
}

/* Targets of a known program, to which nothing gives a length, of a model that has a
 * decoder after an encoder. */
static void settle_decoder(struct launch *l, struct cfg root)
{
    static const char at[] = "/training/decoder_length";
    const struct launch_lengths *own = &l->lengths;
    struct cfg_loader loader;
    struct model m;
    struct err err = { 0 };
    if (!own->decoder || l->has_program || launch_is_set(root, at) ||
        launch_unresolved_of(l, at))
        return;
    bool pairs = peek_model(&m, &loader, root) && m.arch == MODEL_ENCODER_DECODER;
    cfg_loader_release(&loader);
    if (pairs && pointer_set(root.json, at, json_integer(own->decoder), &err) == 0)
        launch_note(l, own->line, DIAG_ASSUMED,
                    "targets are cut at %" PRId64
                    " tokens, %.80s's default, and taken to be as long (give --set "
                    "%s=... for others)",
                    own->decoder, own->program, at);
}

/* What the file itself says of a pointer; NULL: nothing, or --set goes before. */
static const struct launch_resolved *said_of_pointer(const struct launch *l,
                                                     const char *pointer)
{
    const struct launch_resolved *found = NULL;
    for (int64_t i = 0; i < l->resolved.n; i++)
        if (strcmp(l->resolved.v[i].pointer, pointer) == 0 &&
            !l->resolved.v[i].replaced)
            found = &l->resolved.v[i];
    return found;
}

/* A model that reads sounds and writes texts (Whisper): sounds are padded to all of its
 * frames, and the length that a file has is of its texts (transformers 4.57,
 * models/whisper/feature_extraction_whisper.py). */
static void settle_sounds(struct launch *l, struct cfg root)
{
    static const char decoder_at[] = "/training/decoder_length";
    struct launch_context t = { .l = l, .arena = &l->loader->arena, .tree = root.json };
    const struct launch_resolved *said = said_of_pointer(l, sequence_at);
    json_t *length = pointer_get(root.json, sequence_at);
    struct cfg_loader loader;
    struct model m;
    struct err err = { 0 };
    bool sounds = peek_model(&m, &loader, root) && m.arch == MODEL_ENCODER_DECODER &&
                  m.ends.frames > 0;
    cfg_loader_release(&loader);
    if (!sounds || (length && !said) || launch_unresolved_of(l, sequence_at))
        return;
    if (length && !launch_is_set(root, decoder_at))
        pointer_set(root.json, decoder_at, json_incref(length), &err);
    pointer_set(root.json, sequence_at, json_integer(m.ends.frames), &err);
    launch_note(l, l->line, DIAG_ASSUMED,
                "sounds are padded to all of the model's %" PRId64
                " frames (give --set "
                "%s=... for others)%s",
                m.ends.frames, sequence_at,
                said ? "; the length that is read is that of texts" : "");
    if (!launch_is_set(root, decoder_at) && !launch_unresolved_of(l, decoder_at)) {
        launch_add_unresolved(&t, decoder_at, l->line,
                              "%s does not say how long the texts of sounds are",
                              l->what ? l->what : "the script");
        launch_add_example(&t, decoder_at, "128");
    }
}

/* A task that the model can have is the example for a program that is not known. */
static void propose_task(struct launch *l, struct cfg root)
{
    static const char task_at[] = "/training/task";
    const struct launch_unresolved *open = launch_unresolved_of(l, task_at);
    struct launch_context t = { .l = l, .arena = &l->loader->arena, .tree = root.json };
    struct cfg_loader loader;
    struct model m;
    if (!open || open->example || !strstr(open->what, "what it trains is not said"))
        return;
    bool known = peek_model(&m, &loader, root);
    const char *task = !known                            ? NULL
                       : m.arch == MODEL_ENCODER_DECODER ? "seq2seq"
                       : m.arch != MODEL_ENCODER         ? NULL
                       : m.ends.patch                    ? "classification"
                                                         : "masked-lm";
    cfg_loader_release(&loader);
    if (task)
        launch_add_example(&t, task_at, task);
}

/* The batch of a known program that nothing gives. */
static void settle_batch(struct launch *l, struct cfg root)
{
    static const char micro[] = "/training/micro_batch_size",
                      global[] = "/training/global_batch_size";
    const struct launch_lengths *own = &l->lengths;
    struct err err = { 0 };
    if (!own->batch || launch_is_set(root, micro) || launch_is_set(root, global) ||
        launch_unresolved_of(l, micro) || launch_unresolved_of(l, global) ||
        pointer_set(root.json, micro, json_integer(own->batch), &err) < 0)
        return;
    launch_note(l, own->line, DIAG_ASSUMED,
                "a GPU takes %" PRId64
                " sequences at once, %.80s's default (give --set "
                "%s=... for others)",
                own->batch, own->program, micro);
}

/* A reference model that a file names, where its task compares with none: the program
 * does not load it. */
static void drop_reference(struct launch *l, struct cfg root)
{
    static const char at[] = "/training/reference_model", task_at[] = "/training/task";
    const char *task = json_string_value(pointer_get(root.json, task_at));
    if (scenario_task_compares(task) || launch_unresolved_of(l, task_at))
        return;
    int64_t kept = 0;
    for (int64_t i = 0; i < l->resolved.n; i++) {
        const struct launch_resolved f = l->resolved.v[i];
        if (f.replaced || strcmp(f.pointer, at) != 0) {
            l->resolved.v[kept++] = f;
            continue;
        }
        json_object_del(json_object_get(root.json, "training"), "reference_model");
        launch_note(l, f.line, DIAG_WITHOUT_EFFECT, "without effect here: %s", f.from);
    }
    l->resolved.n = kept;
}

/* An instance of the file's that is known and not simulated is said before anything is
 * asked for. */
static bool refuses_instance(struct launch *l, struct cfg root)
{
    static const char pointer[] = "/cluster/instance";
    const char *name = json_string_value(pointer_get(root.json, pointer));
    const char *plain = name ? instance_plain_name(name) : "";
    const char *path = datadir_file(&l->loader->arena, "topologies/instances", plain);
    const char *why = file_is_there(path) ? NULL : instance_absent(l->loader, plain);
    for (int64_t i = 0; why && i < l->resolved.n; i++) {
        const struct launch_resolved *f = &l->resolved.v[i];
        struct diag at = launch_diag(l, DIAG_UNSUPPORTED, f->line, 0);
        at.pointer = pointer;
        if (strcmp(f->pointer, pointer) != 0 || f->replaced)
            continue;
        diags_add(&l->loader->diags, at, "%s is not simulated: %s", plain, why);
        return true;
    }
    return false;
}

int launch_complete(struct launch *l, struct cfg root)
{
    struct diags *d = &l->loader->diags;
    int64_t errors = d->n_errors;
    mark_replaced(l, root);
    if (refuses_instance(l, root))
        return -1;
    launch_settle_job(l, root);
    propose_task(l, root);
    settle_decoder(l, root);
    settle_sounds(l, root);
    settle_lengths(l, root);
    settle_batch(l, root);
    drop_reference(l, root);
    for (const struct dialect *known = dialects; known->name; known++)
        if (known->settle)
            known->settle(l, root);
    int rc = d->n_errors > errors ? -1 : 0;
    return launch_ask(l, root) < 0 ? -1 : rc;
}

/* The line of the value at a pointer, or of the nearest around it; 0: none. */
static int64_t line_of(const struct launch *l, const char *pointer, size_t n)
{
    int64_t line = 0;
    size_t longest = 0;
    for (int64_t i = 0; i < l->origins.n; i++) {
        const char *at = l->origins.v[i].pointer;
        size_t m = strlen(at);
        bool around =
            m <= n && strncmp(at, pointer, m) == 0 && (m == n || pointer[m] == '/');
        if (around && m >= longest) {
            longest = m;
            line = l->origins.v[i].line;
        }
    }
    return line;
}

/* What was reported of the script's scenario gets the line of the script. */
static void place(const struct launch *l, struct diag *d)
{
    bool own = d->file && strcmp(d->file, l->file) == 0 && !d->set;
    if (own && !d->line && d->pointer && d->pointer[0])
        d->line = line_of(l, d->pointer, strlen(d->pointer));
    if (own && d->line && !d->cell)
        launch_cell(l, d->line, &d->cell, &d->line);
}

void launch_place(const struct launch *l)
{
    struct diags *d = &l->loader->diags;
    for (int64_t i = 0; i < d->n; i++)
        place(l, &d->v[i]);
}
