#include "config/cfg.h"

#include <CUnit/CUnit.h>
#include <float.h>
#include <math.h>
#include <string.h>

void test_cfg_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* --- the language ------------------------------------------------------------ */

static void test_lenient(void)
{
    static const struct {
        const char *text, *json; /* as jansson writes the tree */
    } cases[] = {
        { "{}", "{}" },
        { "\xef\xbb\xbf[1]", "[1]" },
        { "[1, 2,]", "[1,2]" },
        { "{'a': 1,}", "{\"a\":1}" },
        { "[True, False, None, true, false, null]",
          "[true,false,null,true,false,null]" },
        { "# x\n[1, // 2]\n3] # y", "[1,3]" },
        { "[\"http://x # y\", 'it is \"so\"', \"it's\", 'it\\'s']",
          "[\"http://x # y\",\"it is \\\"so\\\"\",\"it's\",\"it's\"]" },
        { "['\\x41\\t\\/\\\\\\u00e9', '\t']", "[\"A\\t/\\\\\xc3\xa9\",\"\\t\"]" },
        { "[(), (1), (1,), (1, 2), ((3)), ([4])]", "[[],1,[1],[1,2],3,[4]]" },
        { "{'a': ('x'), 'b': ({'c': (1)})}", "{\"a\":\"x\",\"b\":{\"c\":1}}" },
        { "[1_000, +5, .5, 5., -.5, -0, 1e2, 1.5E-1]",
          "[1000,5,0.5,5.0,-0.5,0,100.0,0.15]" },
        { "[9223372036854775807, -9223372036854775808]",
          "[9223372036854775807,-9223372036854775808]" },
        { "[1, \\\n 2]", "[1,2]" },
        { "'x'", "\"x\"" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cfg_loader loader;
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "f", cases[i].text, strlen(cases[i].text));
        size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
        char *json = root.json ? json_dumps(root.json, flags) : NULL;
        CU_ASSERT_STRING_EQUAL(json ? json : diags_error_text(&loader.diags, 0),
                               cases[i].json);
        free(json);
        cfg_loader_release(&loader);
    }
}

struct syntax_case {
    const char *text;
    size_t n;
    const char *error; /* of the file f */
};

#define SYNTAX(text, error)           \
    {                                 \
        text, sizeof(text) - 1, error \
    }

static void check_syntax(const struct syntax_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct cfg_loader loader;
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "f", cases[i].text, cases[i].n);
        CU_ASSERT_FALSE(cfg_present(root));
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
        CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 0), cases[i].error);
        cfg_loader_release(&loader);
    }
}

static void test_structure_errors(void)
{
    static const struct syntax_case cases[] = {
        SYNTAX("", "f:1:1: there is no value (write { ... })"),
        SYNTAX("# only\n", "f:2:1: there is no value (write { ... })"),
        SYNTAX("{\n  \"a\": 1,\n  \"b\": [2\n",
               "f:4:1: the text ends before the \"[\" of line 3 is closed (write "
               "\"]\")"),
        SYNTAX("{\"a\": [1}", "f:1:9: \"}\" closes what \"[\" opened (write \"]\")"),
        SYNTAX("[1, (2]", "f:1:7: \"]\" closes what \"(\" opened (write \")\")"),
        SYNTAX("]", "f:1:1: a value is missing before \"]\""),
        SYNTAX("[1,,2]", "f:1:4: a value is missing before \",\""),
        SYNTAX("{\"a\": }", "f:1:7: a value is missing before \"}\""),
        SYNTAX("[1 2]",
               "f:1:4: a comma is missing before \"2\" (write \",\" or \"]\")"),
        SYNTAX("{\"\xc3\xa9\": 1 \"b\": 2}",
               "f:1:9: a comma is missing before '\"' (write \",\" or \"}\")"),
        SYNTAX("{a: 1}", "f:1:2: a key needs quotes (write \"a\")"),
        SYNTAX("{8: 1}", "f:1:2: a key needs quotes (write \"8\")"),
        SYNTAX("{,}", "f:1:2: \",\" where a key should be (write a string in quotes)"),
        SYNTAX("{\"a\" = 1}", "f:1:6: \"=\" after a key (write \":\" and the value)"),
        SYNTAX("{\"a\", \"b\"}",
               "f:1:5: \",\" after a key (write \":\" and the value)"),
        SYNTAX("{} x", "f:1:4: \"x\" after the end of the value (remove it)"),
        SYNTAX("{\"a\": 1}\n,", "f:2:1: \",\" after the end of the value (remove it)"),
        SYNTAX("[;]", "f:1:2: \";\" cannot begin a value (write a string, a number, "
                      "true, false, null, [ or {)"),
        SYNTAX("/* x */ 1",
               "f:1:1: /* */ comments are not read (write // before each line)"),
        SYNTAX("{\n\"a\": 1,\n 'b': {\"c\": 1}, \"a\": 2}",
               "f:3:17: duplicate key \"a\" (keep one of them)"),
        SYNTAX("{'a': {'x\\\\': 1, 'x\\\\': 2}}",
               "f:1:18: duplicate key \"x\\\\\" (keep one of them)"),
        SYNTAX("[1, \0]", "f:1:5: a NUL byte (is this a text file?)"),
        SYNTAX("{\"a\": \"\xff\"}",
               "f:1:8: byte 0xff is not UTF-8 (save the file as UTF-8)"),
        SYNTAX("\xff\xfe{\0", "f:1:1: byte 0xff is not UTF-8 (save the file as UTF-8)"),
        SYNTAX("\"\xed\xa0\x80\"",
               "f:1:2: byte 0xed is not UTF-8 (save the file as UTF-8)"),
    };
    check_syntax(cases, COUNT(cases));
}

