/* Python read and never run: operators, formats, methods, loops, comprehensions,
 * branches, functions, classes, defaults; what is not understood voids its name alone;
 * work stays near linear. Literals and notebooks' dumps: test_launch.c. */
#include "dialect/python/python.h"
#include "value_bench.h"

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_python_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char *const calls[] = { "Job", NULL };
static const char *const same[] = { "dumps", NULL };

/* The value of x at the end, or the error. */
static void show(struct strbuf *out, const char *text)
{
    const struct python_wanted wanted = { .calls = calls, .same = same };
    struct arena arena;
    struct python p;
    struct err err = { 0 };
    arena_init(&arena);
    int rc = python_read(&p, &arena, text, strlen(text), &wanted, &err);
    const struct value *x = rc ? NULL : python_name(&p, "x");
    if (rc)
        strbuf_printf(out, "! %s", err.text);
    else if (x)
        value_show(out, x);
    for (int64_t i = 0; i < p.calls.n; i++) {
        strbuf_printf(out, " %d:%s", (int)p.calls.v[i].line, p.calls.v[i].function);
        value_show(out, p.calls.v[i].arguments);
    }
    python_release(&p);
    arena_release(&arena);
}

static void check(const char *text, const char *expected)
{
    struct strbuf b;
    strbuf_init(&b);
    show(&b, text);
    if (strcmp(strbuf_get(&b), expected) != 0)
        printf("\n%s\ngives    %.400s\ninstead  %s\n", text, strbuf_get(&b), expected);
    CU_ASSERT_STRING_EQUAL(strbuf_get(&b), expected);
    strbuf_release(&b);
}

struct row {
    const char *text, *expected;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(rows[i].text, rows[i].expected);
}

static void test_operators(void)
{
    static const struct row rows[] = {
        { "x = [7 / 2, 7 // 2, -7 // 2, 7 % 3, -7 % 3, 2 ** 10, 2 ** -1, -2 ** 2]",
          "[3.5,3,-4,1,2,1024,0.5,-4]" },
        { "x = [1 + 2 * 3, (1 + 2) * 3, 1.5e-4 * 2, 0.1 + 0.2, 7.5 // 2]",
          "[7,9,0.0003,0.3,3]" },
        { "x = [1 << 4, 6 & 3, 6 | 1, 256 >> 2, +3, --3]", "[16,2,7,64,3,3]" },
        { "x = [1 / 0, 2 ** 99, 1 << 70, 'a' - 1]",
          "[?it is no number that can be held,?it is no number that can be held,?it is "
          "no "
          "number that can be held,?it is arithmetic with \"-\"]" },
        { "x = [1 < 2, 2 <= 1, 1 == 1.0, 'a' != 'b', 1 < 2 < 3, 1 < 3 < 2]",
          "[True,False,True,True,True,False]" },
        { "x = ['b' in 'abc', 1 in [1, 2], 'k' in {'k': 1}, 3 not in [1], None is "
          "None, 1 "
          "is not None]",
          "[True,True,True,True,True,True]" },
        { "x = [not 0, 1 and 2, 0 or 'd', None or [] or 5, not not 1, y and False, "
          "True or "
          "y]",
          "[True,2,d,5,True,False,True]" },
        { "n = 4\nx = [1 if n > 2 else 2, 'a' if n == 5 else 'b' if n == 4 else 'c']",
          "[1,b]" },
        { "x = 1 if y else 1", "1" },
        { "x = y == 1", "?y is not known before" },
        { "x = [1, 2] + [3]", "[1,2,3]" },
        { "x = [0] * 3 + ['ab' * 2]", "[0,0,0,abab]" },
        { "a = {'m': 1, 'n': 2}\nx = a | {'n': 3}", "{m:1,n:3}" },
        { "x = {'a': 1}\nx |= {'b': 2}", "{a:1,b:2}" },
        { "x = 5\nx -= 2\nx *= 4\nx //= 5\nx **= 3", "8" },
        { "x = {'n': 1}\nx['n'] += 4", "{n:5}" },
        { "x = ['a']\ny = x\ny += ['b']", "[a,b]" },
        { "x = [1, 2, 3, 4][1:3] + list('abcd'[-2:])", "[2,3,c,d]" },
        { "x = [*[1, 2], *(3,)]", "[1,2,3]" },
        { "x = {1, 2}", "[1,2]" },
        { "a, (b, c) = 1, (2, 3)\nx = 1", "1" },
    };
    check_rows(rows, COUNT(rows));
}

