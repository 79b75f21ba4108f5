/* Copies of nanoGPT that have another optimizer than its AdamW: their train.py, or the
 * model.py next to it, makes an object of another class. */
#include "dialect/nanogpt/nanogpt.h"

#include "dialect/launch/launch_imports.h"
#include "dialect/user_script/user_script.h"

bool nanogpt_ask_optimizer(struct launch_context *t, const char *text, int64_t line)
{
    const char *class = user_script_other_optimizer(t->arena, text), *file = "train.py";
    if (!class) {
        class = user_script_other_optimizer(
            t->arena, launch_program_text(t->l, t->arena, "model.py"));
        file = "model.py";
    }
    if (!class)
        return false;
    user_script_ask_other_optimizer(t, class, file, line);
    return true;
}
