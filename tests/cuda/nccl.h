/* The part of NCCL that smsim-measure uses, between the threads of one process. Calls
 * return when they are done. */
#ifndef EMULATED_NCCL_H
#define EMULATED_NCCL_H

#include "cuda_runtime.h"

enum ncclResult_t { ncclSuccess, ncclInvalidArgument };
enum ncclDataType_t { ncclFloat, ncclHalf, ncclBfloat16 };
enum ncclRedOp_t { ncclSum, ncclAvg };

typedef struct nccl_comm *ncclComm_t;
struct ncclUniqueId {
    struct nccl_world *world;
};

const char *ncclGetErrorString(ncclResult_t status);
ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int n, ncclUniqueId id, int rank);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclAllGather(const void *send, void *receive, size_t each,
                           ncclDataType_t type, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t each,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream);
ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void *receive, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);

#endif
