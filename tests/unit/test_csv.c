#include "config/csv.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <unistd.h>

void test_csv_register(void);

/* Loads the text by way of a file named t.csv in a directory of its own. */
static int load(struct csv *csv, struct cfg_loader *loader, const char *text, size_t n)
{
    char dir[] = "/tmp/smsim-test-XXXXXX", old[4096];
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(old, sizeof(old)));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    CU_ASSERT_EQUAL_FATAL(chdir(dir), 0);
    FILE *f = fopen("t.csv", "wb");
    fwrite(text, 1, n, f);
    fclose(f);
    int rc = csv_load(csv, loader, "t.csv");
    unlink("t.csv");
    CU_ASSERT_EQUAL_FATAL(chdir(old), 0);
    rmdir(dir);
    return rc;
}

static void test_table(void)
{
    static const char text[] = "\xef\xbb\xbf"
                               "name,\"time (ms)\",note\r\n"
                               "a,1.5,\"x, \"\"y\"\"\"\r\n"
                               "\r\n"
                               " b ,\t, \" two\nlines\" \n"
                               "c \"d\",3,";
    struct cfg_loader loader;
    struct csv csv;
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(load(&csv, &loader, text, sizeof(text) - 1), 0);
    CU_ASSERT_EQUAL(csv.n_columns, 3);
    CU_ASSERT_EQUAL_FATAL(csv.n_rows, 3);
    CU_ASSERT_STRING_EQUAL(csv.columns[0], "name");
    CU_ASSERT_EQUAL(csv_column(&csv, "time (ms)"), 1);
    CU_ASSERT_EQUAL(csv_column(&csv, "time"), -1);
    static const char *const cells[3][3] = { { "a", "1.5", "x, \"y\"" },
                                             { "b", "", "two\nlines" },
                                             { "c \"d\"", "3", "" } };
    static const int64_t lines[] = { 2, 4, 6 };
    for (int64_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(csv.lines[i], lines[i]);
        for (int64_t j = 0; j < 3; j++)
            CU_ASSERT_STRING_EQUAL(csv_cell(&csv, i, j), cells[i][j]);
    }
    CU_ASSERT_EQUAL(loader.diags.n_errors, 0);
    cfg_loader_release(&loader);
}

/* What points.csv puts before a formula is taken off, and nothing else. */
static void test_formulas(void)
{
    static const char text[] = "a\n\"'=H(1)\"\n'@b\n''=q\n'plain\n-1\n'+x\n=y\n";
    static const char *const cells[] = { "=H(1)", "@b", "'=q", "'plain",
                                         "-1",    "+x", "=y" };
    struct cfg_loader loader;
    struct csv csv;
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(load(&csv, &loader, text, sizeof(text) - 1), 0);
    CU_ASSERT_EQUAL_FATAL(csv.n_rows, 7);
    for (int64_t i = 0; i < 7; i++)
        CU_ASSERT_STRING_EQUAL(csv_cell(&csv, i, 0), cells[i]);
    CU_ASSERT_TRUE(csv_is_formula("=1") && csv_is_formula("''-x"));
    CU_ASSERT_FALSE(csv_is_formula("-1.5e3") || csv_is_formula("'x") ||
                    csv_is_formula(""));
    cfg_loader_release(&loader);
}

static void test_header_alone(void)
{
    struct cfg_loader loader;
    struct csv csv;
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL(load(&csv, &loader, "a", 1), 0);
    CU_ASSERT_EQUAL(csv.n_columns, 1);
    CU_ASSERT_EQUAL(csv.n_rows, 0);
    cfg_loader_release(&loader);
}

static void test_errors(void)
{
    static const struct {
        const char *text;
        size_t n;
        const char *error;
    } cases[] = {
#define CASE(text, error) { text, sizeof(text) - 1, error }
        CASE("", "t.csv:1:1: the table is empty (begin with a line of column names)"),
        CASE("a,b\n1\n", "t.csv:2:1: the row has 1 cell, the header has 2 (give a row "
                         "as many cells as the header)"),
        CASE("a\n\"x\ny\"\n1,2\n", "t.csv:4:1: the row has 2 cells, the header has 1 "
                                   "(give a row as many cells as the header)"),
        CASE("a,,b\n", "t.csv:1:3: a column has no name (name it)"),
        CASE("a,b,\n", "t.csv:1:5: a column has no name (name it)"),
        CASE("a,\xc3\xa9,a\n", "t.csv:1:5: two columns have this name (rename one)"),
        CASE("a,b\n1,\"2\n3,4\n",
             "t.csv:2:3: the quote is not closed (end it with \")"),
        CASE("a\n\"x\"y\n", "t.csv:2:4: text after the closing quote (write \"\" for a "
                            "quote within quotes)"),
        CASE("a\n\xff\n",
             "t.csv:2:1: a byte that is not UTF-8 text (save the file as UTF-8)"),
        CASE("a\nx\0y\n",
             "t.csv:2:2: a byte that is not UTF-8 text (save the file as UTF-8)"),
#undef CASE
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cfg_loader loader;
        struct csv csv;
        cfg_loader_init(&loader);
        CU_ASSERT_EQUAL(load(&csv, &loader, cases[i].text, cases[i].n), -1);
        CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);
        CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 0), cases[i].error);
        cfg_loader_release(&loader);
    }
}

static void test_no_file(void)
{
    struct cfg_loader loader;
    struct csv csv;
    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL(csv_load(&csv, &loader, "/none.csv"), -1);
    CU_ASSERT_STRING_EQUAL(diags_error_text(&loader.diags, 0),
                           "/none.csv: cannot be read: No such file or directory");
    cfg_loader_release(&loader);
}

void test_csv_register(void)
{
    CU_pSuite suite = CU_add_suite("csv", NULL, NULL);
    CU_add_test(suite, "table", test_table);
    CU_add_test(suite, "formulas", test_formulas);
    CU_add_test(suite, "header alone", test_header_alone);
    CU_add_test(suite, "errors", test_errors);
    CU_add_test(suite, "no file", test_no_file);
}
