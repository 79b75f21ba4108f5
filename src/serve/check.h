/* Who may ask: the token in the address, and the headers by which a browser says where a
 * request comes from. */
#ifndef SERVE_CHECK_H
#define SERVE_CHECK_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { SERVE_TOKEN_B = 16, SERVE_TOKEN_MAX = 2 * SERVE_TOKEN_B + 1 };

/* A new token of random hexadecimal digits. */
int serve_token(char token[SERVE_TOKEN_MAX], struct err *err);

/* What follows "/TOKEN/" in a path, in time that does not depend on the token; NULL: the
 * path has another token, or none. */
const char *serve_below_token(const char *path, const char *token);

/* Headers of a request; NULL: absent. */
struct serve_headers {
    const char *host, *origin, *site; /* site: Sec-Fetch-Site */
    const char *type, *length;        /* Content-Type, Content-Length */
    int hosts;                        /* how many Host headers there are */
};

/* Whether the request is for this server by its own name, and not sent by a page of
 * another: another name that leads to this address (DNS rebinding) and posts of other
 * sites are refused. NULL: it is fine; else why not. */
const char *serve_refuse(const struct serve_headers *h, uint16_t port, bool post);

#endif