static void test_text(void)
{
    static const struct row rows[] = {
        { "n = 8\nx = f'{n}-{n * 2}x{{y}}'", "8-16x{y}" },
        { "lr = 5e-5\nx = f'{lr} {lr:.2e} {3.14159:.2f} {7:03d} {lr:.1g}'",
          "5e-05 5.00e-05 3.14 007 5e-05" },
        { "h = {'a': 'b'}\nx = f\"{h['a']}/{'c'.upper()}\" '!'", "b/C!" },
        { "n = 2\nx = f'{n=}'", "n=2" },
        { "x = f'{y}-a'", "?y is not known before" },
        { "x = '{}-{}'.format(1, 'b') + '{0}{n:.1f}{0}'.format('c', n=2.0)",
          "1-bc2.0c" },
        { "x = '%s-%d-%.1f%%' % ('a', 2, 0.5)", "a-2-0.5%" },
        { "x = '%(k)s' % {'k': 1}", "1" },
        { "x = ','.join(['a', 'b']) + 'xAx'.lower().replace('x', 'y').strip('y')",
          "a,ba" },
        { "x = 'a b  c'.split() + '1,2'.split(',')", "[a,b,c,1,2]" },
        { "x = ['ml.p4d'.startswith('ml.'), 'a.py'.endswith('.sh')]", "[True,False]" },
        { "x = 'ml.p4d.24xlarge'.split('.')[1]", "p4d" },
        { "x = '{}'.format(y)", "?.format() is a call" },
        { "x = str(1.0) + str(1e-05) + str(True) + str(None) + str(1e22)",
          "1.01e-05TrueNone1e+22" },
    };
    check_rows(rows, COUNT(rows));
}