static void test_scalar_errors(void)
{
    static const struct syntax_case cases[] = {
        SYNTAX("{\"a\": \"x}\n",
               "f:1:7: the string is not closed on its line (end it with \")"),
        SYNTAX("['x", "f:1:2: the string is not closed on its line (end it with ')"),
        SYNTAX("[\"\"\"x\"\"\"]",
               "f:1:2: strings with three quotes are not read (write "
               "it with one pair, on one line)"),
        SYNTAX("[\"a\\qb\"]", "f:1:4: \\q is no escape (write \\\\ for a backslash)"),
        SYNTAX("[\"a\\\nb\"]", "f:1:4: a backslash at the end of the line (write \\\\ "
                               "for a backslash)"),
        SYNTAX("[\"\\u12g4\"]",
               "f:1:3: \\u needs four hexadecimal digits (write \\u00e9)"),
        SYNTAX("[\"\\u0000\"]", "f:1:3: a string cannot hold the character NUL (remove "
                                "\\u0000)"),
        SYNTAX("[\"\\ud800\"]",
               "f:1:3: \\ud800 is half of a character (write the character itself)"),
        SYNTAX("[\"\\x0\"]", "f:1:3: \\x needs two hexadecimal digits other than 00 "
                             "(write \\xe9)"),
        SYNTAX("{\"a\": foo(1)}",
               "f:1:7: \"foo(...)\" is not a literal (write the value itself)"),
        SYNTAX("{'a': os.environ['X']}",
               "f:1:7: \"os.environ[...]\" is not a literal (write the value itself)"),
        SYNTAX("{'a': batch_size}", "f:1:7: batch_size is a name, not a value (write "
                                    "the value itself; a string needs quotes)"),
        SYNTAX("{'a': f\"x{y}\"}", "f:1:7: f\"...\" is not a plain string (write it "
                                   "without the f and with its value)"),
        SYNTAX("{'a': 25 * 1024}", "f:1:10: \"*\" makes an expression, not a literal "
                                   "(write its value)"),
        SYNTAX("[NaN]",
               "f:1:2: NaN is not a finite number (write one, or leave it out)"),
        SYNTAX("[-inf]",
               "f:1:2: -inf is not a number (write for example 8, 0.5 or 1e9)"),
        SYNTAX("[007]", "f:1:2: 007 is not a number (write for example 8, 0.5 or 1e9)"),
        SYNTAX("[0x10]",
               "f:1:2: 0x10 is not a number (write for example 8, 0.5 or 1e9)"),
        SYNTAX("[1_]", "f:1:2: 1_ is not a number (write for example 8, 0.5 or 1e9)"),
        SYNTAX("[.]", "f:1:2: . is not a number (write for example 8, 0.5 or 1e9)"),
        SYNTAX("[40GiB]", "f:1:2: 40GiB is not a number (write a quantity in quotes, "
                          "for example \"400Gb/s\")"),
        SYNTAX("[12345678901234567890]",
               "f:1:2: 12345678901234567890 is beyond 64 bits (at most "
               "9223372036854775807, or write it as a real number)"),
        SYNTAX("[-1e999]", "f:1:2: -1e999 is too large for a number (at most 1.8e308)"),
    };
    check_syntax(cases, COUNT(cases));
}

