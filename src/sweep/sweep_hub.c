#include "sweep/sweep_hub.h"

#include "base/xmalloc.h"

#include <stdlib.h>

void sweep_hub_init(struct sweep_hub *h, struct sweep_todo todo, int n_ranks)
{
    *h = (struct sweep_hub) { .todo = todo, .n_ranks = n_ranks };
    h->copies = xcalloc((size_t)todo.n + 1, sizeof(*h->copies));
    h->done = xcalloc((size_t)todo.n + 1, sizeof(*h->done));
    h->batches = xcalloc((size_t)n_ranks, sizeof(*h->batches));
}

void sweep_hub_release(struct sweep_hub *h)
{
    for (int i = 0; i < h->n_ranks; i++)
        free(h->batches[i].at);
    free(h->batches);
    free(h->copies);
    free(h->done);
    sweep_todo_release(&h->todo);
}

/* Small enough that all ranks end at about the same time. */
static int64_t batch_size(const struct sweep_hub *h, int64_t wanted)
{
    int64_t left = h->todo.n - h->next, share = left / (2 * h->n_ranks);
    int64_t n = wanted < share ? wanted : share;
    return n > 1 ? n : left > 0;
}

static void give(struct sweep_hub *h, struct hub_batch *b, int64_t at)
{
    if (b->n == b->room) {
        b->room = b->room ? 2 * b->room : 16;
        b->at = xrealloc(b->at, (size_t)b->room, sizeof(*b->at));
    }
    b->at[b->n++] = at;
    h->copies[at]++;
}

/* Those of the fewest copies first; one in so many of what is wanted, as each may come
 * any moment from another. */
static void give_again(struct sweep_hub *h, struct hub_batch *b, int64_t wanted)
{
    enum { PART = 4 };
    const int64_t most = wanted / PART > 1 ? wanted / PART : 1;
    while (h->first < h->next && h->done[h->first])
        h->first++;
    for (int copies = 1; copies < HUB_COPIES && b->n == 0; copies++)
        for (int64_t i = h->first; i < h->next && b->n < most; i++)
            if (!h->done[i] && h->copies[i] == copies)
                give(h, b, i);
}

int64_t sweep_hub_give(struct sweep_hub *h, int rank, int64_t wanted)
{
    struct hub_batch *b = &h->batches[rank];
    b->n = 0;
    for (int64_t n = batch_size(h, wanted); n > 0; n--)
        give(h, b, h->next++);
    if (b->n == 0)
        give_again(h, b, wanted);
    return b->n;
}

int64_t sweep_hub_point(const struct sweep_hub *h, int rank, int64_t i)
{
    return h->todo.points[h->batches[rank].at[i]];
}

bool sweep_hub_take(struct sweep_hub *h, int rank, int64_t i)
{
    int64_t at = h->batches[rank].at[i];
    bool first = !h->done[at];
    h->done[at] = true;
    h->n_done += first;
    return first;
}
