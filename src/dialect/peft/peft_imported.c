/* Adapters that a module next to the program makes: of a program without a training in its
 * own text, such as one that derives a class of the module's, nothing else says so. */
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"

#include <ctype.h>
#include <string.h>

enum { MODULE_NAME_MAX = 120 };

/* "base" of a line "from base import Trainer" or "import base"; false: it is neither. */
static bool module_of(const char *line, char *name)
{
    size_t n = 0;
    line += strspn(line, " \t");
    if (strncmp(line, "from ", 5) != 0 && strncmp(line, "import ", 7) != 0)
        return false;
    line += *line == 'f' ? 5 : 7;
    line += strspn(line, " .");
    while (n < MODULE_NAME_MAX &&
           (isalnum((unsigned char)line[n]) || line[n] == '_' || line[n] == '.'))
        n++;
    memcpy(name, line, n);
    name[n] = '\0';
    return n > 0 && n < MODULE_NAME_MAX;
}

static bool makes_adapters(const char *text)
{
    return strstr(text, "LoraConfig(") || strstr(text, "get_peft_model(");
}

void peft_ask_imported(struct launch_context *t, const char *program, int64_t line)
{
    char name[MODULE_NAME_MAX + 1];
    struct launch_imports imports;
    const struct python_modules *m = launch_imports(&imports, t->l, program);
    if (launch_has(t, PEFT_LORA) || launch_is_unresolved(t, PEFT_LORA))
        return;
    for (const char *at = launch_program_text(t->l, t->arena, program); at;
         at = strchr(at, '\n')) {
        const char *path, *text;
        at += *at == '\n';
        if (!module_of(at, name) || imports.left-- <= 0)
            continue;
        text = m->text(m->of, t->arena, name, &path);
        if (!text || !makes_adapters(text))
            continue;
        launch_add_unresolved(
            t, PEFT_LORA, line,
            "%.60s makes adapters for %.60s, and is not read; null is "
            "training without",
            launch_last_part(path), launch_last_part(program));
        return;
    }
}

void peft_ask_base(struct launch_context *t, int64_t line)
{
    static const char *const stays[] = { PEFT_LORA, PEFT_BASE, PEFT_DTYPE };
    bool known = !t->adapters || t->converts || launch_has(t, PEFT_BASE) ||
                 launch_has(t, PEFT_DTYPE);
    for (size_t i = 0; i < sizeof(stays) / sizeof(stays[0]); i++)
        known |= launch_is_unresolved(t, stays[i]);
    if (known)
        return;
    launch_add_unresolved(t, PEFT_BASE, line,
                          "how the model below the adapters is loaded is not given: "
                          "bf16, fp16 or fp32, or nf4 or int8 of bitsandbytes");
    launch_add_example(
        t, PEFT_BASE,
        strstr(t->l->file, "qlora") || strstr(t->l->file, "4bit") ? "nf4" : "bf16");
}