static void test_depth(void)
{
    char text[2 * 201 + 1];
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    memset(text, '[', 201);
    memset(text + 201, ']', 201);
    struct cfg ok = cfg_parse(&loader, "f", text + 1, 400);
    CU_ASSERT(cfg_is_array(ok));
    struct cfg deep = cfg_parse(&loader, "f", text, 402);
    CU_ASSERT_FALSE(cfg_present(deep));
    CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
    CU_ASSERT_STRING_EQUAL(
        diags_error_text(&loader.diags, 0),
        "f:1:201: brackets are nested more than 200 deep (nest less)");
    cfg_loader_release(&loader);
}

/* --- tables of fields -------------------------------------------------------- */

enum precision { FP16 = 1, BF16 = 2 };

static const struct name_value precisions[] = { { "fp16", FP16 },
                                                { "bf16", BF16 },
                                                { NULL, 0 } };

struct target {
    int64_t micro_batch_size, bucket_B, any;
    bool overlap, has_lr;
    double lr, bw_Bps, lat_s;
    const char *name;
    enum precision precision;
    struct cfg model;
};

/* clang-format off */
static const struct cfg_field fields[] = {
    CFG_ROW("micro_batch_size", CFG_T_INT, struct target, micro_batch_size,
            .min = 1, .max = 65536, .required = true),
    CFG_INT("any", struct target, any, -INFINITY, INFINITY),
    CFG_BYTES("bucket_size", struct target, bucket_B, 1, 1099511627776.0),
    CFG_BOOL("overlap", struct target, overlap),
    CFG_ROW("lr", CFG_T_REAL, struct target, lr, .min = DBL_MIN, .max = INFINITY,
            .has = offsetof(struct target, has_lr)),
    CFG_QUANTITY("bandwidth", struct target, bw_Bps, UNIT_BYTES_PER_S, 1, INFINITY),
    CFG_QUANTITY("latency", struct target, lat_s, UNIT_SECONDS, 0, 1),
    CFG_STRING("name", struct target, name),
    CFG_ENUM("precision", struct target, precision, precisions),
    CFG_CHILD("model", struct target, model),
    CFG_REFUSED("degree", "write \"tensor\""),
    CFG_RENAMED("learning_rate", "lr"),
    CFG_RENAMED("batch", "micro_batch_size"),
    CFG_RENAMED("network", "model"),
    CFG_END,
};
/* clang-format on */

static void test_fields(void)
{
    static const char text[] =
        "{'micro_batch_size': 4.0, 'any': -7e0, 'bucket_size': '25MiB', 'overlap': "
        "True, 'lr': 3, 'bandwidth': '400Gb/s', 'latency': None, 'name': 'x', "
        "'precision': 'bf16', 'model': {'a': [5]}, 'comment': 'anything'}";
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "f", text, sizeof(text) - 1);
    struct target t = { .lat_s = 0.25 };
    CU_ASSERT_EQUAL(cfg_read(root, fields, &t), 0);
    CU_ASSERT_EQUAL(loader.diags.n_errors, 0);
    CU_ASSERT_EQUAL(t.micro_batch_size, 4);
    CU_ASSERT_EQUAL(t.any, -7);
    CU_ASSERT_EQUAL(t.bucket_B, 26214400);
    CU_ASSERT_TRUE(t.overlap);
    CU_ASSERT(t.has_lr && t.lr == 3.0);
    CU_ASSERT_EQUAL(t.bw_Bps, 50e9);
    CU_ASSERT_EQUAL(t.lat_s, 0.25); /* null is absent */
    CU_ASSERT_STRING_EQUAL(t.name, "x");
    CU_ASSERT_EQUAL(t.precision, BF16);
    int64_t v = 0;
    CU_ASSERT_EQUAL(cfg_int(cfg_at(cfg_get(t.model, "a"), 0), &v, 0, 9), 0);
    CU_ASSERT_EQUAL(v, 5);
    cfg_loader_release(&loader);
}

/* A member in addition to what is required, and what is wrong with its key, or its
 * value. */
struct field_error {
    const char *member, *error;
};

static const struct field_error bad_keys[] = {
    { "'micro_bach_size': 4", "/micro_bach_size: unknown key \"micro_bach_size\" "
                              "(did you mean \"micro_batch_size\"?)" },
    { "'zz/~': 4",
      "/zz~1~0: unknown key \"zz/~\" (known: \"micro_batch_size\", \"any\", "
      "\"bucket_size\", \"overlap\", \"lr\", \"bandwidth\", \"latency\", \"name\", "
      "\"precision\", \"model\")" },
    { "'degree': 4", "/degree: \"degree\" cannot be given here (write "
                     "\"tensor\")" },
};

