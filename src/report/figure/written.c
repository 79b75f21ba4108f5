#include "report/figure/written.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The words of models' names. A size or a variant follows a blank, or a hyphen. */
static const struct word {
    const char *name, *written;
    bool hyphen; /* what follows is joined by it */
} words[] = {
    { "bert", "BERT", true },
    { "deepseek", "DeepSeek", true },
    { "flan", "Flan", true },
    { "gpt", "GPT", true },
    { "gpt2", "GPT-2", false },
    { "gpt3", "GPT-3", false },
    { "j", "J", false },
    { "llama", "Llama", false },
    { "llama2", "Llama 2", false },
    { "llama3", "Llama 3", false },
    { "llama3.1", "Llama 3.1", false },
    { "mixtral", "Mixtral", false },
    { "neox", "NeoX", false },
    { "roberta", "RoBERTa", true },
    { "t5", "T5", true },
    { "v2", "V2", false },
    { "v3", "V3", false },
    { "xl", "XL", false },
    { "xxl", "XXL", false },
    { "base", "base", false },
    { "large", "large", false },
    { "medium", "medium", false },
    { "small", "small", false },
    { "uncased", "", false },
};

static const struct word *find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].name) == n && strncmp(words[i].name, name, n) == 0)
            return &words[i];
    return NULL;
}

/* "175b", "8x7b", "6.7b": a count of parameters. */
static bool is_size(const char *s, size_t n)
{
    return n > 1 && isdigit((unsigned char)s[0]) &&
           strspn(s, "0123456789.x") == n - 1 && strchr("bm", s[n - 1]);
}

/* One word of a name; -1: it is not known. */
static int add_word(struct strbuf *out, const char *s, size_t n, bool hyphen)
{
    const struct word *word = find(s, n);
    const char *gap = out->len == 0 ? "" : hyphen ? "-" : " ";

    if (is_size(s, n)) {
        strbuf_printf(out, "%s%.*s%c", out->len ? " " : "", (int)n - 1, s,
                      toupper((unsigned char)s[n - 1]));
        return 0;
    }
    if (!word)
        return -1;
    if (*word->written)
        strbuf_printf(out, "%s%s", gap, word->written);
    return word->hyphen;
}

char *written_model(const char *name)
{
    struct strbuf out;
    int hyphen = 0;

    strbuf_init(&out);
    for (const char *s = name; *s && hyphen >= 0;) {
        size_t n = strcspn(s, "-");
        hyphen = add_word(&out, s, n, hyphen);
        s += n + (s[n] != '\0');
    }
    char *text = xstrdup(hyphen < 0 || out.len == 0 ? name : strbuf_get(&out));
    strbuf_release(&out);
    return text;
}

static const struct {
    const char *name, *written;
} schedules[] = {
    { "gpipe", "GPipe" },
    { "1f1b", "1F1B" },
    { "interleaved", "Interleaved 1F1B" },
    { "looped-bfs", "Looped BFS" },
    { "zb-h1", "ZB-H1" },
    { "interleaved-zb", "Interleaved zero-bubble" },
    { "zb-v", "ZB-V" },
    { "dualpipe-v", "DualPipe-V" },
    { "smp-simple", "SMP's simple" },
    { "smp-interleaved", "SMP's interleaved" },
};

const char *written_schedule(const char *name)
{
    for (size_t i = 0; i < sizeof(schedules) / sizeof(*schedules); i++)
        if (strcmp(schedules[i].name, name) == 0)
            return schedules[i].written;
    return name;
}

char *written_collective(const char *name)
{
    char *text = xstrdup(name);

    text[0] = (char)toupper((unsigned char)text[0]);
    for (char *c = text; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return text;
}

const char *written_word(const char *name)
{
    static const struct {
        const char *name, *written;
    } rows[] = {
        { "amp_bf16", "AMP BF16" }, { "amp_fp16", "AMP FP16" },
        { "amp_fp8", "AMP FP8" },   { "bf16", "BF16" },
        { "ddp", "DDP" },           { "deepspeed", "DeepSpeed" },
        { "fp16", "FP16" },         { "fp32", "FP32" },
        { "fp8", "FP8" },           { "fsdp", "FSDP" },
        { "horovod", "Horovod" },   { "internevo", "InternEvo" },
        { "megatron", "Megatron" }, { "megatron-fsdp", "Megatron-FSDP" },
        { "nccl", "NCCL" },         { "parameter-server", "parameter servers" },
        { "smddp", "SMDDP" },       { "smp", "SMP" },
        { "smp-v1", "SMP v1" },     { "smp-v2", "SMP v2" },
        { "nanotron", "Nanotron" }, { "tf32", "TF32" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].written;
    return name;
}
