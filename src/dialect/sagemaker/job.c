/* What an estimator says of the job around its steps: how long it may run, the warm
 * pool, spot instances, how the data come, where checkpoints go. */
#include "dialect/sagemaker/sagemaker.h"

#include <inttypes.h>
#include <string.h>

/* Import --------------------------------------------------------------------------- */

static void take_amount(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it, const char *unit)
{
    int64_t n;
    if (it->value->kind == VALUE_NONE)
        return;
    if (!launch_whole(it->value, &n) || n < 0)
        launch_leave_out(t, it, "whole number");
    else if (n > 0)
        launch_set(t, row->pointer, json_sprintf("%" PRId64 "%s", n, unit), it);
}

void sagemaker_take_seconds(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    take_amount(t, row, it, "s");
}

/* The volume that File mode downloads to; other modes need none. */
void sagemaker_take_volume(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    if (!launch_has(t, "/storage/mode"))
        take_amount(t, row, it, "GiB");
}

/* File, the default, is left to the data set's size. */
void sagemaker_take_input_mode(struct launch_context *t,
                               const struct dialect_option *row,
                               const struct value_item *it)
{
    const char *mode = it->value->kind == VALUE_STRING ? it->value->text : "";
    if (strcmp(mode, "File") == 0 || it->value->kind == VALUE_NONE)
        return;
    if (strcmp(mode, "FastFile") == 0 || strcmp(mode, "Pipe") == 0)
        launch_set(t, row->pointer, json_string(mode), it);
    else
        launch_leave_out(t, it, "mode (File, FastFile or Pipe)");
}

/* A spot price changes by the hour, so that the script cannot say it. */
void sagemaker_take_spot(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    const struct value *given = t->call->arguments;
    const struct value_item *keep = value_get(given, "keep_alive_period_in_seconds"),
                            *run = value_get(given, "max_run"),
                            *wait = value_get(given, "max_wait");
    int64_t run_s, wait_s;
    if (!launch_true(it->value))
        return;
    (void)row;
    t->l->spot_line = it->value->line;
    if (keep)
        launch_note(
            t->l, keep->value->line, DIAG_LEFT_OUT,
            "keep_alive_period_in_seconds: a warm pool keeps no spot instances; it "
            "is left out");
    if (run && wait && launch_whole(run->value, &run_s) &&
        launch_whole(wait->value, &wait_s) && wait_s < run_s)
        launch_note(t->l, wait->value->line, DIAG_UNSURE,
                    "max_wait: SageMaker refuses less than max_run, %" PRId64 " s",
                    run_s);
}

void sagemaker_take_keep_alive(struct launch_context *t,
                               const struct dialect_option *row,
                               const struct value_item *it)
{
    const struct value_item *spot = value_get(t->call->arguments, "use_spot_instances");
    if (!spot || !launch_true(spot->value))
        sagemaker_take_seconds(t, row, it);
}

/* Where the URI leads is not needed: it is S3. */
void sagemaker_take_checkpoint(struct launch_context *t,
                               const struct dialect_option *row,
                               const struct value_item *it)
{
    if (it->value->kind != VALUE_NONE)
        launch_set(t, row->pointer, json_string("s3"), it);
}