static const struct field_error bad_values[] = {
    { "'micro_batch_size': 'four'", "/micro_batch_size: \"four\" is not an integer "
                                    "(write an integer from 1 to 65536)" },
    { "'micro_batch_size': true", "/micro_batch_size: true is not an integer (write "
                                  "an integer from 1 to 65536)" },
    { "'micro_batch_size': 4.5", "/micro_batch_size: 4.5 is not an integer (write "
                                 "an integer from 1 to 65536)" },
    { "'micro_batch_size': 1e18", "/micro_batch_size: 1e18 is too large (write an "
                                  "integer from 1 to 65536)" },
    { "'micro_batch_size': -1e300", "/micro_batch_size: -1e300 is too small (write "
                                    "an integer from 1 to 65536)" },
    { "'micro_batch_size': 0", "/micro_batch_size: 0 is too small (write an integer "
                               "from 1 to 65536)" },
    { "'micro_batch_size': [1]", "/micro_batch_size: an array is not an integer "
                                 "(write an integer from 1 to 65536)" },
    { "'micro_batch_size': null", "/micro_batch_size: missing (give "
                                  "\"micro_batch_size\" an integer from 1 to "
                                  "65536)" },
    { "'any': 1e19", "/any: 1e19 is too large (write an integer)" },
    { "'bucket_size': 25",
      "/bucket_size: 25 has no unit (write for example \"40GiB\")" },
    { "'bucket_size': '25'",
      "/bucket_size: \"25\" has no unit (write for example \"40GiB\")" },
    { "'bucket_size': '25Gb/s'", "/bucket_size: \"25Gb/s\" has an unknown unit "
                                 "(write for example \"40GiB\")" },
    { "'bucket_size': '2TiB'", "/bucket_size: \"2TiB\" is too large (write a "
                               "quantity from 1 B to 1 TiB)" },
    { "'bucket_size': {}",
      "/bucket_size: an object is not a quantity (write for example \"40GiB\")" },
    { "'bandwidth': '0Gb/s'", "/bandwidth: \"0Gb/s\" is too small (write a quantity "
                              "of at least 1 B/s)" },
    { "'latency': '-1us'", "/latency: \"-1us\" is too small (write a quantity from "
                           "0 s to 1 s)" },
    { "'lr': 0", "/lr: 0 is too small (write a number above 0)" },
    { "'lr': '0.1'", "/lr: \"0.1\" is not a number (write a number above 0)" },
    { "'overlap': 1", "/overlap: 1 is not true or false (write true or false)" },
    { "'name': 5", "/name: 5 is not a string (write it in quotes)" },
    { "'name': ''", "/name: the string is empty (write a name, or leave the key out)" },
    { "'precision': 'bf17'",
      "/precision: \"bf17\" is not known (did you mean \"bf16\"?)" },
    { "'precision': 'double'",
      "/precision: \"double\" is not known (write one of \"fp16\", \"bf16\")" },
    { "'precision': 16",
      "/precision: 16 is not a name (write one of \"fp16\", \"bf16\")" },
    { "'precision': 'a string\\n\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
      "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9'",
      "/precision: \"a string\\n\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
      "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9...\" is not known (write "
      "one of \"fp16\", \"bf16\")" },
};

static void check_field_error(const struct field_error *e, int column)
{
    bool given = strncmp(e->member, "'micro_batch_size'", 18) == 0;
    char text[400], expect[400];
    snprintf(text, sizeof(text), "# first\n{ %s,\n %s}", e->member,
             given ? "" : "'micro_batch_size': 1");
    snprintf(expect, sizeof(expect), "f:2:%d: %s", column, e->error);
    struct cfg_loader loader;
    struct target t = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "f", text, strlen(text));
    CU_ASSERT_EQUAL(cfg_read(root, fields, &t), -1);
    CU_ASSERT_EQUAL(loader.diags.n_errors, 1);
    CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 0), expect);
    cfg_loader_release(&loader);
}

static void test_field_errors(void)
{
    for (size_t i = 0; i < COUNT(bad_keys); i++)
        check_field_error(&bad_keys[i], 3);
    for (size_t i = 0; i < COUNT(bad_values); i++)
        check_field_error(&bad_values[i],
                          3 + (int)strcspn(bad_values[i].member, ":") + 2);
}

