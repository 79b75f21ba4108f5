/* Exports of Nsight Systems: `nsys export --type sqlite`, or `nsys stats`. Each process
 * that launched kernels is a rank. Tables and columns are those of NVIDIA's "SQLite Export
 * Schema Reference": CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET, _GRAPH_TRACE and
 * _RUNTIME, NVTX_EVENTS, StringIds, TARGET_INFO_GPU, of 2020 to 2026. Early in 2021
 * TARGET_INFO_GPU was TARGET_INFO_CUDA_GPU, and columns had defaults in place of NULL.
 *
 * Tables are read in the order in which they lie, without an index: once for each process.
 * What is kept is bounded as for traces of PyTorch's profiler (gather.h), and by a cache of
 * 32 MiB of the file's pages. A file is data: views, triggers and functions of its schema
 * are not run, and of tables longer than the file can be, reading stops. */
#ifndef KINETO_NSIGHT_H
#define KINETO_NSIGHT_H

#include "base/err.h"
#include "kineto/kineto.h"

enum { NSIGHT_PROCESSES_MAX = 64, NSIGHT_MAGIC = 16 };

/* Whether the begin of a file, of 16 bytes or more, is of a database of SQLite. */
bool nsight_is(const char *begin, size_t n);

/* Likewise, of a file by its name; false of what is no file. */
bool nsight_is_file(const char *file);

/* Called with each process, in the order of their ids; the callee releases it. */
typedef void (*nsight_take)(void *arg, struct kineto_rank *r);

/* Reads a file. -1 with err set where it is no such export, or is broken. */
int nsight_read(const char *file, nsight_take take, void *arg, struct err *err);

#endif
