/* What of the job around its steps cannot stand without more than the file says. */
#include "config/pointer.h"

#include "base/units.h"
#include "dialect/launch/launch_context.h"

#include <inttypes.h>
#include <string.h>

/* Whether all that the section has came from the script. */
static bool is_own(const struct launch *l, struct cfg section, const char *pointer)
{
    size_t n = strlen(pointer);
    int64_t own = 0;
    for (int64_t i = 0; i < l->resolved.n; i++)
        own += strncmp(l->resolved.v[i].pointer, pointer, n) == 0;
    for (void *it = cfg_first(section); it; it = cfg_next(section, it)) {
        struct cfg v = cfg_member(section, it);
        own -= cfg_is_object(v) ? cfg_len(v) : 1;
    }
    return own >= 0;
}

/* Takes a section, or a member, out of the scenario and of what is shown. */
static void drop(struct launch *l, struct cfg root, const char *section,
                 const char *member)
{
    json_t *in = member ? json_object_get(root.json, section) : root.json;
    const char *gone = arena_printf(&l->loader->arena, "/%s%s%s", section,
                                    member ? "/" : "", member ? member : "");
    size_t n = strlen(gone);
    int64_t kept = 0;
    json_object_del(in, member ? member : section);
    for (int64_t i = 0; i < l->resolved.n; i++) {
        const char *at = l->resolved.v[i].pointer;
        if (strncmp(at, gone, n) != 0 || (at[n] && at[n] != '/'))
            l->resolved.v[kept++] = l->resolved.v[i];
    }
    l->resolved.n = kept;
}

/* Epochs of a data set whose samples are not known say nothing. */
static void settle_length(struct launch *l, struct cfg root)
{
    int64_t epochs =
        (int64_t)json_integer_value(pointer_get(root.json, "/training/epochs"));
    if (!launch_is_set(root, "/training/epochs") ||
        launch_is_set(root, "/training/samples"))
        return;
    if (!launch_is_set(root, "/training/steps"))
        launch_note(
            l, l->line, DIAG_MISSING,
            "how long the job is, is not known: the samples of an epoch are not "
            "(give --set /training/samples=N; it has %" PRId64 " epoch%s)",
            epochs, units_plural(epochs));
    drop(l, root, "training", "epochs");
}

/* "max_run, checkpoint_s3_uri": what the script gives of a section. */
static const char *names_under(const struct launch *l, const char *pointer)
{
    const char *names = "what is around the steps";
    size_t n = strlen(pointer);
    bool first = true;
    for (int64_t i = 0; i < l->resolved.n; i++) {
        const struct launch_resolved *f = &l->resolved.v[i];
        if (strncmp(f->pointer, pointer, n) != 0)
            continue;
        names = first ? f->from
                      : arena_printf(&l->loader->arena, "%s, %.40s", names, f->from);
        first = false;
    }
    return names;
}

static void settle_job(struct launch *l, struct cfg root)
{
    bool ends = launch_is_set(root, "/training/steps") ||
                launch_is_set(root, "/training/samples");
    bool often = launch_is_set(root, "/job/checkpoint/every") ||
                 launch_is_set(root, "/job/checkpoint/interval") ||
                 launch_is_set(root, "/training/samples");
    struct cfg job = cfg_get(root, "job"), kept = cfg_get(job, "checkpoint");
    if (!ends && cfg_is_object(job) && is_own(l, job, "/job")) {
        launch_note(l, l->line, DIAG_MISSING,
                    "left out, as the job's length is not known: %s (give --set "
                    "/training/steps=N)",
                    names_under(l, "/job"));
        drop(l, root, "job", NULL);
    } else if (!often && cfg_is_object(kept) && is_own(l, kept, "/job/checkpoint")) {
        launch_note(l, l->line, DIAG_MISSING,
                    "checkpoint_s3_uri: how often is not known (give --set "
                    "/job/checkpoint/every=N, in steps)");
        drop(l, root, "job", "checkpoint");
    }
}

static void settle_input(struct launch *l, struct cfg root)
{
    struct cfg storage = cfg_get(root, "storage"), input = cfg_get(root, "input");
    bool size = launch_is_set(root, "/storage/dataset"),
         sample = launch_is_set(root, "/input/sample") ||
                  (size && launch_is_set(root, "/training/samples"));
    if (cfg_is_object(storage) && is_own(l, storage, "/storage") && !sample) {
        launch_note(l, l->line, DIAG_MISSING,
                    "how the data come (input_mode, volume_size) is left out, as their "
                    "size is not known (give --set %s)",
                    launch_is_set(root, "/storage/mode") ? "/input/sample=8kB, of each"
                                                         : "/storage/dataset=50GB");
        drop(l, root, "storage", NULL);
    }
    if (cfg_is_object(input) && is_own(l, input, "/input") &&
        !launch_is_set(root, "/storage")) {
        launch_note(l, l->line, DIAG_MISSING,
                    "dataloader_num_workers is left out, as what a sample costs is not "
                    "known (give --set /input/cpu=5ms)");
        drop(l, root, "input", NULL);
    }
}

void launch_settle_job(struct launch *l, struct cfg root)
{
    if (l->spot_line && !launch_is_set(root, "/job/spot_discount"))
        launch_note(l, l->spot_line, DIAG_MISSING,
                    "use_spot_instances: costs are those on demand (give --set "
                    "/job/spot_discount=0.7, say, for 70 %% off)");
    settle_length(l, root);
    settle_job(l, root);
    settle_input(l, root);
}
