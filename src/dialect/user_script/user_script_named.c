/* Optimizers that a text makes by name, where its calls are not followed: an object of a
 * class that a condition chooses, or of a method that is not read. */
#include "dialect/user_script/user_script.h"

#include <ctype.h>
#include <string.h>

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether the word before a place, after blanks, is that one. */
static bool follows(const char *text, const char *at, const char *word)
{
    size_t n = strlen(word);
    while (at > text && (at[-1] == ' ' || at[-1] == '.'))
        at--;
    return (size_t)(at - text) >= n && strncmp(at - n, word, n) == 0;
}

/* Muon(...), and one of a choice: Muon if ddp else SingleDeviceMuon. */
static bool is_made(const char *text, const char *at, const char *end)
{
    end += strspn(end, " ");
    return !follows(text, at, "class") && !follows(text, at, "def") &&
           (*end == '(' || strncmp(end, "if ", 3) == 0 ||
            strncmp(end, "else ", 5) == 0 || follows(text, at, "else"));
}

void user_script_ask_other_optimizer(struct launch_context *t, const char *class,
                                     const char *file, int64_t line)
{
    static const char at[] = "/training/optimizer";
    const char *word = user_script_optimizer_word(class);
    launch_add_unresolved(t, at, line,
                          "%.60s makes %.60s(...): whether it is the training's is not "
                          "read",
                          file, class);
    launch_add_example(t, at, *word ? word : "adam");
}

const char *user_script_other_optimizer(struct arena *arena, const char *text)
{
    for (const char *s = text; s && *s;) {
        if (*s == '#') {
            s += strcspn(s, "\n");
            continue;
        }
        size_t n = 0;
        while (is_letter(s[n]))
            n++;
        const char *name =
            n && isupper((unsigned char)*s) ? arena_strndup(arena, s, n) : "";
        const char *word = *name ? user_script_optimizer_word(name) : NULL;
        if (word && strcmp(word, "adam") != 0 && is_made(text, s, s + n))
            return name;
        s += n ? n : 1;
    }
    return NULL;
}
