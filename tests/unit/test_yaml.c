/* YAML as values: scalars as PyYAML has them, anchors, merge keys, tags, documents,
 * OmegaConf's interpolations; places; limits; texts that are none. */
#include "dialect/source/yaml.h"
#include "value_bench.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_yaml_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* All documents in a line, apart by " | "; or the error. */
static void show(struct strbuf *out, const char *text, size_t len)
{
    struct arena arena;
    struct err err = { 0 };
    struct yaml y;
    arena_init(&arena);
    if (yaml_read(&y, &arena, text, len, &err))
        strbuf_printf(out, "! %d:%d: %s", err.line, err.column, err.text);
    for (int64_t i = 0; !err.set && i < y.documents.n; i++) {
        yaml_interpolate(&y, y.documents.v[i]);
        strbuf_addstr(out, i ? " | " : "");
        value_show(out, y.documents.v[i]);
    }
    for (int64_t i = 0; !err.set && i < y.notes.n; i++)
        strbuf_printf(out, " # %d: %s", (int)y.notes.v[i].line, y.notes.v[i].text);
    yaml_release(&y);
    arena_release(&arena);
}

static void check(const char *text, size_t len, const char *expected)
{
    struct strbuf b;
    strbuf_init(&b);
    show(&b, text, len);
    if (strcmp(strbuf_get(&b), expected) != 0)
        printf("\n%.200s\ngives    %.600s\ninstead  %s\n", text, strbuf_get(&b),
               expected);
    CU_ASSERT_STRING_EQUAL(strbuf_get(&b), expected);
    strbuf_release(&b);
}

