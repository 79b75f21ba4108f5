#define _GNU_SOURCE /* syscall */

#include "base/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

enum { SLOTS = 64 };

/* The one mutable state of the program: a handler gets nothing else. */
static struct {
    _Atomic(const char *) files[SLOTS], dirs[SLOTS];
    atomic_int child;
} registered;

static void add(_Atomic(const char *) *slots, const char *path)
{
    for (int i = 0; i < SLOTS; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&slots[i], &none, path))
            return;
    }
}

void ending_add_file(const char *path)
{
    add(registered.files, path);
}

void ending_add_dir(const char *path)
{
    add(registered.dirs, path);
}

static void drop(_Atomic(const char *) *slots, const char *path)
{
    for (int i = 0; path && i < SLOTS; i++) {
        const char *known = path;
        atomic_compare_exchange_strong(&slots[i], &known, NULL);
    }
}

void ending_drop(const char *path)
{
    drop(registered.files, path);
    drop(registered.dirs, path);
}

void ending_set_child(pid_t child)
{
    atomic_store(&registered.child, child);
}

#ifdef __linux__
/* Removes the entries that one reading of the directory gives; whether there were any.
 * readdir allocates, which a handler may not: getdents64(2) fills a buffer with entries
 * of an inode and an offset (8 bytes each), a length (2), a type (1) and a name. */
static bool remove_entries(int fd)
{
    enum { LENGTH_AT = 16, NAME_AT = 19 };
    _Alignas(8) char buffer[4096];
    bool any = false;
    lseek(fd, 0, SEEK_SET);
    for (long n; (n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0;)
        for (long at = 0; at < n;) {
            uint16_t length;
            memcpy(&length, buffer + at + LENGTH_AT, sizeof(length));
            any |= unlinkat(fd, buffer + at + NAME_AT, 0) == 0;
            at += length;
        }
    return any;
}

static void remove_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (fd >= 0 && remove_entries(fd))
        ;
    if (fd >= 0)
        close(fd);
    rmdir(path);
}
#else
static void remove_dir(const char *path)
{
    rmdir(path); /* stays where it holds files */
}
#endif

void ending_clean(void)
{
    pid_t child = atomic_load(&registered.child);
    if (child > 0)
        kill(child, SIGTERM);
    for (int i = 0; i < SLOTS; i++) {
        const char *file = atomic_exchange(&registered.files[i], NULL);
        const char *dir = atomic_exchange(&registered.dirs[i], NULL);
        if (file)
            unlink(file);
        if (dir)
            remove_dir(dir);
    }
}

/* The signal is blocked until the handler returns, and then does what it does by
 * default. */
static void on_signal(int sig)
{
    int code = errno;
    ending_clean();
    signal(sig, SIG_DFL);
    raise(sig);
    errno = code;
}

void ending_watch(void)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXCPU };
    struct sigaction act = { .sa_handler = on_signal };
    sigfillset(&act.sa_mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &act, NULL);
    }
    signal(SIGXFSZ, SIG_IGN);
}