static void test_all_errors_of_a_file(void)
{
    static const char text[] = "{\n  'lr': -1,\n  'overlap': 'yes', 'nam': 1\n}";
    static const char *const errors[] = {
        "f:3:21: /nam: unknown key \"nam\" (did you mean \"name\"?)",
        "f:1:1: /micro_batch_size: missing (give \"micro_batch_size\" an integer from "
        "1 "
        "to 65536)",
        "f:3:14: /overlap: \"yes\" is not true or false (write true or false)",
        "f:2:9: /lr: -1 is too small (write a number above 0)",
    };
    struct cfg_loader loader;
    struct target t = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "f", text, sizeof(text) - 1);
    CU_ASSERT_EQUAL(cfg_read(root, fields, &t), -1);
    CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, (int64_t)COUNT(errors));
    for (size_t i = 0; i < COUNT(errors); i++)
        CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, (int64_t)i), errors[i]);
    cfg_loader_release(&loader);
}

/* Old names are read as the new ones, required and with bounds, and reported once
 * however often the object is read; both at once are an error. */
static void test_renamed(void)
{
    static const char text[] = "{'batch': 4, 'learning_rate': 3, 'network': {'a': 1}}";
    static const char both[] = "{'batch': 4, 'lr': 3, 'learning_rate': 3}";
    struct cfg_loader loader;
    struct target t = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "f", text, sizeof(text) - 1);
    for (int i = 0; i < 2; i++) {
        t = (struct target) { 0 };
        CU_ASSERT_EQUAL(cfg_read(root, fields, &t), 0);
        CU_ASSERT(t.micro_batch_size == 4 && t.lr == 3 && t.has_lr);
        CU_ASSERT_TRUE(cfg_present(cfg_get(t.model, "a")));
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_warnings, 3);
    }
    CU_ASSERT_STRING_EQUAL(diags_warning_text(&loader.diags, 1),
                           "f:1:31: /learning_rate: \"learning_rate\" is the old name "
                           "of \"lr\" (write \"lr\")");
    CU_ASSERT_TRUE(cfg_present(cfg_get(root, "lr")));
    root = cfg_parse(&loader, "g", both, sizeof(both) - 1);
    CU_ASSERT_EQUAL(cfg_read(root, fields, &t), -1);
    CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
    CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 0),
                           "g:1:23: /learning_rate: \"learning_rate\" is the old name "
                           "of \"lr\", which is given, too (leave \"learning_rate\" "
                           "out)");
    cfg_loader_release(&loader);
}

/* What is found is kept in parts; a mend is what the format has in parentheses at its
 * end, whatever parentheses a user wrote. JSON has the same parts. */
static void test_diag_parts(void)
{
    static const char text[] = "{'a': 1,\n 'b': 'x (y)'}";
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "f", text, sizeof(text) - 1);
    CU_ASSERT_EQUAL(cfg_set(root, "/a=2"), 0);
    cfg_warn(cfg_get(root, "b"), DIAG_INFERRED, "%s is odd (write (%d) or less)",
             "x (y)", 3);
    cfg_warn(cfg_get(root, "a"), DIAG_ASSUMED, "ends as %s", "u (v)");
    cfg_error(cfg_get(root, "b"), DIAG_OUT_OF_RANGE, "no");
    CU_ASSERT_EQUAL_FATAL(loader.diags.n, 3);
    const struct diag *odd = diags_get(&loader.diags, DIAG_WARNING, 0),
                      *set = diags_get(&loader.diags, DIAG_WARNING, 1),
                      *no = diags_get(&loader.diags, DIAG_ERROR, 0);
    CU_ASSERT_STRING_EQUAL(odd->text, "x (y) is odd");
    CU_ASSERT_STRING_EQUAL(odd->mend, "write (3) or less");
    CU_ASSERT(odd->code == DIAG_INFERRED && odd->line == 2 && odd->column == 7);
    CU_ASSERT_STRING_EQUAL(set->text, "ends as u (v)");
    CU_ASSERT_PTR_NULL(set->mend);
    CU_ASSERT_STRING_EQUAL(set->set, "/a");
    CU_ASSERT_EQUAL(no->code, DIAG_OUT_OF_RANGE);
    json_t *o = diag_json(odd);
    char *dump = json_dumps(o, JSON_COMPACT);
    CU_ASSERT_STRING_EQUAL(
        dump, "{\"code\":\"inferred\",\"severity\":\"warning\",\"pointer\":\"/b\","
              "\"file\":\"f\",\"line\":2,\"column\":7,\"cell\":null,\"set\":null,"
              "\"text\":\"x (y) is odd\",\"mend\":\"write (3) or less\"}");
    struct diag back = diag_read_json(o);
    CU_ASSERT_STRING_EQUAL(diag_text(&loader.arena, &back),
                           diag_text(&loader.arena, odd));
    free(dump);
    json_decref(o);
    cfg_loader_release(&loader);
}

