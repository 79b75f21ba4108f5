/* Plans as configurations: plan_emit.c has those of DeepSpeed and FSDP,
 * plan_emit_megatron.c Megatron's arguments, plan_emit_sagemaker.c the estimator around
 * them. Private to plan_emit*.c. */
#ifndef REPORT_PLAN_EMIT_H
#define REPORT_PLAN_EMIT_H

#include "report/plan_report.h"

/* The word for what products read: bf16 also where they read fp8 of it, `other` in fp32
 * and tf32. */
const char *plan_emit_precision(enum op_precision p, const char *bf16, const char *fp16,
                                const char *other);

/* Prints the estimator, and the channel that fit() is given; `scenario` is the plan's
 * (plan_point_json). */
void plan_emit_sagemaker(FILE *out, const struct plan_job *job,
                         const struct plan_entry *e, const json_t *scenario);

/* Prints Megatron's arguments, of the model, too; launch_megatron*.c read them back as
 * the same job. */
void plan_emit_megatron(FILE *out, const struct plan_job *job,
                        const struct plan_entry *e);

#endif
