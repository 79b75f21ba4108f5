/* Kernels: the threads of a block are fibers that yield at barriers and shuffles. One
 * kernel runs at a time, whatever host threads there are. */
#include "cuda_runtime.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#include <mutex>

dim3 threadIdx, blockIdx, blockDim, gridDim;

enum { THREADS_MOST = 1024, WARP = 32, STACK_B = 64 << 10 };
enum fiber_state { READY, AT_BARRIER, AT_SHUFFLE, DONE };

/* Under ASan, which follows swapcontext only; else without its system calls. */
#ifdef __SANITIZE_ADDRESS__
#define SWITCH(from, to) swapcontext(&(from)->context, &(to)->context)
#else
#define SWITCH(from, to)              \
    do {                              \
        if (!_setjmp((from)->place))  \
            _longjmp((to)->place, 1); \
    } while (0)
#endif

struct fiber {
    ucontext_t context;
    jmp_buf place;
    char *stack;
    fiber_state state;
    unsigned int shuffles; /* begun */
};

static fiber fibers[THREADS_MOST], scheduler;
static unsigned int current;
static float lanes_of[THREADS_MOST][2]; /* of even and odd shuffles */
static const std::function<void()> *job;
static bool plain; /* the kernel's first block had no barrier: threads are mere calls */

static void fail(const char *what)
{
    fprintf(stderr, "cuda: thread %u of block (%u, %u): %s\n", current, blockIdx.x,
            blockIdx.y, what);
    abort();
}

static void yield(fiber_state why)
{
    fiber *self = &fibers[current];
    if (plain)
        fail("a barrier that the first block did not come to");
    self->state = why;
    SWITCH(self, &scheduler);
}

void __syncthreads()
{
    yield(AT_BARRIER);
}

/* The slot of the shuffle before is read by all lanes once they have come to this
 * one. */
float __shfl_xor_sync(unsigned int mask, float v, int step)
{
    unsigned int self = current, turn = fibers[self].shuffles++ % 2;
    unsigned int other = self ^ (unsigned int)step;
    if (mask != 0xffffffffu || step <= 0 || step >= WARP)
        fail("a shuffle of less than a warp");
    lanes_of[self][turn] = v;
    yield(AT_SHUFFLE);
    return lanes_of[other][turn];
}

/* --- fibers ----------------------------------------------------------------------- */

static void run_fiber()
{
    for (;;) {
        (*job)();
        yield(DONE);
    }
}

static void begin_fiber(fiber *f)
{
    f->stack = (char *)malloc(STACK_B);
    if (!f->stack)
        fail("out of memory");
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK_B;
    f->context.uc_link = NULL;
    makecontext(&f->context, run_fiber, 0);
}

static void resume(unsigned int thread)
{
    fiber *f = &fibers[thread];
    current = thread;
    threadIdx.x = thread;
    f->state = READY;
    if (!f->stack) {
        begin_fiber(f);
#ifndef __SANITIZE_ADDRESS__
        if (!_setjmp(scheduler.place))
            setcontext(&f->context);
        return;
#endif
    }
    SWITCH(&scheduler, f);
}

/* --- a block ---------------------------------------------------------------------- */

static bool backwards()
{
    static const char *order = getenv("EMULATED_ORDER");
    return order && strcmp(order, "backwards") == 0;
}

/* Lets a warp's lanes go on until all wait for the block or are done. */
static void run_warp(unsigned int first, unsigned int lanes)
{
    for (;;) {
        unsigned int at_shuffle = 0;
        for (unsigned int i = 0; i < lanes; i++) {
            unsigned int thread = first + (backwards() ? lanes - 1 - i : i);
            if (fibers[thread].state == READY)
                resume(thread);
            at_shuffle += fibers[thread].state == AT_SHUFFLE;
        }
        if (at_shuffle == 0)
            return;
        if (at_shuffle != WARP)
            fail("a shuffle that not all lanes come to");
        for (unsigned int i = 0; i < lanes; i++)
            fibers[first + i].state = READY;
    }
}

static void run_plain(unsigned int threads)
{
    for (unsigned int i = 0; i < threads; i++) {
        current = threadIdx.x = backwards() ? threads - 1 - i : i;
        (*job)();
    }
}

/* Until all threads are done, from one barrier to the next; whether there was any. */
static bool run_block(unsigned int threads)
{
    unsigned int warps = (threads + WARP - 1) / WARP, at_barrier;
    bool any = false;
    do {
        at_barrier = 0;
        for (unsigned int i = 0; i < threads; i++)
            fibers[i].state = READY;
        for (unsigned int i = 0; i < warps; i++) {
            unsigned int first = WARP * (backwards() ? warps - 1 - i : i);
            run_warp(first,
                     threads - first < WARP ? threads - first : (unsigned int)WARP);
        }
        for (unsigned int i = 0; i < threads; i++)
            at_barrier += fibers[i].state == AT_BARRIER;
        any = any || at_barrier;
        if (at_barrier != 0 && at_barrier != threads)
            fail("a barrier that not all threads come to");
    } while (at_barrier);
    return any;
}

static void run_grid(dim3 grid, dim3 block, const std::function<void()> &thread)
{
    static std::mutex one;
    std::lock_guard<std::mutex> alone(one);
    uint64_t n = (uint64_t)grid.x * grid.y;
    gridDim = grid;
    blockDim = block;
    job = &thread;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = backwards() ? n - 1 - i : i;
        blockIdx.x = (unsigned int)(at % grid.x);
        blockIdx.y = (unsigned int)(at / grid.x);
        if (plain)
            run_plain(block.x);
        else
            plain = !run_block(block.x);
    }
    plain = false;
}

void cuda_run_kernel(dim3 grid, dim3 block, cudaStream_t stream,
                     const std::function<void()> &thread)
{
    bool fits = block.x >= 1 && block.x <= THREADS_MOST && block.y == 1 &&
                block.z == 1 && grid.x >= 1 && grid.x <= 0x7fffffff && grid.y >= 1 &&
                grid.y <= 65535 && grid.z == 1;
    if (!fits)
        cuda_set_error(cudaErrorInvalidConfiguration);
    else
        cuda_enqueue(stream, [=] { run_grid(grid, block, thread); });
}