/* Each code has a name of its own and a sentence. */
static void test_diag_codes(void)
{
    for (int i = 0; i < DIAG_CODES; i++) {
        const char *name = diag_codes[i].name, *meaning = diag_codes[i].meaning;
        CU_ASSERT_FATAL(name && meaning);
        CU_ASSERT_EQUAL(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
        CU_ASSERT_EQUAL(meaning[strlen(meaning) - 1], '.');
        for (int k = 0; k < i; k++)
            CU_ASSERT_STRING_NOT_EQUAL(name, diag_codes[k].name);
    }
}

/* The keys of `fields`. */
#define KNOWN                                                               \
    "\"micro_batch_size\", \"any\", \"bucket_size\", \"overlap\", \"lr\", " \
    "\"bandwidth\", \"latency\", \"name\", \"precision\", \"model\""

static void test_not_an_object(void)
{
    struct cfg_loader loader;
    struct target t = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "f", " [1, {}]", 8);
    CU_ASSERT_EQUAL(cfg_read(root, fields, &t), -1);
    CU_ASSERT_EQUAL(cfg_read(cfg_at(root, 0), fields, &t), -1);
    CU_ASSERT_EQUAL(cfg_read(cfg_at(root, 1), fields, &t), -1);
    CU_ASSERT_STRING_EQUAL(
        diags_error_text(&loader.diags, 0),
        "f:1:2: an array is not an object (write { ... } with: " KNOWN ")");
    CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 1),
                           "f:1:3: /0: 1 is not an object (write { ... } with: " KNOWN
                           ")");
    CU_ASSERT_STRING_EQUAL(
        diags_error_text(&loader.diags, 2),
        "f:1:6: /1/micro_batch_size: missing (give \"micro_batch_size\" an integer "
        "from 1 to 65536)");
    cfg_loader_release(&loader);
}

/* --- places ------------------------------------------------------------------ */

static void test_places(void)
{
    static const char text[] = "{ # {\"a\": 1}\n"
                               "  'a': [10, [], (20), {'b/c': 'x,]', '': 1}],\n"
                               "\t'\\u00e9\xc3\xa9': {'~k': (((7)))},\n"
                               "}";
    static const struct {
        const char *keys[4];
        const char *error;
    } cases[] = {
        { { NULL }, "f:1:1: here" },
        { { "a" }, "f:2:8: /a: here" },
        { { "a", "1" }, "f:2:13: /a/1: here" },
        { { "a", "2" }, "f:2:18: /a/2: here" },
        { { "a", "3", "b/c" }, "f:2:31: /a/3/b~1c: here" },
        { { "a", "3", "" }, "f:2:42: /a/3/: here" },
        { { "a", "9" }, "f:2:8: /a/9: here" },
        { { "\xc3\xa9\xc3\xa9", "~k" }, "f:3:23: /\xc3\xa9\xc3\xa9/~0k: here" },
        { { "\xc3\xa9\xc3\xa9", "x", "y" }, "f:3:13: /\xc3\xa9\xc3\xa9/x/y: here" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cfg_loader loader;
        cfg_loader_init(&loader);
        struct cfg c = cfg_parse(&loader, "f", text, sizeof(text) - 1);
        for (int k = 0; cases[i].keys[k]; k++)
            c = cfg_is_array(c) ? cfg_at(c, strtol(cases[i].keys[k], NULL, 10))
                                : cfg_get(c, cases[i].keys[k]);
        CU_ASSERT_EQUAL(cfg_error(c, DIAG_INVALID, "here"), -1);
        CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 0), cases[i].error);
        cfg_loader_release(&loader);
    }
}

static void test_many_errors(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "f", "{}", 2);
    for (int i = 0; i < DIAG_MAX + 3; i++)
        cfg_error(root, DIAG_INVALID, "number %d\n", i);
    for (int i = 0; i < 30; i++)
        cfg_warn(root, DIAG_ASSUMED, "warning %d", i / 2);
    CU_ASSERT_EQUAL(loader.diags.n_errors, DIAG_MAX + 3);
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 15);
    CU_ASSERT_STRING_EQUAL(diags_warning_text(&loader.diags, 14), "f:1:1: warning 14");
    char *printed = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&printed, &len);
    diags_print_errors(&loader.diags, out);
    fclose(out);
    CU_ASSERT_EQUAL(strncmp(printed, "f:1:1: number 0?\nf:1:1: number 1?\n", 34), 0);
    static const char end[] = "f:1:1: number 19?\nand 3 more errors\n";
    CU_ASSERT_STRING_EQUAL(printed + len - (sizeof(end) - 1), end);
    free(printed);
    cfg_loader_release(&loader);
}