static void test_functions(void)
{
    static const struct row rows[] = {
        { "x = [int('7'), int(3.9), float('1e-3'), len('abc'), len([1, 2]), max(1, 5), "
          "min([4, 2]), sum([1, 2]), abs(-3), round(2.5), bool([])]",
          "[7,3,0.001,3,2,5,2,3,3,2,False]" },
        { "import math\nx = [math.ceil(7 / 2), math.floor(3.7)]", "[4,3]" },
        { "x = [int(y), len(y)]", "[?y is not known before,?y is not known before]" },
        { "x = list(range(3)) + list(range(1, 6, 2))", "[0,1,2,1,3,5]" },
        { "x = list(enumerate(['a'])) + list(zip([1], ['b'])) + list(reversed([1, 2]))",
          "[[0,a],[1,b],2,1]" },
        { "x = [int('10', base=16), int('0x1f', 16), int('7', base=y), int('11', 2)]",
          "[16,31,?y is not known before,3]" },
        { "x = [max([1, 5], key=f), max([], default=3), min([2], default=y), "
          "sum([1, 2], start=4), sum([1], start=y)]",
          "[?max() is a call,3,2,7,?y is not known before]" },
        { "x = list(enumerate(['a'], start=2)) + list(enumerate(['b'], y))",
          "[[2,a],[?y is not known before,b]]" },
        { "x = dict([('a', 1)], b=2)", "{a:1,b:2}" },
        { "import json\nx = json.loads('{\"a\": [true, null, 1.5]}')",
          "{a:[True,None,1.5]}" },
        { "import os\nx = os.environ.get('N', 4) + int(os.getenv('M', '3'))", "7" },
        { "from os import environ as e\nx = e.get('N')",
          "?N of the environment is not known" },
        { "import os\nx = os.path.join('a', 'b.py')", "a/b.py" },
        { "from pathlib import Path\nx = f'{Path.cwd()}/code'", "./code" },
        { "from copy import deepcopy\na = {'b': {'c': 1}}\nx = "
          "deepcopy(a)\na['b']['c'] = 2",
          "{b:{c:1}}" },
        { "x = {'a': 1}.get('b', 7)", "7" },
        { "h = {'a': 1, 'b': 2}\nx = [h.get('a'), h.get('z'), h.pop('b'), "
          "h.setdefault('c', 3), h]",
          "[1,None,2,3,{a:1,c:3}]" },
        { "x = {'a': 1, 'b': 2}\ndel x['a']", "{b:2}" },
        { "y = {}\nx = {'a': 1, 'b': 2, 'c': 3}\ndel y, x['a'], x['c']", "{b:2}" },
        { "x = []\nx.append(1)\nx.extend([2, 3])\nx.pop()", "[1,2]" },
        { "x = [1]\nx.sort()", "?it is changed by .sort() at line 2" },
        { "(\n    a,\n    b,\n) = (1, 2)\n[c, d] = [3, 4]\nx = [a, b, c, d]",
          "[1,2,3,4]" },
        { "x = field(default_factory=lambda: ['q', 'v'])", "[q,v]" },
        { "x = field(default_factory=lambda a: [a])",
          "?its field has no default here" },
        /* of the text itself */
        { "def f(a, b=2, *, c=3):\n    '''doc'''\n    return a * b + c\nx = f(5) + "
          "f(1, c=1)",
          "16" },
        { "def f(**k):\n    return {'a': 1, **k}\nx = f(b=2)", "{a:1,b:2}" },
        { "def f(n):\n    return f(n - 1)\nx = f(3)", "?f(...) is a call" },
        { "def f(n):\n    if n > 2:\n        return 'big'\n    return 'small'\nx = "
          "[f(1), f(3)]",
          "[small,big]" },
        { "def f(n):\n    if g():\n        return 1\n    return 2\nx = f(1)",
          "?what is returned depends on a condition that is not known" },
        { "n = 1\ndef f(n):\n    m = n\n    return m\ny = f(5)\nx = n", "1" },
        { "def job(kind, n):\n    return Job(kind=kind, n=n)\nx = job('a', n=2)",
          "?Job(...) is a call 2:Job{kind:a,n:2}" },
        { "def job(kind, n=4):\n    Job(kind=kind, n=n)\n",
          " 2:Job{kind:?kind is an argument of job(),n:4}" },
        { "def main():\n    h = {'a': 1}\n    Job(h=h)\nif __name__ == '__main__':\n   "
          " main()",
          " 3:Job{h:{a:1}}" },
        { "import functools\nx = functools.partial(g, 2)(3)", "?it is a call" },
        { "def parser():\n    p = argparse.ArgumentParser()\n    p.add_argument('--n', "
          "default=2)\n    return p\na = parser().parse_args()\nx = a.n",
          "2" },
        /* classes of fields, argparse */
        { "@dataclass\nclass A:\n    n: int = 4\n    s: str = 'a'\na = A(n=8)\nx = "
          "[a.n, a.s, "
          "A.n]",
          "[8,a,4]" },
        { "class C:\n    lr = 1\n    def f(self):\n        return 2\nx = C.lr", "1" },
        /* objects of the text's classes: attributes and methods */
        { "class C:\n    def __init__(self, n, m=2):\n        self.n = n * m\n"
          "    def twice(self, k=1):\n        return self.n * 2 + k\n"
          "x = C(3).n",
          "6" },
        { "class C:\n    def __init__(self, n, m=2):\n        self.n = n * m\n"
          "    def twice(self, k=1):\n        return self.n * 2 + k\n"
          "c = C(3, m=5)\nx = c.twice(k=4)",
          "34" },
        { "class C:\n    def __init__(self, n=1):\n        "
          "self.save_hyperparameters()\n"
          "c = C(n=7)\nx = c.hparams.n",
          "7" },
        { "class C:\n    def __init__(self, n):\n        self.n = n\n"
          "    def get(self):\n        return self.n\na = C(1)\nb = C(2)\nx = b.get()",
          "2" },
        { "class C:\n    def __init__(self, n):\n        self.n = n\n"
          "    def get(self, k):\n        return self.n + k\nx = C(1).get(2)",
          "3" },
        { "class C:\n    def __init__(self, n):\n        self.n = n\n"
          "        self.log(n)\n        self.m = self.double(n)\n"
          "    @staticmethod\n    def double(n):\n        return n * 2\n"
          "c = C(4)\nc.to(0)\nx = [c.n, c.m]",
          "[4,8]" },
        { "class C:\n    def __init__(self, n):\n        self.c = C(n)\nx = C(1).c.c.n",
          "?it is an attribute" },
        { "p = argparse.ArgumentParser()\np.add_argument('--batch-size', '-b', "
          "type=int, "
          "default=8)\np.add_argument('--fp16', "
          "action='store_true')\np.add_argument('--m')\na "
          "= p.parse_args()\nx = [a.batch_size, a.fp16, a.m]",
          "[8,False,?--m is an argument of the script]" },
        { "p.add_argument('--n', default=2)\na, _ = p.parse_known_args()\na.k = 3\nx = "
          "[a.n, "
          "a.k]",
          "[2,3]" },
    };
    check_rows(rows, COUNT(rows));
}