static const struct {
    const char *text, *expected;
} cases[] = {
    { "", "" },
    { "# nothing\n", "" },
    { "a: \"b\"# c\nd: 'e'#f\ng: \"h#i\" # j\n", "{a:b,d:e,g:h#i}" }, /* likewise */
    { "a: 1\nb: two\nc:\n  - x\n  - y: 2\n", "{a:1,b:two,c:[x,{y:2}]}" },
    { "a: [1,\n2\n]\nb: 3\n", "{a:[1,2],b:3}" }, /* as PyYAML takes it */
    { "{a: [1, 2], 'b c': {}}", "{a:[1,2],b c:{}}" },
    { "\xef\xbb\xbf"
      "a: 1\r\nb: 2\r\n",
      "{a:1,b:2}" },
    /* plain scalars, as PyYAML has them */
    { "[true, True, yes, On, false, NO, off]",
      "[True,True,True,True,False,False,False]" },
    { "[y, n, yesterday]", "[y,n,yesterday]" },
    { "[null, ~, Null, ]", "[None,None,None]" },
    { "a:\nb: 1\n", "{a:None,b:1}" },
    { "[12, -3, +4, 0x1F, 017, 0o17, 1_000]", "[12,-3,4,31,15,15,1000]" },
    { "[1.5, -2., .5, 1e-5, 5E3, 1_0.5]", "[1.5,-2,0.5,1e-05,5000,10.5]" },
    { "[1.2.3, 1:30, 2024-01-02, 1e, e5, '12', \"1.5\", 0x, a-, 08]",
      "[1.2.3,1:30,2024-01-02,1e,e5,12,1.5,0x,a-,08]" },
    { "[.inf, 99999999999999999999, 1e999]",
      "[?it is no number that can be held,?it is no number that can be held,?it is no "
      "number that can be held]" },
    { "a: |\n  b\n  c\nd: >\n  e\n  f\n", "{a:b\nc\n,d:e f\n}" },
    { "1: a\ntrue: b\n", "{1:a,true:b}" },
    /* anchors, aliases, merge keys */
    { "a: &x {b: 1}\nc: *x\nd: &y 5\ne: [*y, *y]\n", "{a:{b:1},c:{b:1},d:5,e:[5,5]}" },
    { "base: &b {lr: 1, n: 2}\njob:\n  n: 3\n  <<: *b\n  m: 4\n",
      "{base:{lr:1,n:2},job:{n:3,m:4,lr:1}}" },
    { "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  <<: [*a, *b]\n",
      "{a:{x:1,y:1},b:{y:2,z:2},c:{x:1,y:1,z:2}}" },
    { "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}\n",
      "{a:{x:1},b:{y:2,x:1},c:{y:2,x:1}}" },
    { "'<<': 1\n", "{<<:1}" },
    { "&k a: 1\nb: *k\n", "{a:1,b:a}" },
    { "a: &x 1\nb: &x 2\nc: *x\n", "{a:1,b:2,c:2}" },
    /* tags */
    { "[!!str 12, !!int '7', !!float 1, !!bool 'yes', ! 5]", "[12,7,1,True,5]" },
    { "a: !!python/tuple [1, 2]\n", "{a:[1,2]}" },
    { "a: !!python/object/apply:os.system ['ls']\nb: 1\n",
      "{a:?the tag !!python/object/apply:os.system would have to be run,b:1}" },
    { "a: !include b.yaml\n", "{a:?the tag !include would have to be run}" },
    { "a: !reference [b, c]\n", "{a:?the tag !reference would have to be run}" },
    /* documents */
    { "a: 1\n---\nb: 2\n...\n---\n- 3\n", "{a:1} | {b:2} | [3]" },
    { "--- \na: &x 1\n---\nb: *x\n", "! 4:5: no anchor before this is called \"x\"" },
    /* interpolation */
    { "m: {h: 4}\na: ${m.h}\nb: x-${m.h}-${a}\n", "{m:{h:4},a:4,b:x-4-4}" },
    { "m: {h: 4, f: '${.h}', g: {k: '${..h}'}}", "{m:{h:4,f:4,g:{k:4}}}" },
    { "l: [1, 2]\na: ${l[1]}\nb: ${l.0}\n", "{l:[1,2],a:2,b:1}" },
    { "a: ${b}\nb: ${c}\nc: {d: 1}\n", "{a:{d:1},b:{d:1},c:{d:1}}" },
    { "a: ${multiply:4,${b}}\nb: 8\nc: ${divide_ceil:9,${b}}\n", "{a:32,b:8,c:2}" },
    { "a: ${b.${c}}\nb: {x: 7}\nc: x\n", "{a:7,b:{x:7},c:x}" },
    { "a: ${oc.env:SIZE,7}\nb: ${oc.env:HOME}\n",
      "{a:7,b:?\"${HOME}\" is of the environment, which is not known} # 1: SIZE of the "
      "environment is taken to be 7, its default here" },
    { "a: ${oc.select:no.such,3}\n", "{a:3}" },
    { "a: ${HOME}/x\n", "{a:?\"${HOME}\" names no key of this file}" },
    { "a: ${eval:'1+1'}\n", "{a:?\"${eval}\" would have to be run}" },
    { "a: ${b}\nb: ${a}\n",
      "{a:?\"${b}\" refers to itself,b:?\"${b}\" refers to itself}" },
    { "a: $x ${ b\n", "{a:$x ${ b}" },
    /* errors */
    { "a: {x: 1}\nb: 2\na: {x: 3, x: 4}\n", "{a:{x:4},b:2} # 3: x: line 3 gives it, "
                                            "too; the last counts # 3: a: line 1 gives "
                                            "it, too; the last counts" },
    { "a:\n\tb: 1\n",
      "! 2:1: it is no YAML: tab character may not be used as indentation" },
    { "x: y: z\n",
      "! 1:5: it is no YAML: invalid nested block mapping on the same line" },
    { "a: *b\n", "! 1:5: no anchor before this is called \"b\"" },
    { "a: &a [*a]\n", "! 1:9: no anchor before this is called \"a\"" },
    { "? [a]\n: 1\n", "! 1:3: a key is no word (give a name)" },
    { "a: {{b}}\n", "! 1:5: a key is no word (give a name; where {{...}} is a "
                    "template's, fill it in first)" },
    { "a: [1, 2\n", "! 2:1: it is no YAML: flow sequence without a closing bracket" },
    { "a: \xff\n", "! 1:4: it is no text in UTF-8 (save it as such)" },
};

