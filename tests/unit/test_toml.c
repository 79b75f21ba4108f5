/* TOML as values, by the rules of TOML 1.0: keys, strings, numbers, tables, what may be
 * defined twice; places; limits. */
#include "dialect/source/toml.h"
#include "value_bench.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

void test_toml_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void show(struct strbuf *out, const char *text, size_t len)
{
    struct arena arena;
    struct err err = { 0 };
    arena_init(&arena);
    struct value *v = toml_read(&arena, text, len, &err);
    CU_ASSERT_EQUAL(v == NULL, err.set);
    if (v)
        value_show(out, v);
    else
        strbuf_printf(out, "! %d:%d: %s", err.line, err.column, err.text);
    arena_release(&arena);
}

static const struct {
    const char *text, *expected;
} cases[] = {
    { "", "{}" },
    { "# nothing\n\n", "{}" },
    { "\xef\xbb\xbf"
      "a = 1 # one\r\nb = 2",
      "{a:1,b:2}" },
    /* keys */
    { "a-b_1 = 1\n\"c d\" = 2\n'e.f' = 3\n1234 = 4\n\"\" = 5",
      "{a-b_1:1,c d:2,e.f:3,1234:4,:5}" },
    { "a.b.c = 1\na . d = 2\na.\"x y\" = 3\n3.14 = 'pi'",
      "{a:{b:{c:1},d:2,x y:3},3:{14:pi}}" },
    { "a = 1\na = 2", "! 2:5: \"a\" is defined already, at line 1" },
    { "a = 1\na.b = 2", "! 2:7: \"a\" is defined already, at line 1" },
    { "a.b = 1\na = 2", "! 2:5: \"a\" is defined already, at line 1" },
    { "= 1", "! 1:1: a key is missing here (give a word)" },
    { "a", "! 1:2: a \"=\" is missing here" },
    { "a = ", "! 1:5: a value is missing here (give a number, a string in quotes, true "
              "or false)" },
    { "a = 1 b = 2", "! 1:7: something follows on this line (begin a new one)" },
    { "a = word", "! 1:5: \"word\" is no value of TOML (put text in quotes)" },
    /* strings */
    { "a = \"x\\t\\\"\\u00e9\\U0001F600\\\\\"", "{a:x\t\"\xc3\xa9\xf0\x9f\x98\x80\\}" },
    { "a = 'C:\\x'\nb = ''\nc = \"\"", "{a:C:\\x,b:,c:}" },
    { "a = \"\"\"\nx\ny \\\n   \n  z\"\"\"", "{a:x\ny z}" },
    { "a = '''\nx\\\n'y'''", "{a:x\\\n'y}" },
    { "a = \"\"\"\"q\"\"\"\"\"", "{a:\"q\"\"}" },
    { "a = \"x\ny\"", "! 1:7: no string has this character here (close the string)" },
    { "a = \"x", "! 1:7: the string is never closed (add a quote)" },
    { "a = '''x", "! 1:9: the string is never closed (add three quotes)" },
    { "a = \"\\q\"", "! 1:7: \"\\\" escapes nothing here (write \\\\)" },
    { "a = \"\\ud800\"", "! 1:7: no text has this character" },
    { "a = \"\\u12\"",
      "! 1:7: this is no character's number (give 4 hexadecimal digits)" },
    /* numbers */
    { "a = [+99, 42, 0, -17, 1_000, 0xDEAD_beef, 0o755, 0b1101]",
      "{a:[99,42,0,-17,1000,3735928559,493,13]}" },
    { "a = [+1.0, 3.14, -0.01, 5e+22, 1e06, -2E-2, 6.6e-3, 9_2.5]",
      "{a:[1,3.14,-0.01,5e+22,1000000,-0.02,0.0066,92.5]}" },
    { "a = [inf, -nan, 99999999999999999999]",
      "{a:[?it is no number that can be held,?it is no number that can be held,?it is "
      "no number that can be held]}" },
    { "a = 012", "! 1:5: \"012\" is no value of TOML (put text in quotes)" },
    { "a = 1__0", "! 1:5: \"1__0\" is no value of TOML (put text in quotes)" },
    { "a = 1.", "! 1:5: \"1.\" is no value of TOML (put text in quotes)" },
    { "a = .5", "! 1:5: \".5\" is no value of TOML (put text in quotes)" },
    { "a = 0x", "! 1:5: \"0x\" is no value of TOML (put text in quotes)" },
    { "a = True", "! 1:5: \"True\" is no value of TOML (put text in quotes)" },
    { "a = [true, false]", "{a:[True,False]}" },
    /* dates */
    { "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.999-07:00\nc = 1979-05-27\nd "
      "= "
      "07:32:00 # x",
      "{a:1979-05-27T07:32:00Z,b:1979-05-27 "
      "07:32:00.999-07:00,c:1979-05-27,d:07:32:00}" },
    { "a = 1979-05-2",
      "! 1:5: \"1979-05-2\" is no value of TOML (put text in quotes)" },
    /* arrays and inline tables */
    { "a = [ 1, 'x', # one\n  [2,\n 3], ]\nb = []", "{a:[1,x,[2,3]],b:[]}" },
    { "a = [1 2]", "! 1:8: the array of line 1 lacks a \",\" or a \"]\" here" },
    { "a = [1,\n", "! 2:1: the array of line 1 is never closed (add a ])" },
    { "a = { x = 1, y.z = 2, w = {} }", "{a:{x:1,y:{z:2},w:{}}}" },
    { "a = { x = 1, }", "! 1:14: a key is missing here (give a word)" },
    { "a = { x = 1\n}",
      "! 1:12: the inline table is never closed on its line (add a })" },
    { "a = { x = 1 }\na.y = 2", "! 2:7: \"a\" is defined already, at line 1" },
    { "a = { x.y = 1 }\n[a.x]", "! 2:6: \"a\" is defined already, at line 1" },
    { "[t]\na = { x = 1 }\n[t.a.b]", "! 3:8: \"a\" is defined already, at line 2" },
    /* tables */
    { "[a]\nx = 1\n[a.b]\ny = 2\n[c . 'd']\n", "{a:{x:1,b:{y:2}},c:{d:{}}}" },
    { "[a.b]\nx = 1\n[a]\ny = 2", "{a:{b:{x:1},y:2}}" },
    { "[a]\n[a]", "! 2:4: \"a\" is defined already, at line 1" },
    { "[a]\nb = 1\n[a.b]", "! 3:6: \"b\" is defined already, at line 2" },
    { "[f]\na.c = 1\n[f.a]", "! 3:6: \"a\" is defined already, at line 2" },
    { "[f]\na.c = 1\n[f.a.t]\ns = 2", "{f:{a:{c:1,t:{s:2}}}}" },
    { "[a.b.c]\nz = 9\n[a]\nb.d = 1", "! 4:7: \"b\" is defined already, at line 1" },
    { "[a", "! 1:3: the header is never closed (add a ])" },
    { "[]", "! 1:2: a key is missing here (give a word)" },
    { "[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\ny = 3", "{a:[{x:1},{x:2,b:{y:3}}]}" },
    { "[[a.b]]\n[[a.b.c]]\nx = 1\n[[a.b.c]]\n", "{a:{b:[{c:[{x:1},{}]}]}}" },
    { "a = [1]\n[[a]]", "! 2:6: \"a\" is defined already, at line 1" },
    { "[[a]]\n[a]", "! 2:4: \"a\" is defined already, at line 1" },
    { "[a]\n[[a]]", "! 2:6: \"a\" is defined already, at line 1" },
    /* characters */
    { "a = 1 # \x01", "! 1:9: no comment has this character" },
    { "a = 1\rb = 2", "! 1:6: the line ends with half a newline (save it as text)" },
    { "a = \"\xff\"", "! 1:6: it is no text in UTF-8 (save it as such)" },
    { "\xc3\xa9 = 1", "! 1:1: a key is missing here (give a word)" },
};

