#include "base/file.h"
#include "base/vec.h"

#include <sys/stat.h>

struct identity {
    dev_t device;
    ino_t inode;
};

static struct {
    bool on;
    VEC(struct identity) inputs;
} guard;

void file_guard_on(void)
{
    guard.on = true;
}

static int64_t find(const struct stat *st)
{
    for (int64_t i = 0; i < guard.inputs.n; i++)
        if (guard.inputs.v[i].device == st->st_dev &&
            guard.inputs.v[i].inode == st->st_ino)
            return i;
    return -1;
}

void file_guard_note(const struct stat *st)
{
    if (!guard.on || !S_ISREG(st->st_mode))
        return;
#pragma omp critical(file_guard)
    if (find(st) < 0)
        VEC_PUSH(&guard.inputs, ((struct identity) { st->st_dev, st->st_ino }));
}

bool file_guard_has(const struct stat *st)
{
    bool has = false;
    if (guard.on && S_ISREG(st->st_mode)) {
#pragma omp critical(file_guard)
        has = find(st) >= 0;
    }
    return has;
}

void file_guard_except(const char *path)
{
    struct stat st;
    if (!guard.on || stat(path, &st))
        return;
#pragma omp critical(file_guard)
    {
        int64_t i = find(&st);
        if (i >= 0)
            guard.inputs.v[i] = guard.inputs.v[--guard.inputs.n];
    }
}

bool file_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
