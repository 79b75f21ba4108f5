/* Chunk replay: every message of every ring step of a collective phase, over links that
 * are FIFO servers.
 *
 *   rank r of a ring          link servers                       rank r+1
 *   wait for message k-w  --> free at F: starts at max(F, t) --> message k is there
 *   of rank r-1, be busy      busy for bytes / payload rate
 *   step_s
 *
 * A message passes its links as one stream (cut-through): it joins the queues of all of
 * them when it starts, and has arrived when the last of them has carried it. No link
 * waits for another, so a queue in one place never idles the next. A message's own rate
 * is that of one wire (hop_Bps); parallel wires carry several messages.
 *
 * Messages that end at one instant are one event of the sim: the first pass notes all
 * arrivals, the second starts what can start, in order of rank. No solver runs.
 *
 * Why it agrees with the closed form. Let rank r need d_r = step_s + max(message / rate
 * of its hop, least_s) for a message when no other message is on its links.
 *
 * (K1) Ring, K messages a rank: E[k][r] = max(E[k-1][r-1], E[k-1][r]) + d_r is the end
 *      of message k of rank r, E[-1][r] = 0. E[k][r] is the heaviest of the paths of
 *      k+1 steps that stay or move on by one; no path is heavier than (k+1) max d, and
 *      the one that stays at the slowest rank is as heavy. So the ring ends at
 *          T = before + K max_r d_r + after,
 *      the closed form: no fill, whatever the other hops are. The same holds for a
 *      window w > 1 (step k needs k-w): the path that stays has still K steps.
 * (K2) Chain of H hops, m chunks: T = before + sum_r d_r + (m-1) max_r d_r + after, the
 *      tandem queue of constant services. The closed form charges m max d as bytes over
 *      links and  fill = sum_r d_r - max_r d_r  as latency.
 * (K3) Rounding: each message's end is rounded up to 1 ps, so chunk exceeds the closed
 *      form by at most 3 (K + H + 1) ps, and is never below it by more than that.
 * (K4) Where q messages of each step pass one link (several rings, or hops of one, on
 *      one wire) and it is the slowest, flow charges K (step_s + q x / b). Messages
 *      wait in the queue while others' step_s pass, so chunk needs at least K q x / b:
 *      it is below flow by at most K step_s. FIFO serves the last round one by one, so
 *      rings end within q x / b of each other.
 * (K5) R chains that meet on links which are not the slowest: a chunk may wait for one
 *      of each other chain at every hop, so chunk exceeds the closed form by at most
 *          sum_r (q_r - 1) x / b_r,   q_r chunks of a round on the links of hop r.
 * (K6) Streams: H hops that wait for nobody send m messages each, so the busiest link
 *      of load L a message is never idle before its last: T = before + m L, with H
 *      roundings a message at most.
 * (K7) Slices: a message cut into w slices, each with a w-th of d_r and a window of w,
 *      leaves (K1) as it is. Slices and messages of streams are near 256 KiB, so that
 *      links shared first come, first served are shared as by fluids; what a ring's
 *      steps leave idle others use, so flow counts them as the ring's own pace.
 *
 * Cost: O(1) per message and link, about 30 ns; memory O(hops). */
#ifndef RUN_CHUNK_H
#define RUN_CHUNK_H

#include "cost/collective.h"
#include "engine/flow.h"

struct chunk_net; /* the servers, and the calendar of messages under way */

struct chunk_net *chunk_net_new(struct sim *sim, const struct net *net);

/* Drops what still runs, without calling done. Comes before sim_release. */
void chunk_net_free(struct chunk_net *c);

/* Replays one phase from now on; calls done(sim, arg) at its end. A message that a dead
 * link holds never ends. */
void chunk_start(struct chunk_net *c, const struct coll_steps *steps,
                 flow_done_fn *done, void *arg);

/* How long a link has carried messages. */
double chunk_link_busy_s(const struct chunk_net *c, int32_t link);
bool chunk_is_busy(const struct chunk_net *c);       /* some plan has not ended */
int64_t chunk_n_messages(const struct chunk_net *c); /* ended so far */
int64_t chunk_n_started(const struct chunk_net *c);  /* of the phases begun so far */

#endif
