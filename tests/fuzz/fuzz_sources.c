/* Whatever bytes come as YAML, TOML, a notebook, Python or a shell's script, its source
 * ends with values or with an error, in time near linear in the text. Build it with clang's
 * fuzzer, or with -DFUZZ_ALONE for a main that mutates seeds: fuzz_sources [SECONDS
 * [SEED]]. */
#include "dialect/python/python.h"
#include "dialect/shell/shell.h"
#include "dialect/source/manifest.h"
#include "dialect/source/notebook.h"
#include "dialect/source/toml.h"
#include "dialect/source/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_yaml(struct arena *arena, const char *text, size_t size)
{
    struct err err = { 0 };
    struct yaml y;
    struct manifest m;
    if ((yaml_read(&y, arena, text, size, &err) != 0) != err.set)
        abort();
    for (int64_t i = 0; i < y.documents.n; i++)
        yaml_interpolate(&y, y.documents.v[i]);
    manifest_read(&m, arena, y.documents.v, y.documents.n);
    manifest_release(&m);
    yaml_release(&y);
}

static void read_python(struct arena *arena, const char *text, size_t size)
{
    static const char *const calls[] = { "Job", NULL }, *const same[] = { "dumps",
                                                                          NULL };
    const struct python_wanted wanted = { .calls = calls, .same = same };
    struct err err = { 0 };
    struct python p;
    if ((python_read(&p, arena, text, size, &wanted, &err) != 0) != err.set)
        abort();
    python_release(&p);
}

static void read_shell(struct arena *arena, const char *text, size_t size)
{
    const struct shell_setting in = { .file = "/nonexistent/run.sh", .gpus = 8 };
    struct err err = { 0 };
    struct shell s;
    if ((shell_read(&s, &in, arena, text, size, NULL, 0, &err) != 0) != err.set)
        abort();
    shell_release(&s);
}

static void read_notebook(const char *text, size_t size)
{
    struct cfg_loader loader;
    struct notebook nb = { .python = NULL };
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "a.ipynb", text, size);
    if (root.json && notebook_read(&nb, root) && loader.diags.n_errors == 0)
        abort();
    notebook_release(&nb);
    cfg_loader_release(&loader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct arena arena;
    struct err err = { 0 };
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    arena_init(&arena);
    read_yaml(&arena, text, size);
    if ((toml_read(&arena, text, size, &err) == NULL) != err.set)
        abort();
    read_python(&arena, text, size);
    read_shell(&arena, text, size);
    read_notebook(text, size);
    arena_release(&arena);
    free(text);
    return 0;
}

#ifdef FUZZ_ALONE
#include "fuzz_alone.h"

static const char *const seeds[] = {
    "a: &x {b: 1}\nc: *x\n<<: *x\nd: [1, yes, ~, '${c.b}', \"${a}-${d[0]}\"]\ne: !t "
    "|\n  f\n---\napiVersion: v1\nkind: Job\nspec: {parallelism: 2, containers: "
    "[{command: "
    "[bash, -c, x], env: [{name: A, value: b}]}]}\n",
    "[a.b]\nc.d = \"x\\u00e9\" # y\n[[e]]\nf = [1, 0x1f, 1e5, 1979-05-27 07:32:00, "
    "'''z\n''']\n"
    "g = { h = true, i.j = -inf }\n",
    "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"%%bash\\n\", \"torchrun "
    "a.py "
    "{x}\"]}, {\"cell_type\": \"code\", \"source\": \"%%writefile -a f\\n!x \\\\\"}]}",
    "h = {'a': 1}\nfor i, (k, v) in enumerate(h.items()):\n    h[k + f'{i:02d}'] = v "
    "** 2\n"
    "    if y: break\ndef f(n, *a, m=2, **k):\n    if n: return [j for j in range(n) "
    "if j]\n"
    "    return {**k, 'n': m}\nif z:\n    h['b'] = f(3)\nelse:\n    h |= f(0, q=1)\n"
    "x = Job(h=h, t='%s-{}' % 1, u=a if b else c, v=h['a'][1:2])\nclass A(B):\n    d: "
    "int = 1\n",
    "declare -A m=([p]=1 [q]=2)\nm[$k]=3\nfor k in \"${!m[@]}\"; do a ${m[$k]} "
    "${x##*/} "
    "${y/a/b} ${z:1:2} ${w,,}; done\nD=$(cd \"$(dirname $0)\" && pwd)\nsource "
    "$D/e.sh\nn=$(echo "
    "$x | tr ',' '\\n' | wc -l)\n",
};

static const char *const words[] = {
    "${",         "}",         "&x ",       "*x",
    "<<: ",       "? ",        "- ",        "!t ",
    "---\n",      "|\n",       "[[",        "]]",
    " = ",        "'''",       "\"\"\"",    "\\u",
    "\n",         "\n    ",    "for ",      "in ",
    "if ",        "else:",     "elif ",     "while ",
    "def f(",     "return ",   "class ",    "lambda ",
    "**",         "f'{",       "{x}",       "x",
    "h",          "(",         ")",         "[",
    "]",          "{",         ":",         ",",
    ".",          "=",         "+=",        "1",
    "9999999999", "$(",        "`",         "##",
    "//",         ":1:2",      "${!",       "[@]",
    "source ",    "\t",        "\xff",      "\xc3\xa9",
    "#",          "'",         "\"",        "\\",
    "%%bash\\n",  "In [2]:\n", "```\n",     "h[h]=h\n",
    "break\n",    "try:\n",    "except:\n", "x = [x, x]\n",
    "not ",       " and ",     " is ",
};

FUZZ_MAIN(seeds, words, "/tmp/fuzz_sources_last")
#endif