static void test_cases(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct strbuf b;
        strbuf_init(&b);
        show(&b, cases[i].text, strlen(cases[i].text));
        if (strcmp(strbuf_get(&b), cases[i].expected) != 0)
            printf("\n%s\ngives    %s\ninstead  %s\n", cases[i].text, strbuf_get(&b),
                   cases[i].expected);
        CU_ASSERT_STRING_EQUAL(strbuf_get(&b), cases[i].expected);
        strbuf_release(&b);
    }
}

static void test_places(void)
{
    static const char text[] = "# x\n[a]\nb = 1\nc = { d = \"\xc3\xa9\", e = 2 }\n";
    struct arena arena;
    struct err err = { 0 };
    arena_init(&arena);
    const struct value *v = toml_read(&arena, text, strlen(text), &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(v);
    const struct value *a = value_get(v, "a")->value, *c = value_get(a, "c")->value;
    CU_ASSERT_EQUAL(a->line, 2);
    CU_ASSERT_EQUAL(value_get(a, "b")->line, 3);
    CU_ASSERT_EQUAL(value_get(a, "b")->value->column, 5);
    CU_ASSERT_EQUAL(value_get(c, "e")->value->column, 20); /* characters, not bytes */
    arena_release(&arena);
}

static void check_limit(const char *piece, int times, const char *expected)
{
    struct strbuf b, out;
    strbuf_init(&b);
    strbuf_init(&out);
    for (int i = 0; i < times; i++)
        strbuf_printf(&b, "%s", piece);
    show(&out, strbuf_get(&b), b.len);
    CU_ASSERT_NSTRING_EQUAL(strbuf_get(&out), expected, strlen(expected));
    if (strncmp(strbuf_get(&out), expected, strlen(expected)) != 0)
        printf("\ngives %.200s\ninstead %s\n", strbuf_get(&out), expected);
    strbuf_release(&b);
    strbuf_release(&out);
}

static void test_limits(void)
{
    check_limit("a=[", 1, "! 1:4: the array of line 1 is never closed");
    check_limit("a.", 100, "! 1:121: the key has more than 60 parts");
    check_limit("[[a]]\n", 70000, "! 65535:6: more than 65536 values");
    struct strbuf b, out;
    strbuf_init(&b);
    strbuf_init(&out);
    strbuf_addstr(&b, "a=");
    for (int i = 0; i < 100; i++)
        strbuf_addch(&b, '[');
    show(&out, strbuf_get(&b), b.len);
    CU_ASSERT_STRING_EQUAL(strbuf_get(&out),
                           "! 1:63: more than 60 values in each other");
    strbuf_release(&b);
    strbuf_release(&out);
    strbuf_init(&b);
    strbuf_init(&out);
    strbuf_addstr(&b, "a=["); /* a long line is read in time linear in it */
    for (int i = 0; i < 60000; i++)
        strbuf_addstr(&b, "'0123456789',");
    show(&out, strbuf_get(&b), b.len);
    CU_ASSERT_NSTRING_EQUAL(strbuf_get(&out), "! 1:780004: the array", 18);
    strbuf_release(&b);
    strbuf_release(&out);
}

void test_toml_register(void)
{
    CU_pSuite s = CU_add_suite("toml", NULL, NULL);
    CU_add_test(s, "keys, strings, numbers, tables, errors", test_cases);
    CU_add_test(s, "places", test_places);
    CU_add_test(s, "limits", test_limits);
}
