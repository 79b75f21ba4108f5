#include "config/scan.h"

#include <stdlib.h>
#include <string.h>

static void skip_blanks(struct scan *s)
{
    while (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')
        s->at++;
}

bool scan_take(struct scan *s, char c)
{
    skip_blanks(s);
    if (s->bad || *s->at != c)
        return false;
    s->at++;
    return true;
}

void scan_need(struct scan *s, char c)
{
    if (!scan_take(s, c))
        s->bad = true;
}

double scan_number(struct scan *s)
{
    skip_blanks(s);
    char *end = s->at;
    bool begins = *s->at == '-' || (*s->at >= '0' && *s->at <= '9');
    double v = begins && !s->bad ? strtod(s->at, &end) : 0;
    if (end <= s->at)
        s->bad = true;
    else
        s->at = end;
    return v;
}

/* What a backslash and that character stand for; NUL: nothing that is read here. */
static char escaped(char c)
{
    static const char from[] = "\"\\/nt", to[] = "\"\\/\n\t";
    const char *at = c ? strchr(from, c) : NULL;
    return at ? to[at - from] : '\0';
}

char *scan_string(struct scan *s)
{
    scan_need(s, '"');
    if (s->bad)
        return s->at + strlen(s->at);
    char *text = s->at, *to = text;
    while (*s->at && *s->at != '"') {
        bool is_escape = *s->at == '\\';
        char c = is_escape ? escaped(*++s->at) : *s->at;
        if (c == '\0')
            break;
        *to++ = c;
        s->at++;
    }
    s->bad = *s->at != '"';
    if (!s->bad)
        s->at++;
    *to = '\0';
    return text;
}

char *scan_string_or_null(struct scan *s)
{
    skip_blanks(s);
    if (s->bad || strncmp(s->at, "null", 4) != 0)
        return scan_string(s);
    s->at += 4;
    return NULL;
}

bool scan_is_done(struct scan *s)
{
    skip_blanks(s);
    return !s->bad && *s->at == '\0';
}