static void test_loops(void)
{
    static const struct row rows[] = {
        { "x = []\nfor i in range(3):\n    x.append(i * i)", "[0,1,4]" },
        { "x = {}\nfor k, v in {'a': 1, 'b': 2}.items():\n    x[k + '_'] = v",
          "{a_:1,b_:2}" },
        { "x = {'a': 1}\nfor k in ['b', 'c']:\n    x[k] = 0\n\n    # note\n    x['n'] "
          "= k\ny = 1",
          "{a:1,b:0,n:c,c:0}" },
        { "x = 0\nfor i, (a, b) in enumerate([(1, 2), (3, 4)]):\n    x += i * a * b",
          "12" },
        { "x = 0\nfor i in [1, 2, 3, 4]:\n    if i == 2: continue\n    if i == 4:\n    "
          "    "
          "break\n    x += i",
          "4" },
        { "x = 0\nfor i in [1, 2]:\n    for j in 'ab':\n        x += i", "6" },
        { "x = 1\nfor i in y:\n    x += 1", "?a loop changes it" },
        { "x = [1]\nfor i in y:\n    x.append(2)", "[1,2...]" },
        { "x = 1\nfor i in [1, 2]:\n    if y: break\n    x = i",
          "?the loop of line 2 changes it" },
        { "x = 1\nwhile False:\n    x = 2", "1" },
        { "x = 1\nwhile y:\n    x += 1\n", "?a loop changes it" },
        { "for i in []:\n    pass\nelse:\n    x = 3", "3" },
        { "for x in [1, 2, 3]:\n    if x == 2:\n        break\nelse:\n    x = 9", "2" },
        { "x = 1\nfor i in [1, 2]:\n    if i == y:\n        break\nelse:\n    x = 9",
          "?whether the loop of line 2 is left by break is not known" },
        { "x = 1\nfor i in y:\n    pass\nelse:\n    x = 9", "9" },
        { "x = 1\nwhile y:\n    if i:\n        break\nelse:\n    x = 9",
          "?whether the loop of line 2 is left by break is not known" },
        { "x = [i * 2 for i in range(4) if i % 2]", "[2,6]" },
        { "x = {k: v for k, v in zip('ab', [1, 2])}", "{a:1,b:2}" },
        { "x = [(i, j) for i in [1, 2] for j in [3]]", "[[1,3],[2,3]]" },
        { "x = sum(i for i in [1, 2, 3])", "6" },
        { "x = ','.join(f'{k}={v}' for k, v in {'a': 1}.items())", "a=1" },
        { "i = 7\ny = [i for i in [1]]\nx = i", "7" },
        { "x = [i for i in y if i]", "?y is not known before" },
        { "x = [i for i in [1] if y]", "?y is not known before" },
        { "x = {**{'a': 1 for _ in [0]}, 'b': [n\n for n in (1,\n 2)]}",
          "{a:1,b:[1,2]}" },
    };
    check_rows(rows, COUNT(rows));
}