/* --- --set ------------------------------------------------------------------- */

static void test_set(void)
{
    static const struct {
        const char *assignment, *json;
    } cases[] = {
        { "/a=2", "{\"a\":2,\"l\":[1,{}]}" },
        { "/a=x=y", "{\"a\":\"x=y\",\"l\":[1,{}]}" },
        { "/a='2'", "{\"a\":\"2\",\"l\":[1,{}]}" },
        { "/a=400Gb/s", "{\"a\":\"400Gb/s\",\"l\":[1,{}]}" },
        { "/a={'k': (1,)}", "{\"a\":{\"k\":[1]},\"l\":[1,{}]}" },
        { "/a=null", "{\"a\":null,\"l\":[1,{}]}" },
        { "/b/c/d=True", "{\"a\":1,\"l\":[1,{}],\"b\":{\"c\":{\"d\":true}}}" },
        { "/x~1y~0z=1", "{\"a\":1,\"l\":[1,{}],\"x/y~z\":1}" },
        { "/=1", "{\"a\":1,\"l\":[1,{}],\"\":1}" },
        { "/l/0=5", "{\"a\":1,\"l\":[5,{}]}" },
        { "/l/1/k=5", "{\"a\":1,\"l\":[1,{\"k\":5}]}" },
        { "/l/2=5", "{\"a\":1,\"l\":[1,{},5]}" },
        { "/l/-/k=5", "{\"a\":1,\"l\":[1,{},{\"k\":5}]}" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cfg_loader loader;
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "f", "{'a': 1, 'l': [1, {}]}", 22);
        CU_ASSERT_EQUAL(cfg_set(root, cases[i].assignment), 0);
        char *json = json_dumps(root.json, JSON_COMPACT);
        CU_ASSERT_STRING_EQUAL(json, cases[i].json);
        free(json);
        cfg_loader_release(&loader);
    }
}

static void test_set_errors(void)
{
    static const struct {
        const char *assignment, *error;
    } cases[] = {
        { "/a", "--set /a: no value (write POINTER=VALUE)" },
        { "/a=", "--set /a: no value (write POINTER=VALUE)" },
        { "a=1", "--set a: not a JSON pointer (write for example /cluster/count=4)" },
        { "=1", "--set : not a JSON pointer (write for example /cluster/count=4)" },
        { "/a=[1,,2]",
          "--set /a: character 4 of the value: a value is missing before \",\"" },
        { "/a={'b': 1, 'b': 2}",
          "--set /a: character 10 of the value: duplicate key \"b\" (keep one of "
          "them)" },
        { "/a/b=1", "--set /a/b: 1 has no member \"b\" (set an object in its place)" },
        { "/l/3=1", "--set /l/3: the array has no element 3 (write 0 to 2)" },
        { "/l/x=1", "--set /l/x: \"x\" is no index of an array (write 0 to 2)" },
        { "/a=\xff", "--set /a: the value is not UTF-8 (write it as UTF-8)" },
        { "/\xff=1", "--set /\xff: the pointer is not UTF-8 (write it as UTF-8)" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cfg_loader loader;
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "f", "{'a': 1, 'l': [1, {}]}", 22);
        CU_ASSERT_EQUAL(cfg_set(root, cases[i].assignment), -1);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
        CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 0), cases[i].error);
        cfg_loader_release(&loader);
    }
}

/* What came from the file keeps its place there; what was set says so, also below and
 * next to it in parents that were made for it; the last --set of a place counts. */
