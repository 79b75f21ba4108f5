#include "serve/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int serve_token(char token[SERVE_TOKEN_MAX], struct err *err)
{
    unsigned char bytes[SERVE_TOKEN_B];
    FILE *in = fopen("/dev/urandom", "rb");
    size_t n = in ? fread(bytes, 1, sizeof(bytes), in) : 0;
    if (in)
        fclose(in);
    if (n != sizeof(bytes))
        return err_set(err, "/dev/urandom: cannot be read: %s", strerror(errno));
    for (int i = 0; i < SERVE_TOKEN_B; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

const char *serve_below_token(const char *path, const char *token)
{
    size_t n = strlen(token);
    unsigned char differs = 0;
    if (path[0] != '/' || strlen(path) < n + 2)
        return NULL;
    for (size_t i = 0; i < n; i++)
        differs |= (unsigned char)(path[1 + i] ^ token[i]);
    return differs == 0 && path[n + 1] == '/' ? path + n + 2 : NULL;
}

static bool is_host(const char *text, uint16_t port)
{
    static const char *const names[] = { "127.0.0.1", "localhost" };
    char own[40];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(own, sizeof(own), "%s:%u", names[i], (unsigned)port);
        if (strcmp(text, own) == 0)
            return true;
    }
    return false;
}

const char *serve_refuse(const struct serve_headers *h, uint16_t port, bool post)
{
    static const char scheme[] = "http://", type[] = "application/json";
    const size_t n = sizeof(scheme) - 1;
    if (!h->host || h->hosts > 1 || !is_host(h->host, port))
        return "the Host header is not this server's";
    if (h->origin &&
        (strncmp(h->origin, scheme, n) != 0 || strcmp(h->origin + n, h->host) != 0))
        return "the request comes from another origin";
    if (post && h->site && strcmp(h->site, "same-origin") != 0 &&
        strcmp(h->site, "none") != 0)
        return "the request comes from another site";
    if (post && (!h->type || strncmp(h->type, type, sizeof(type) - 1) != 0))
        return "the Content-Type should be application/json";
    return NULL;
}
