/* The clusters of a plan: instances that are named, their numbers, or the scenario's own
 * cluster. All yield -1 after reporting. */
#ifndef SEARCH_PLAN_CLUSTER_H
#define SEARCH_PLAN_CLUSTER_H

#include "search/plan/job.h"

/* The instances of a list with commas; each once. */
int plan_read_instances(struct plan_job *job, const char *list);

/* What --set changes of a machine holds of each named instance; `given`: the cluster is a
 * scenario's, whose changes are of the machine that it names. */
int plan_change_instances(struct plan_job *job, bool given, json_t *base);

/* The cluster of the scenario: one kind of instance, or groups. */
int plan_take_cluster(struct plan_job *job, const struct scenario *s, json_t *base);

/* "8", or "1..64": the numbers of instances. */
int plan_read_count(struct plan_job *job, const char *count);

#endif
