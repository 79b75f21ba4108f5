/* On how many instances and GPUs MPI's starters run, and horovodrun, which has their
 * words: mpirun(1) of Open MPI 4.1; horovod/runner/launch.py, Horovod 0.28; aprun(1) of
 * Cray's ALPS, whose -n and -N are the same; jsrun(1) of IBM's JSM. */
#include "dialect/launch/launch_starter.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const launch_mpi_ranks[] = {
    "-np", "-n", "--np", "-c", "--num-proc", NULL
};
const char *const launch_mpi_each[] = { "-N", "--npernode", "-npernode", "-ppn", NULL };
const char *const launch_mpi_map[] = { "--map-by", "-map-by", NULL };
const char *const launch_mpi_hosts[] = { "-H",      "-host",  "--host",
                                         "--hosts", "-hosts", NULL };
const char *const launch_mpi_export[] = { "-x", NULL };

static const char count_at[] = "/cluster/count",
                  gpus_at[] = "/cluster/gpus_per_instance";

/* So many ranks on each node: -N 8, or --map-by ppr:8:node (Open MPI's mpirun(1)). */
static struct starter_option each_of(struct launch_context *t,
                                     const struct starter_line *l)
{
    struct starter_option g = launch_starter_find(l->w, l->at, l->end, launch_mpi_each),
                          m = launch_starter_find(l->w, l->at, l->end, launch_mpi_map);
    static const char each[] = "ppr:", node[] = ":node";
    size_t n = sizeof(each) - 1;
    if (g.name || !m.name || !m.value || strncmp(m.value, each, n) != 0)
        return g;
    size_t digits = strspn(m.value + n, "0123456789");
    if (strncmp(m.value + n + digits, node, sizeof(node) - 1) != 0)
        return g;
    m.value = arena_strndup(t->arena, m.value + n, digits);
    return m;
}

/* "a:8,b:8": hosts of so many slots each, 1 without a number; false: they differ. */
static bool hosts_of(const char *text, int64_t *hosts, int64_t *each)
{
    bool same = *text != '\0';
    *hosts = *each = 0;
    while (same && *text) {
        size_t n = strcspn(text, ",");
        const char *colon = memchr(text, ':', n);
        int64_t slots = colon ? strtoll(colon + 1, NULL, 10) : 1;
        same = slots > 0 && slots <= 1 << 20 && (*hosts == 0 || slots == *each);
        *each = slots;
        ++*hosts;
        text += n + (text[n] == ',');
    }
    return same;
}

const char *const launch_mpi_files[] = { "-hostfile",    "--hostfile",    "--host-file",
                                         "-machinefile", "--machinefile", NULL };

/* Ranks on each node, of those that no word divides: horovodrun's are on this one
 * (runner/launch.py, "localhost") unless a file names others; else all GPUs of as many
 * instances as that takes. 0: not known. */
static int64_t undivided(const struct launch_context *t, const struct starter_line *l,
                         int64_t all)
{
    bool here = strcmp(launch_last_part(l->w[l->at].text), "horovodrun") == 0 &&
                !launch_starter_find(l->w, l->at, l->end, launch_mpi_files).name;
    int64_t gpus = t->l->gpus;
    if (here || (gpus > 0 && all < gpus))
        return all;
    return gpus > 0 && all % gpus == 0 ? gpus : 0;
}

/* Ranks on each node by the hosts that -H or a file names, of which there are so many. */
static int64_t each_host(struct launch_context *t, const struct starter_line *l,
                         const struct starter_option *h, const struct starter_option *f,
                         int64_t all, int64_t *hosts)
{
    int64_t each = 0, n = 0;
    if (h->name)
        return !h->word->why && hosts_of(h->value, hosts, &each) ? each : 0;
    if (f->name && !f->word->why && launch_hosts_in(t, f->value, &n, &each))
        *hosts = n;
    return n > 0 && each > 0 ? each : undivided(t, l, all);
}

/* -np 64 -N 8; -np 16 -H a:8,b:8, of which the first hosts are filled; -np 16. */
void launch_mpi_take(struct launch_context *t, const struct launch_command *c,
                     const struct starter_line *l)
{
    struct starter_option n = launch_starter_find(l->w, l->at, l->end,
                                                  launch_mpi_ranks),
                          h = launch_starter_find(l->w, l->at, l->end,
                                                  launch_mpi_hosts),
                          f = launch_starter_find(l->w, l->at, l->end,
                                                  launch_mpi_files),
                          g = each_of(t, l);
    const char *name = launch_last_part(l->w[l->at].text);
    struct value v = { .line = l->w[l->at].line };
    const struct value_item from = { name, v.line, &v };
    int64_t all = 0, each = 0, hosts = INT64_MAX;
    bool ranks = n.name && !n.word->why && launch_starter_number(n.value, &all);
    if (strcmp(name, "horovodrun") == 0)
        launch_set(t, "/parallelism/library", json_string("horovod"), &from);
    if (g.name)
        each = !g.word->why && launch_starter_number(g.value, &each) ? each : 0;
    else
        each = each_host(t, l, &h, &f, all, &hosts);
    if ((h.name || f.name) && !g.name && all < each)
        each = all; /* of one host */
    if (g.name)
        launch_starter_count(t, gpus_at, &g);
    else if (ranks && each > 0)
        launch_starter_set(t, gpus_at, h.name ? &h : &n, each);
    if (ranks && each > 0 && all % each == 0 && all / each <= hosts)
        launch_starter_set(t, count_at, &n, all / each);
    else
        launch_add_unresolved(t, count_at, l->w[l->at].line,
                              "%s: its ranks are not given as so many a node (-np, %s)",
                              name, strcmp(name, "mpirun") == 0 ? "-N" : "-H");
    (void)c;
}

/* jsrun ------------------------------------------------------------------------------ */

const char *const launch_jsrun_sets[] = { "--nrs", "-n", NULL };
const char *const launch_jsrun_each[] = { "--rs-per-host", "-r", NULL };
const char *const launch_jsrun_tasks[] = { "--tasks-per-rs", "-a", NULL };

/* The number of an option, or `without` where it is not there; 0: it is not known. */
static int64_t number_of(const struct starter_option *g, int64_t without)
{
    int64_t n = 0;
    if (!g->name)
        return without;
    return !g->word->why && launch_starter_number(g->value, &n) ? n : 0;
}

/* -n 48 -r 6 -a 1: sets of all hosts, sets of a host, and tasks of a set. */
void launch_jsrun_take(struct launch_context *t, const struct launch_command *c,
                       const struct starter_line *l)
{
    struct starter_option n = launch_starter_find(l->w, l->at, l->end,
                                                  launch_jsrun_sets),
                          r = launch_starter_find(l->w, l->at, l->end,
                                                  launch_jsrun_each),
                          a = launch_starter_find(l->w, l->at, l->end,
                                                  launch_jsrun_tasks);
    int64_t sets = number_of(&n, 0), each = number_of(&r, 0), tasks = number_of(&a, 1);
    (void)c;
    if (each > 0 && tasks > 0)
        launch_starter_set(t, gpus_at, &r, each * tasks);
    else
        launch_add_unresolved(t, gpus_at, l->w[l->at].line,
                              "jsrun: how many tasks it starts on each host is not "
                              "known (--rs_per_host, --tasks_per_rs)");
    if (each > 0 && sets > 0 && sets % each == 0)
        launch_starter_set(t, count_at, &n, sets / each);
    else
        launch_add_unresolved(t, count_at, l->w[l->at].line,
                              "jsrun: on how many hosts it starts is not known (--nrs, "
                              "--rs_per_host)");
}
