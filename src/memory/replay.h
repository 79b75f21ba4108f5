/* A stage's events as what the allocator's replay does: takes and releases of shelves.
 *
 * A shelf holds blocks in use that are alike. The passes of a stage are few and come
 * again for each microbatch, so each is compiled once; a pass of a microbatch is its
 * acts, with the microbatch's own shelves. */
#ifndef MEMORY_REPLAY_H
#define MEMORY_REPLAY_H

#include "base/hash.h"
#include "memory/allocator.h"
#include "memory/reserved.h"

struct shelf_key {
    int64_t size_B;
    int32_t kind; /* enum ledger_kind */
    int32_t microbatch;
};

enum act { ACT_WORKSPACE, ACT_SHELVED, ACT_MADE, ACT_ONCE };

/* Blocks in use of one kind, microbatch and size; the last allocated is the first
 * freed. */
struct shelf {
    struct allocator_ask ask;
    enum act act;
    VEC(struct allocator_block *) blocks; /* but for those of workspace */
    int64_t gone;                         /* that were free before their release came */
    int64_t kept;                         /* blocks from before the step */
    struct shelf_key key;
    int32_t number; /* from 1 */
    UT_hash_handle hh;
};

/* Acts one after the other: above 0 a take, below a release, by the number of a shelf
 * of its own. */
struct acts {
    const int32_t *v;
    int64_t n;
    struct shelf *const *shelves; /* from number 1 on */
};

struct piece {
    int64_t size_B;
    struct allocator_block *block;
};

/* Pieces in order of allocation, those in use from `oldest` on. */
struct queue {
    struct piece *oldest, *end;
};

enum { RECENT_LOG2 = 7 };

struct known_shelf {
    struct shelf_key key; /* size 0: none */
    struct shelf *shelf;
};

struct replay {
    struct allocator *allocator;
    struct arena arena;
    struct reserved_how how;
    const struct ledger *ledger;
    int64_t to_keep_B;     /* of the gradients that it makes: they become the sums */
    int64_t kept_B;        /* those that did */
    int64_t n_to_come;     /* their releases */
    struct shelf *shelves; /* by key */
    struct known_shelf recent[1 << RECENT_LOG2]; /* found last, by a hash of the key */
    struct shelf **states;   /* [n_before] shelves of the events before the step */
    VEC(struct acts) step;   /* in order */
    struct piece *workspace; /* [n_workspace] */
    int64_t n_workspace;     /* room for a pass and for what it meets (replay_room) */
    struct queue in_use;     /* of it */
    bool would_differ; /* a segment of the step would have served a take before it */
};

/* Into a zeroed replay. O(events of the ledger's own and of distinct passes + passes x
 * their shelves). */
void replay_compile(struct replay *r, struct allocator *a, const struct ledger *l,
                    struct reserved_how how);
void replay_release(struct replay *r);

/* Brings the workspace in use to the begin of its room, so that it can go on by that many
 * pieces. The room stays in a core's cache. */
void replay_room(struct replay *r, int64_t n_more);

#endif
