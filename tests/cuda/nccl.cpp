/* Collectives: every rank shows what it sends, takes what it is to receive aside, and
 * writes it once all have read. */
#include "nccl.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#include <pthread.h>

#include <vector>

enum { RANKS_MOST = 16 };

struct call { /* a collective, or one end of a send */
    const void *send;
    void *receive;
    size_t count; /* each rank's */
    ncclDataType_t type;
    int peer;
};

struct nccl_world {
    pthread_barrier_t barrier;
    int n, users;
    const void *send[RANKS_MOST];
    std::vector<call> sends[RANKS_MOST];
};

struct nccl_comm {
    nccl_world *world;
    int rank;
};

static thread_local bool grouped;
static thread_local std::vector<call> sends, receives; /* of the group */
static thread_local ncclComm_t group_comm;

const char *ncclGetErrorString(ncclResult_t status)
{
    return status == ncclSuccess ? "no error" : "invalid argument";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    id->world = new nccl_world();
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int n, ncclUniqueId id, int rank)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    if (n < 1 || n > RANKS_MOST || rank < 0 || rank >= n)
        return ncclInvalidArgument;
    pthread_mutex_lock(&turn);
    if (id.world->users++ == 0) {
        id.world->n = n;
        pthread_barrier_init(&id.world->barrier, NULL, (unsigned int)n);
    }
    pthread_mutex_unlock(&turn);
    *comm = new nccl_comm { id.world, rank };
    pthread_barrier_wait(&id.world->barrier);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    if (pthread_barrier_wait(&comm->world->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_barrier_destroy(&comm->world->barrier);
        delete comm->world;
    }
    delete comm;
    return ncclSuccess;
}

/* --- numbers ---------------------------------------------------------------------- */

static size_t size_of(ncclDataType_t type)
{
    return type == ncclFloat ? 4 : 2;
}

static float load(const void *at, size_t i, ncclDataType_t type)
{
    return type == ncclHalf       ? __half2float(((const __half *)at)[i])
           : type == ncclBfloat16 ? __bfloat162float(((const __nv_bfloat16 *)at)[i])
                                  : ((const float *)at)[i];
}

static void store(void *at, size_t i, float v, ncclDataType_t type)
{
    if (type == ncclHalf)
        ((__half *)at)[i] = __float2half_rn(v);
    else if (type == ncclBfloat16)
        ((__nv_bfloat16 *)at)[i] = __float2bfloat16_rn(v);
    else
        ((float *)at)[i] = v;
}

/* --- collectives ------------------------------------------------------------------ */

/* `part` writes what this rank receives, from all that is sent. */
template <class P>
static ncclResult_t exchange(ncclComm_t comm, const void *send, void *receive,
                             size_t bytes, P part)
{
    nccl_world *w = comm->world;
    std::vector<char> aside(bytes);
    w->send[comm->rank] = send;
    pthread_barrier_wait(&w->barrier);
    part(w, aside.data());
    pthread_barrier_wait(&w->barrier);
    memcpy(receive, aside.data(), bytes);
    pthread_barrier_wait(&w->barrier);
    return ncclSuccess;
}

static ncclResult_t reduce(const void *send, void *receive, size_t from, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm)
{
    return exchange(comm, send, receive, count * size_of(type),
                    [=](nccl_world *w, void *to) {
                        float share = op == ncclAvg ? 1 / (float)w->n : 1;
                        for (size_t i = 0; i < count; i++) {
                            float sum = 0;
                            for (int r = 0; r < w->n; r++)
                                sum += load(w->send[r], from + i, type);
                            store(to, i, share * sum, type);
                        }
                    });
}

ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t)
{
    return reduce(send, receive, 0, count, type, op, comm);
}

ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t each,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t)
{
    return reduce(send, receive, (size_t)comm->rank * each, each, type, op, comm);
}

ncclResult_t ncclAllGather(const void *send, void *receive, size_t each,
                           ncclDataType_t type, ncclComm_t comm, cudaStream_t)
{
    size_t bytes = each * size_of(type);
    return exchange(comm, send, receive, bytes * (size_t)comm->world->n,
                    [=](nccl_world *w, char *to) {
                        for (int r = 0; r < w->n; r++)
                            memcpy(to + (size_t)r * bytes, w->send[r], bytes);
                    });
}

ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t)
{
    size_t bytes = count * size_of(type);
    return exchange(comm, send, receive, bytes,
                    [=](nccl_world *w, char *to) { memcpy(to, w->send[root], bytes); });
}

/* --- from one to one, in groups --------------------------------------------------- */

ncclResult_t ncclGroupStart()
{
    grouped = true;
    return ncclSuccess;
}

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t)
{
    group_comm = comm;
    sends.push_back({ send, NULL, count, type, peer });
    return grouped ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclRecv(void *receive, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t)
{
    group_comm = comm;
    receives.push_back({ NULL, receive, count, type, peer });
    return grouped ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclGroupEnd()
{
    nccl_world *w = group_comm->world;
    int self = group_comm->rank;
    grouped = false;
    w->sends[self] = sends;
    pthread_barrier_wait(&w->barrier);
    for (const call &in : receives)
        for (const call &out : w->sends[in.peer])
            if (out.peer == self && out.count == in.count)
                memcpy(in.receive, out.send, in.count * size_of(in.type));
    pthread_barrier_wait(&w->barrier);
    sends.clear();
    receives.clear();
    return ncclSuccess;
}