static void test_branches(void)
{
    static const struct row rows[] = {
        { "n = 8\nif n > 4:\n    x = 'big'\nelif n > 2:\n    x = 'mid'\nelse:\n    x = "
          "'small'",
          "big" },
        { "if False:\n    x = 1\n    if True:\n        x = 2\nelse: x = 3", "3" },
        { "x = 1\nif y:\n    x = 2", "?it depends on line 2: y is not known before" },
        { "x = 1\nif y:\n    x = 1", "1" },
        { "if y:\n    x = 2\nelse:\n    x = 2", "2" },
        { "if y:\n    x = 2\nelif z:\n    x = 3\nelse:\n    x = 2",
          "?it depends on line 1: y is not known before" },
        { "x = {'a': 1, 'b': 1}\nif y:\n    x['a'] = 2\n    x['c'] = 3",
          "{a:?it depends on line 2: y is not known before,b:1,c:?it depends on line "
          "2: y is "
          "not known before}" },
        { "if y:\n    x = {'a': 1, 'b': 2}\nelse:\n    x = {'a': 1, 'b': 3}",
          "{a:1,b:?it depends on line 1: y is not known before}" },
        { "x = ['a']\nif y:\n    x.append('b')", "[a...]" },
        { "x = 1\nif y:\n    raise ValueError('no')\n    x = 2", "1" },
        { "x = {}\nif y:\n    if z:\n        x['a'] = 1\n    x['b'] = 2",
          "{a:?it depends on line 2: y is not known before,b:?it depends on line 2: y "
          "is not "
          "known before}" },
        { "if y:\n    Job(h={'a': 1})\nx = 1", "1 2:Job{h:{a:1}}" },
        { "h = {'a': 1}\nif y:\n    h['a'] = 2\nJob(h=h)",
          " 4:Job{h:{a:?it depends on line 2: y is not known before}}" },
        { "try:\n    x = 1\nexcept Error as e:\n    x = 2\nfinally:\n    y = 3", "1" },
        { "with open('f') as f, g() as h:\n    x = 4", "4" },
        { "if y: x = 1\nelse: x = 2\nx = 3", "3" },
        /* cases */
        { "m = 'b'\nmatch m:\n    case 'a' | 'b':\n        x = 1\n    case _:\n        "
          "x = 2",
          "1" },
        { "m = -3\nmatch m:\n    case -3 if m > 0:\n        x = 1\n    case n:\n       "
          " x = n",
          "-3" },
        { "match (1, y):\n    case (1, z):\n        x = 1\n    case _:\n        x = 2",
          "?it depends on line 1: a pattern that is not followed" },
        { "match = 2\nmatch += 1\nx = match", "3" },
        /* names of outside */
        { "x = 1\ndef f():\n    global x\n    x = 2\nf()", "2" },
        { "x = 1\ndef f():\n    x = 2\nf()", "1" },
        { "x = 1\ndef f():\n    global x\n    x = 2", "1" },
        { "def f():\n    a = 1\n    def g():\n        nonlocal a\n        a = 2\n    "
          "g()\n    "
          "return a\nx = f()",
          "2" },
        { "x = 1\nglobals()['x'] = 2", "2" },
        { "from types import SimpleNamespace\na = SimpleNamespace(n=1)\nvars(a)['n'] = "
          "2\n"
          "a.__dict__['m'] = 3\nx = [a.n, a.m]",
          "[2,3]" },
        { "from types import SimpleNamespace\na = "
          "SimpleNamespace(n=1)\nvars(a).update(n=2)\n"
          "a.__dict__.update({'m': 3})\nx = [a.n, a.m, {**a.__dict__}['n']]",
          "[2,3,2]" },
        /* all that others leave */
        { "a, *b = [1, 2, 3]\n*c, d = [4, 5]\ne, *f, g = 6, 7\nx = [a, b, c, d, e, f, "
          "g]",
          "[1,[2,3],[4],5,6,[],7]" },
        { "x = 1\nx, *y, z = [2]", "?it is unpacked from what is not known" },
        { "if y:\n  x = 1\n\nx = 5", "5" },
    };
    check_rows(rows, COUNT(rows));
}

/* One thing that is not understood voids its name, and nothing else. */
static void test_void(void)
{
    static const struct row rows[] = {
        { "x = {'a': 1, 'b': f(2), 'c': y.z[0], 'd': lambda q: q, 'e': 5}",
          "{a:1,b:?f(...) is a call,c:?y.z is not known before,d:?it is an expression "
          "with "
          "\"lambda\",e:5}" },
        { "x = {'a': 1, f(): 2}", "{a:1...}" },
        { "x = dict(a=1, **f())", "{a:1...}" },
        { "x = {'a': 1}\nx[f()] = 2", "?an element of it is set at line 2" },
        { "x = 1\ny = 'open\nz = 2", "1" },
        { "x = {'a': await f(), 'b': 2}",
          "{a:?it is an expression with \"await\",b:2}" },
        { "match y:\n    case 1:\n        x = 1\n",
          "?it depends on line 1: y is not known before" },
        /* what a line that cannot be read decides, and unpacks */
        { "x = 1\nif y ! z:\n    x = 2\nelse:\n    x = 3",
          "?it is under line 4, whose beginning is not read" },
        { "x = 1\na, (b, x) = 1, (2, 3)", "?it is unpacked at line 2" },
        { "x = 1\ny[0].x[1], y.a(2).x = 2, 3", "1" },
        { "x = [1, 2]\nx[0:1] = [4]", "?an element of it is set at line 2" },
        { "y, (z, w) = 1, Job(a=1)\nx = 1", "1 1:Job{a:1}" },
        { "x = 1\n@ wrong (\ny = 2", "1" },
    };
    check_rows(rows, COUNT(rows));
}

