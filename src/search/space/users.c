#include "search/space/users.h"

#include <stdio.h>
#include <string.h>

enum { NOTHING = 0, DATA = 1, TENSOR = 2, STAGES = 4, CONTEXTS = 8, ALL = 15 };

/* Sources.
 * trainer: transformers' Trainer drives DDP, FSDP and DeepSpeed's ZeRO, none of which
 *   splits layers or stages ("Accelerate", "FSDP" and "DeepSpeed" of its guide;
 *   TrainingArguments.fsdp, .deepspeed); Horovod and SMDDP replace the process group
 *   (SageMaker's developer guide, "Hugging Face"). SMP v1 wraps its model, with stages
 *   for any, and splits layers of GPT-2, BERT, RoBERTa, GPT-J and GPT-Neo out of the box
 *   (developer guide, "Support for Hugging Face Transformer Models"); v2 is FSDP with
 *   Transformer Engine's layers under transformers' models ("Tensor parallelism").
 *   PEFT's adapters are trained by it (PEFT's guide, "Quicktour").
 * pretraining: Megatron-LM has pretrain_gpt.py, whose switches cover the decoders,
 *   pretrain_bert.py and pretrain_t5.py, and none for RoBERTa or DistilBERT;
 *   Megatron-DeepSpeed has the same three under ZeRO and DeepSpeed's pipelines. FSDP's
 *   stages are torch.distributed.pipelining's, as torchtitan has them, for decoders. */
static const struct {
    unsigned trainer, decoders, others; /* of encoders and pairs: those of `known` */
    const char *known[3];
} users[SPACE_STACKS_N] = {
    [STACK_DDP] = { DATA, DATA, DATA, { NULL } },
    [STACK_HOROVOD] = { DATA, DATA, DATA, { NULL } },
    [STACK_FSDP] = { DATA, DATA | STAGES, DATA, { NULL } },
    [STACK_DEEPSPEED] = { DATA, ALL, ALL, { "bert", "t5", NULL } },
    [STACK_MEGATRON] = { NOTHING, ALL, ALL, { "bert", "t5", NULL } },
    [STACK_SMP1] = { ALL, ALL, ALL, { NULL } },
    [STACK_SMP2] = { DATA | TENSOR | CONTEXTS, ALL, DATA, { NULL } },
    [STACK_SMDDP] = { DATA, DATA, DATA, { NULL } },
};

enum space_script space_users_script(const struct model *m, const char *task,
                                     bool adapters)
{
    static const char *const tasks[] = { "question-answering", "token-classification",
                                         "classification", NULL };
    bool tuned = task && names_listed(tasks, task);
    return adapters || tuned || (!task && m->arch != MODEL_DECODER)
               ? SPACE_SCRIPT_TRAINER
               : SPACE_SCRIPT_PRETRAINING;
}

static bool is_known(const char *const *known, const char *family)
{
    for (int i = 0; known[i]; i++)
        if (strcmp(known[i], family) == 0)
            return true;
    return known[0] == NULL;
}

/* What the users have of a stack. Who names it has what any script of it does with the
 * model, and all of it where none has one: such a user wrote it. */
static unsigned parts_of(const struct space *s, int64_t stack)
{
    bool decodes = s->model->arch == MODEL_DECODER,
         known = decodes || is_known(users[stack].known, s->model->family);
    unsigned trainer = users[stack].trainer, scripts = decodes ? users[stack].decoders
                                                       : known ? users[stack].others
                                                               : trainer;
    if (!(s->named_stacks >> stack & 1))
        return s->script == SPACE_SCRIPT_TRAINER ? trainer : scripts;
    unsigned any = trainer | scripts;
    return any == NOTHING ? ALL : any;
}

/* Whether the reason is what the Trainer drives. */
static bool is_trainers(const struct space *s, int64_t stack)
{
    return s->script == SPACE_SCRIPT_TRAINER && !(s->named_stacks >> stack & 1);
}

/* What a point asks for; a degree that the user gives is one that the user has. */
static unsigned asked_of(const struct space *s, const struct space_point *p)
{
    unsigned asked = DATA;
    if (p->v[SPACE_TENSOR] > 1 && !s->given[SPACE_TENSOR])
        asked |= TENSOR;
    if (p->v[SPACE_PIPELINE] > 1 && !s->given[SPACE_PIPELINE])
        asked |= STAGES;
    if (p->v[SPACE_CONTEXT] > 1 && !s->given[SPACE_CONTEXT])
        asked |= CONTEXTS;
    return asked;
}

bool space_users_can(const struct space *s, const struct space_point *p)
{
    return !(asked_of(s, p) & ~parts_of(s, p->v[SPACE_LIBRARY]));
}

const char *space_users_why(const struct space *s, const struct space_point *p,
                            char *buf, size_t size)
{
    unsigned have = parts_of(s, p->v[SPACE_LIBRARY]), lack = asked_of(s, p) & ~have;
    const char *name = space_stacks[p->v[SPACE_LIBRARY]].name;
    const char *what = have == NOTHING ? ""
                       : lack & STAGES ? "'s pipelines"
                       : lack & TENSOR ? "'s tensor parallelism"
                                       : "'s context parallelism";
    if (is_trainers(s, p->v[SPACE_LIBRARY]))
        snprintf(buf, size, "the Hugging Face Trainer does not run %s%s", name, what);
    else
        snprintf(buf, size, "%s%s %s no script for %s", name, what,
                 lack & STAGES && have ? "have" : "has", s->model->family);
    return buf;
}
