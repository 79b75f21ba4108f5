#include "gpus.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a process of its own. */
int gpus_count(int *n, char *why, size_t size)
{
    int fds[2];
    if (pipe(fds))
        return -1;
    pid_t child = fork();
    if (child == 0) {
        char text[256] = "";
        int count = 0;
        cudaError_t status = cudaGetDeviceCount(&count);
        if (status != cudaSuccess)
            snprintf(text, sizeof(text), "-%s", cudaGetErrorString(status));
        else
            snprintf(text, sizeof(text), "%d", count);
        ssize_t put = write(fds[1], text, strlen(text));
        _exit(put < 0);
    }
    close(fds[1]);
    ssize_t got = read(fds[0], why, size - 1);
    close(fds[0]);
    waitpid(child, NULL, 0);
    why[got > 0 ? got : 0] = '\0';
    *n = got > 0 && why[0] != '-' ? atoi(why) : 0;
    if (*n > 0)
        return 0;
    if (why[0] == '-')
        memmove(why, why + 1, strlen(why));
    else
        snprintf(why, size, "no GPU is visible");
    return -1;
}

/* The first word of numbers with a point after "Module" ("for x86_64" is none). */
void gpus_driver(char *version, size_t size)
{
    FILE *in = fopen("/proc/driver/nvidia/version", "r");
    char line[512] = "", read[64];
    int major, minor;
    snprintf(version, size, "unknown");
    if (!in)
        return;
    char *at = fgets(line, sizeof(line), in) ? strstr(line, "Module") : NULL;
    while (at && (at = strchr(at, ' '))) {
        at += strspn(at, " ");
        if (sscanf(at, "%d.%d", &major, &minor) == 2 &&
            sscanf(at, "%63[0-9.]", read) == 1) {
            snprintf(version, size, "%s", read);
            break;
        }
    }
    fclose(in);
}