static void test_cases(void)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        check(cases[i].text, strlen(cases[i].text), cases[i].expected);
}

static void test_places(void)
{
    static const char text[] = "a: 1\nb:\n  c: [x,\n      y]\n";
    struct arena arena;
    struct err err = { 0 };
    struct yaml y;
    arena_init(&arena);
    CU_ASSERT_EQUAL_FATAL(yaml_read(&y, &arena, text, strlen(text), &err), 0);
    const struct value_item *b = value_get(y.documents.v[0], "b"),
                            *c = value_get(b->value, "c");
    CU_ASSERT_EQUAL(b->line, 2);
    CU_ASSERT_EQUAL(c->line, 3);
    CU_ASSERT_EQUAL(c->value->column, 6);
    CU_ASSERT_EQUAL(c->value->items[1].value->line, 4);
    CU_ASSERT_EQUAL(c->value->items[1].value->column, 7);
    yaml_release(&y);
    arena_release(&arena);
}

/* What would take memory or time without end is refused. */
static void check_prefix(const char *text, const char *expected)
{
    struct strbuf b;
    strbuf_init(&b);
    show(&b, text, strlen(text));
    if (strncmp(strbuf_get(&b), expected, strlen(expected)) != 0)
        printf("\ngives %.300s\ninstead %s\n", strbuf_get(&b), expected);
    CU_ASSERT_NSTRING_EQUAL(strbuf_get(&b), expected, strlen(expected));
    strbuf_release(&b);
}

static void test_limits(void)
{
    struct strbuf b;
    strbuf_init(&b);
    strbuf_addstr(&b, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; i++)
        strbuf_printf(&b, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i,
                      i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    check_prefix(strbuf_get(&b), "! 6:26: aliases make more than 65536 values");
    strbuf_release(&b);
    strbuf_init(&b);
    for (int i = 0; i < 500; i++)
        strbuf_addstr(&b, "[");
    check_prefix(strbuf_get(&b), "! ");
    strbuf_release(&b);
    strbuf_init(&b);
    for (int i = 0; i < 100; i++)
        strbuf_printf(&b, "%*sa:\n", i, "");
    check_prefix(strbuf_get(&b), "! 61:61: more than 60 values in each other");
    strbuf_release(&b);
    strbuf_init(&b);
    for (int i = 0; i < 2001; i++)
        strbuf_printf(&b, "k%d: 1\n", i);
    check_prefix(strbuf_get(&b), "! 2001:1: more than 2000 keys in one mapping");
    strbuf_release(&b);
    strbuf_init(&b);
    strbuf_addstr(&b, "a0: xxxxxxxxxxxxxxxx\n");
    for (int i = 1; i < 40; i++)
        strbuf_printf(&b, "a%d: ${a%d}${a%d}\n", i, i - 1, i - 1);
    check_prefix(strbuf_get(&b), "{a0:xxxxxxxxxxxxxxxx,a1:xxxx");
    strbuf_release(&b);
    strbuf_init(&b);
    strbuf_addstr(&b, "a: {x: '${a}', y: '${a}'}\nb: '");
    for (int i = 0; i < 5000; i++)
        strbuf_addstr(&b, "${");
    for (int i = 0; i < 5000; i++)
        strbuf_addstr(&b, "}");
    strbuf_addstr(&b, "'\n");
    check_prefix(strbuf_get(&b), "{a:");
    strbuf_release(&b);
}

void test_yaml_register(void)
{
    CU_pSuite s = CU_add_suite("yaml", NULL, NULL);
    CU_add_test(s, "scalars, anchors, tags, documents, errors", test_cases);
    CU_add_test(s, "places", test_places);
    CU_add_test(s, "limits", test_limits);
}
