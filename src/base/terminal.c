#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_width(FILE *out)
{
    struct winsize size;
    int fd = fileno(out);
    if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return TERMINAL_WIDTH;
    int columns = size.ws_col;
    if (columns < TERMINAL_LEAST)
        return TERMINAL_LEAST;
    return columns < TERMINAL_MOST ? columns : TERMINAL_MOST;
}

bool terminal_is(FILE *out)
{
    int fd = fileno(out);
    return fd >= 0 && isatty(fd);
}

const char *terminal_style(FILE *out, enum terminal_style style)
{
    static const char *const codes[] = {
        [TERMINAL_PLAIN] = "\033[0m",
        [TERMINAL_STRONG] = "\033[1m",
        [TERMINAL_WARNING] = "\033[33m",
        [TERMINAL_WRONG] = "\033[1;31m",
    };
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if ((no && no[0]) || !term || strcmp(term, "dumb") == 0 || !terminal_is(out))
        return "";
    return codes[style];
}
