/* Traces of a run, for programs. */
#include "report/doctor.h"

#include <math.h>

#define KNOWN .flags = CONTRACT_MAY_NULL

/* clang-format off */
static const struct contract_member step_rows[] = {
    CONTRACT_AT("step", INT64, kineto_step, number, "As the profiler numbers it; -1: a mean of several."),
    CONTRACT_AT("step_time_s", REAL, kineto_step, step_s, "From its mark to the next."),
    CONTRACT_AT("compute_s", REAL, kineto_step, compute_s, "A kernel that computes runs."),
    CONTRACT_AT("communication_s", REAL, kineto_step, comm_s, "A kernel that communicates runs."),
    CONTRACT_AT("exposed_s", REAL, kineto_step, exposed_s, "Likewise, and none that computes."),
    CONTRACT_AT("copies_s", REAL, kineto_step, copy_exposed_s, "Copies alone run."),
    CONTRACT_AT("idle_s", REAL, kineto_step, idle_s, "Nothing runs."),
    CONTRACT_AT("late_launches_s", REAL, kineto_step, host_s, "Of idle_s: the host launched the next kernel only then."),
    CONTRACT_AT("late_by_s", REALS, kineto_step, late_s, "Of late_launches_s, by what the host did: it waited for the data loader, or had waited for the GPU, allocated memory, was in the optimizer, or launched kernels.", .names = kineto_late_names),
    CONTRACT_AT("loading_s", REAL, kineto_step, loading_s, "The host waits for the data loader."),
    CONTRACT_END,
};
static const struct contract_object step = { "trace_step", step_rows };

static json_t *comm_kind(const void *c)
{
    return json_string(names_of(kernel_comm_names, (int)((const struct kineto_comm *)c)->kind));
}

static json_t *comm_group(const void *c)
{
    return json_string(((const struct kineto_comm *)c)->of);
}

static const struct contract_member comm_rows[] = {
    CONTRACT_MADE("operation", TEXT, comm_kind, "\"send_recv\" may be an all-to-all, where the trace does not say."),
    CONTRACT_MADE("group", TEXT, comm_group, "As the trace names it."),
    CONTRACT_AT("size_bytes", REAL, kineto_comm, size_B, "The larger of a rank's input and output; 0: not in the trace."),
    CONTRACT_AT("ranks", INT64, kineto_comm, group, "Of the group; 0: not in the trace."),
    CONTRACT_AT("number", INT64, kineto_comm, n, "In all steps that were kept."),
    CONTRACT_AT("time_s", REAL, kineto_comm, time_s, "Of all of them; waiting for other ranks is in it."),
    CONTRACT_AT("least_s", REAL, kineto_comm, least_s, "Of one."),
    CONTRACT_AT("exposed_s", REAL, kineto_comm, exposed_s, "Of all of them, not under kernels that compute."),
    CONTRACT_END,
};
static const struct contract_object comm = { "trace_communication", comm_rows };

static json_t *trace_device(const void *r)
{
    const struct kineto_rank *t = r;
    return t->device[0] ? json_string(t->device) : NULL;
}

static json_t *trace_nccl(const void *r)
{
    const struct kineto_rank *t = r;
    return t->nccl[0] ? json_string(t->nccl) : NULL;
}

static json_t *trace_marks(const void *r)
{
    return json_string(names_of(kineto_marks_names, (int)((const struct kineto_rank *)r)->marks));
}

static json_t *trace_precision(const void *r)
{
    const struct kineto_rank *t = r;
    return t->precision[0] ? json_string(t->precision) : NULL;
}

static json_t *trace_steps(const void *r)
{
    const struct kineto_rank *t = r;
    return contract_list(&step, t->steps.v, t->steps.n, sizeof(*t->steps.v));
}

static json_t *trace_comms(const void *r)
{
    const struct kineto_rank *t = r;
    return contract_list(&comm, t->comms.v, t->comms.n, sizeof(*t->comms.v));
}

static const struct contract_member trace_rows[] = {
    CONTRACT_AT("rank", INT64, kineto_rank, rank, "-1: not in the trace."),
    CONTRACT_AT("world_size", INT64, kineto_rank, world, "0: not in the trace."),
    CONTRACT_MADE("device", TEXT, trace_device, "The GPU's name.", KNOWN),
    CONTRACT_MADE("nccl_version", TEXT, trace_nccl, "As the trace says.", KNOWN),
    CONTRACT_MADE("precision", TEXT, trace_precision, "Of most of the products' time, by names of kernels.", KNOWN),
    CONTRACT_AT("events", INT64, kineto_rank, n_events, "Of the trace."),
    CONTRACT_AT("kernels", INT64, kineto_rank, n_kernels, "Copies and fills are among them."),
    CONTRACT_AT("kernels_left_out", INT64, kineto_rank, n_left_out, "Beyond what is read."),
    CONTRACT_AT("whole", BOOL, kineto_rank, whole, "Whether the file is JSON to its end."),
    CONTRACT_MADE("steps_by", TEXT, trace_marks, "By what steps were found: the profiler's marks on the \"gpu\" or the \"host\", \"ranges\" that repeat, kernels of the \"optimizer\", or \"none\"."),
    CONTRACT_MADE("steps", LIST, trace_steps, "Those that the profiler marked.", .of = &step),
    CONTRACT_AT("steps_kept", INT64, kineto_rank, n_kept, "Up to 1.5 of the median's time."),
    CONTRACT_AT("mean", OBJECT, kineto_rank, mean, "Of the steps that were kept; without any, of the whole trace.", .of = &step),
    CONTRACT_AT("kernel_time_s", REALS, kineto_rank, class_s, "By class, of a step; kernels may run at the same time.", .names = kernel_class_names),
    CONTRACT_AT("kernel_number", INT64S, kineto_rank, class_n, "Likewise.", .names = kernel_class_names),
    CONTRACT_AT("backward_time_s", REALS, kineto_rank, backward_s, "Of kernel_time_s, what autograd's thread launched.", .names = kernel_class_names),
    CONTRACT_AT("communication_time_s", REALS, kineto_rank, comm_s, "By operation, of a step.", .names = kernel_comm_names),
    CONTRACT_AT("communication_exposed_s", REALS, kineto_rank, comm_exposed_s, "Likewise, not under kernels that compute.", .names = kernel_comm_names),
    CONTRACT_MADE("collectives", LIST, trace_comms, "By operation, size and group, the longest first.", .of = &comm),
    CONTRACT_END,
};
const struct contract_object report_doctor_trace = { "trace", trace_rows };
/* clang-format on */

json_t *report_doctor_traces_json(const struct logs *l)
{
    return contract_list(&report_doctor_trace, l->traces.v, l->traces.n,
                         sizeof(*l->traces.v));
}