static void test_set_origin(void)
{
    static const char text[] = "{'a': {'b': 1,\n 'c': 2}, 'l': [3]}";
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "f", text, sizeof(text) - 1);
    struct cfg old = cfg_get(cfg_get(root, "a"), "b");
    CU_ASSERT_EQUAL(cfg_set(root, "/a/b={'k': 5}"), 0);
    CU_ASSERT_EQUAL(cfg_set(root, "/n/m/o=1"), 0);
    CU_ASSERT_EQUAL(cfg_set(root, "/l/-=4"), 0);
    struct cfg a = cfg_get(root, "a"), n = cfg_get(root, "n"), l = cfg_get(root, "l");
    int64_t v = 0;
    CU_ASSERT(cfg_int(old, &v, 0, 1) == 0 && v == 1); /* a value replaced lives on */
    cfg_error(cfg_get(a, "c"), DIAG_INVALID, "E");
    cfg_error(cfg_get(a, "b"), DIAG_INVALID, "E");
    cfg_error(cfg_get(cfg_get(a, "b"), "k"), DIAG_INVALID, "E");
    cfg_error(a, DIAG_INVALID, "E");
    cfg_error_key(n, DIAG_INVALID, "E");
    cfg_error(cfg_get(n, "x"), DIAG_INVALID, "E");
    cfg_error(cfg_at(l, 0), DIAG_INVALID, "E");
    cfg_error(cfg_at(l, 1), DIAG_INVALID, "E");
    CU_ASSERT_EQUAL(cfg_set(root, "/a=7"), 0);
    cfg_error(cfg_get(a, "b"), DIAG_INVALID, "E");
    static const char *const errors[] = {
        "f:2:7: /a/c: E",  "--set /a/b: E",       "--set /a/b: /a/b/k: E",
        "f:1:7: /a: E",    "--set /n/m/o: /n: E", "--set /n/m/o: /n/x: E",
        "f:2:17: /l/0: E", "--set /l/-: /l/1: E", "--set /a: /a/b: E",
    };
    CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, (int64_t)COUNT(errors));
    for (size_t i = 0; i < COUNT(errors); i++)
        CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, (int64_t)i), errors[i]);
    cfg_loader_release(&loader);
}

static void test_tree(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct cfg root =
        cfg_from_tree(&loader, "point 3", json_pack("{s:{s:i}}", "a", "b", 1));
    struct cfg a = cfg_get(root, "a");
    CU_ASSERT_EQUAL(cfg_len(a), 1);
    CU_ASSERT_EQUAL(cfg_len(cfg_get(a, "b")), 0);
    cfg_error(cfg_get(a, "b"), DIAG_INVALID, "E");
    cfg_error(root, DIAG_INVALID, "E");
    CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 0), "point 3: /a/b: E");
    CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 1), "point 3: E");
    cfg_loader_release(&loader);
}

static void test_walk(void)
{
    static const char text[] = "{'z': 1, 'a': 2, 'm': 3}";
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "f", text, sizeof(text) - 1);
    char keys[8] = "";
    int64_t sum = 0, v = 0;
    for (void *it = cfg_first(root); it; it = cfg_next(root, it)) {
        strcat(keys, cfg_key(it));
        CU_ASSERT_EQUAL(cfg_int(cfg_member(root, it), &v, 0, 9), 0);
        sum = 10 * sum + v;
    }
    CU_ASSERT_STRING_EQUAL(keys, "zam"); /* as the file has them */
    CU_ASSERT_EQUAL(sum, 123);
    cfg_loader_release(&loader);
}

static void test_no_file(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    CU_ASSERT_FALSE(cfg_present(cfg_load(&loader, "/none.json")));
    CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 0),
                           "/none.json: cannot be read: No such file or directory");
    cfg_loader_release(&loader);
}

void test_cfg_register(void)
{
    CU_pSuite suite = CU_add_suite("cfg", NULL, NULL);
    CU_add_test(suite, "lenient text", test_lenient);
    CU_add_test(suite, "errors of structure", test_structure_errors);
    CU_add_test(suite, "errors of scalars", test_scalar_errors);
    CU_add_test(suite, "depth", test_depth);
    CU_add_test(suite, "fields", test_fields);
    CU_add_test(suite, "errors of fields", test_field_errors);
    CU_add_test(suite, "all errors of a file", test_all_errors_of_a_file);
    CU_add_test(suite, "renamed keys", test_renamed);
    CU_add_test(suite, "parts of what is found", test_diag_parts);
    CU_add_test(suite, "codes of what is found", test_diag_codes);
    CU_add_test(suite, "not an object", test_not_an_object);
    CU_add_test(suite, "places", test_places);
    CU_add_test(suite, "many errors", test_many_errors);
    CU_add_test(suite, "set", test_set);
    CU_add_test(suite, "errors of set", test_set_errors);
    CU_add_test(suite, "origin of what was set", test_set_origin);
    CU_add_test(suite, "a tree as a document", test_tree);
    CU_add_test(suite, "walk", test_walk);
    CU_add_test(suite, "no file", test_no_file);
}