/* Loops, calls and comprehensions in each other end, and say so. */
static void test_work(void)
{
    static const char *const texts[] = {
        "x = 0\nfor a in range(900):\n  for b in range(900):\n    for c in "
        "range(900):\n      "
        "x += 1\n",
        "x = [1 for a in range(900) for b in range(900) for c in range(900)]\n",
        "def f(n):\n  return [f(n), f(n), f(n), f(n)]\nx = f(1)\n",
        "x = 'a'\nfor i in range(900):\n  x = x + x\n",
        "x = []\nfor i in range(900):\n  x = [x, x]\n",
        "x = {}\nfor i in range(900):\n  x['x'] = x\n  if y:\n    x['y'] = x\n",
        "x = 9 ** 9 ** 9 ** 9\n",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        const struct python_wanted wanted = { .calls = calls, .same = same };
        struct arena arena;
        struct python p;
        struct err err = { 0 };
        arena_init(&arena);
        if (python_read(&p, &arena, texts[i], strlen(texts[i]), &wanted, &err) == 0)
            CU_ASSERT_PTR_NOT_NULL(python_name(&p, "x"));
        python_release(&p);
        arena_release(&arena);
    }
    check(texts[0], "?the loop of line 2 changes it");
}

/* Modules --------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
} modules[] = {
    { "sizes", "BATCH = 4\nNAMES = ['a', 'b']\n_hidden = 1\ndef f(x): return x\n" },
    { "pack.models", "from pack.kinds import KIND\nID = 'org/' + KIND\nopen_ = f()\n" },
    { "pack.kinds", "KIND = 'x-7b'\n" },
    { "around", "from around import A\nA = 1\n" }, /* imports itself */
    { "broken", "A = (\n" },
};

static const char *module_text(const void *of, struct arena *arena, const char *module,
                               const char **path)
{
    (void)of;
    *path = arena_printf(arena, "%s.py", module);
    for (size_t i = 0; i < COUNT(modules); i++)
        if (strcmp(modules[i].name, module) == 0)
            return modules[i].text;
    return NULL;
}

static void check_module(const char *text, const char *expected)
{
    int left = 30;
    const struct python_modules all = { .text = module_text, .left = &left };
    const struct python_wanted wanted = { .calls = calls,
                                          .same = same,
                                          .modules = &all };
    struct arena arena;
    struct python p;
    struct err err = { 0 };
    struct strbuf b;
    arena_init(&arena);
    strbuf_init(&b);
    CU_ASSERT_EQUAL(python_read(&p, &arena, text, strlen(text), &wanted, &err), 0);
    value_show(&b, python_name(&p, "x"));
    if (strcmp(strbuf_get(&b), expected) != 0)
        printf("\n%s\ngives    %.400s\ninstead  %s\n", text, strbuf_get(&b), expected);
    CU_ASSERT_STRING_EQUAL(strbuf_get(&b), expected);
    strbuf_release(&b);
    python_release(&p);
    arena_release(&arena);
}

static void test_modules(void)
{
    static const struct row rows[] = {
        { "from sizes import BATCH as b\nx = b * 2\n", "8" },
        { "import sizes\nx = sizes.NAMES\n", "[a,b]" },
        { "import sizes as s\nx = s.BATCH\n", "4" },
        { "from sizes import *\nx = BATCH\n", "4" },
        { "from .sizes import BATCH\nx = BATCH\n", "4" },
        { "from . import sizes\nx = sizes.BATCH\n", "4" },
        { "from pack import models\nx = models.ID\n", "org/x-7b" },
        { "from pack.models import ID\nx = ID\n", "org/x-7b" },
        { "from pack.models import ID\nID = 1\nx = ID\n", "1" },
        { "from sizes import NAMES\nNAMES.append('c')\nif y:\n  NAMES.append('d')\n"
          "x = NAMES[0]\n",
          "?it is an element that is not known" },
        { "from around import A\nx = A\n", "1" },
        { "from sizes import f\nx = f\n", "?it is imported" },
        { "from sizes import NONE\nx = NONE\n", "?it is imported" },
        { "from pack.models import open_\nx = open_\n", "?it is imported" },
        { "from broken import A\nx = A\n", "?it is imported" },
        { "from torch import B\nx = B\n", "?it is imported" },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_module(rows[i].text, rows[i].expected);
}

void test_python_register(void)
{
    CU_pSuite s = CU_add_suite("python", NULL, NULL);
    CU_add_test(s, "operators", test_operators);
    CU_add_test(s, "text", test_text);
    CU_add_test(s, "functions and classes", test_functions);
    CU_add_test(s, "loops and comprehensions", test_loops);
    CU_add_test(s, "branches", test_branches);
    CU_add_test(s, "what is not understood", test_void);
    CU_add_test(s, "work", test_work);
    CU_add_test(s, "modules", test_modules);
}
