/* What logs say of a hypothesis in their own words, apart from times: natural logarithms
 * of likelihood ratios (hypotheses.h). The numbers are judgements: a line that NCCL
 * writes of each connection is nearly certain (8), a count that other things may change
 * is strong (5), a hint is weak (2 to 3). */
#ifndef DOCTOR_EVIDENCE_H
#define DOCTOR_EVIDENCE_H

#include "doctor/hypotheses.h"

double evidence_tcp(const struct doctor_view *v, const char **why);
double evidence_no_gpudirect(const struct doctor_view *v, const char **why);
double evidence_gdr_read(const struct doctor_view *v, const char **why);
double evidence_few_nics(const struct doctor_view *v, const char **why);
double evidence_pcie(const struct doctor_view *v, const char **why);
double evidence_few_channels(const struct doctor_view *v, const char **why);
double evidence_protocol(const struct doctor_view *v, const char **why);
double evidence_algorithm(const struct doctor_view *v, const char **why);
double evidence_small_buffers(const struct doctor_view *v, const char **why);
double evidence_ecc(const struct doctor_view *v, const char **why);
double evidence_padding(const struct doctor_view *v, const char **why);
double evidence_old_nccl(const struct doctor_view *v, const char **why);
double evidence_uneven_stages(const struct doctor_view *v, const char **why);
double evidence_no_nvls(const struct doctor_view *v, const char **why);
double evidence_no_nvlink(const struct doctor_view *v, const char **why);
double evidence_throttled(const struct doctor_view *v, const char **why);
double evidence_slow_gpu(const struct doctor_view *v, const char **why);
double evidence_loader(const struct doctor_view *v, const char **why);
double evidence_storage(const struct doctor_view *v, const char **why);
double evidence_noisy(const struct doctor_view *v, const char **why);
double evidence_allocator(const struct doctor_view *v, const char **why);
double evidence_host(const struct doctor_view *v, const char **why);
double evidence_sync(const struct doctor_view *v, const char **why);
double evidence_host_optimizer(const struct doctor_view *v, const char **why);
double evidence_no_overlap(const struct doctor_view *v, const char **why);
double evidence_fp32(const struct doctor_view *v, const char **why);
double evidence_tf32(const struct doctor_view *v, const char **why);
double evidence_unfused(const struct doctor_view *v, const char **why);
double evidence_batch(const struct doctor_view *v, const char **why);

/* From this on, of either sign, the logs separate a hypothesis from all others. */
extern const double evidence_decides;

#endif
