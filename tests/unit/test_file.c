#include "base/child.h"
#include "base/file.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void test_file_register(void);

static char dir[64];

static const char *in_dir(char buf[128], const char *name)
{
    snprintf(buf, 128, "%s/%s", dir, name);
    return buf;
}

static int make_dir(void)
{
    strcpy(dir, "/tmp/smsim-test-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void)
{
    return rmdir(dir); /* fails when a test left something, a temporary file too */
}

static void write_text(const char *path, const char *text)
{
    struct file_out out;
    struct err err = { 0 };
    CU_ASSERT_EQUAL_FATAL(file_out_open(&out, path, &err), 0);
    fputs(text, out.stream);
    CU_ASSERT_EQUAL(file_out_commit(&out, &err), 0);
    file_out_abandon(&out);
}

static void assert_content(const char *path, const char *text)
{
    struct err err = { 0 };
    size_t len = 0;
    char *content = file_read(path, 1 << 20, &len, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(content);
    CU_ASSERT_STRING_EQUAL(content, text);
    CU_ASSERT_EQUAL(len, strlen(text));
    free(content);
}

static void test_round_trip(void)
{
    char path[128];
    in_dir(path, "a.txt");
    write_text(path, "first");
    assert_content(path, "first");
    write_text(path, "");
    assert_content(path, "");
    char *large = malloc(100001);
    memset(large, 'x', 100000);
    large[100000] = '\0';
    write_text(path, large);
    assert_content(path, large);
    free(large);
    unlink(path);
}

static void test_abandon_keeps_the_old(void)
{
    char path[128];
    struct file_out out;
    struct err err = { 0 };
    write_text(in_dir(path, "a.txt"), "old");
    CU_ASSERT_EQUAL_FATAL(file_out_open(&out, path, &err), 0);
    fputs("half of the ne", out.stream);
    file_out_abandon(&out);
    assert_content(path, "old");
    unlink(path);
}

static void test_link_stays(void)
{
    char path[128], name[128];
    struct stat st;
    write_text(in_dir(path, "a.txt"), "old");
    CU_ASSERT_EQUAL_FATAL(symlink("a.txt", in_dir(name, "link")), 0);
    write_text(name, "new");
    assert_content(path, "new");
    CU_ASSERT(lstat(name, &st) == 0 && S_ISLNK(st.st_mode));
    unlink(name);
    unlink(path);
}

static void test_errors(void)
{
    char path[128], expect[300];
    struct err err = { 0 };
    size_t len;
    CU_ASSERT_PTR_NULL(file_read(in_dir(path, "none"), 10, &len, &err));
    snprintf(expect, sizeof(expect), "%s: cannot be read: No such file or directory",
             path);
    CU_ASSERT_STRING_EQUAL(err.text, expect);

    err.set = false;
    CU_ASSERT_PTR_NULL(file_read(dir, 10, &len, &err));
    snprintf(expect, sizeof(expect), "%s: is a directory (give a file)", dir);
    CU_ASSERT_STRING_EQUAL(err.text, expect);

    write_text(in_dir(path, "a"), "12345678901");
    err.set = false;
    CU_ASSERT_PTR_NULL(file_read(path, 10, &len, &err));
    snprintf(expect, sizeof(expect), "%s: is larger than 10 bytes", path);
    CU_ASSERT_STRING_EQUAL(err.text, expect);
    unlink(path);

    struct file_out out;
    err.set = false;
    CU_ASSERT_EQUAL(file_out_open(&out, dir, &err), -1);
    snprintf(expect, sizeof(expect), "%s: is a directory (give a file)", dir);
    CU_ASSERT_STRING_EQUAL(err.text, expect);

    err.set = false;
    CU_ASSERT_EQUAL(file_out_open(&out, in_dir(path, "none/b"), &err), -1);
    snprintf(expect, sizeof(expect), "%s: cannot be written: No such file or directory",
             path);
    CU_ASSERT_STRING_EQUAL(err.text, expect);
}

/* Checks say what opening would, and leave no trace, not even of an old file's time. */
static void test_checks(void)
{
    char path[128], pipe[128];
    struct err err = { 0 };
    struct stat st;
    CU_ASSERT_EQUAL(file_out_check("-", &err), 0);
    CU_ASSERT_EQUAL(file_out_check("/dev/null", &err), 0);
    CU_ASSERT_EQUAL(file_out_check(in_dir(path, "new"), &err), 0);
    CU_ASSERT_EQUAL(stat(path, &st), -1);
    CU_ASSERT_EQUAL(dir_out_check(path, &err), 0);
    CU_ASSERT_EQUAL(stat(path, &st), -1);
    CU_ASSERT_EQUAL_FATAL(mkfifo(in_dir(pipe, "pipe"), 0600), 0);
    CU_ASSERT_EQUAL(file_out_check(pipe, &err), 0); /* does not wait for a reader */
    CU_ASSERT(!err.set);
    CU_ASSERT_EQUAL(file_out_check(dir, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is a directory"));
    err.set = false;
    CU_ASSERT_EQUAL(dir_out_check(dir, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is not empty"));
    err.set = false;
    CU_ASSERT_EQUAL(file_out_check(in_dir(path, "none/b"), &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot be written"));
    unlink(pipe);
}

static void test_full_device(void)
{
    struct file_out out;
    struct err err = { 0 };
    CU_ASSERT_EQUAL_FATAL(file_out_open(&out, "/dev/full", &err), 0);
    CU_ASSERT_PTR_NULL(out.temp);
    fputs("text", out.stream);
    CU_ASSERT_EQUAL(file_out_commit(&out, &err), -1);
    CU_ASSERT_STRING_EQUAL(err.text,
                           "/dev/full: cannot be written: No space left on device");
}

/* Exit codes are handed on; a child that is late, dies or is no program is an error. */
static void test_child(void)
{
    const char *const seven[] = { "/bin/sh", "-c", "exit 7", NULL };
    const char *const late[] = { "/bin/sh", "-c", "exec sleep 60", NULL };
    const char *const dies[] = { "/bin/sh", "-c", "kill -9 $$", NULL };
    const char *const none[] = { "/no/such/program", NULL };
    struct err err = { 0 };
    CU_ASSERT_EQUAL(child_run(seven, 60, &err), 7);
    CU_ASSERT(!err.set);
    CU_ASSERT_EQUAL(child_run(late, 0.05, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "did not end within"));
    err.set = false;
    CU_ASSERT_EQUAL(child_run(dies, 60, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "was killed by signal 9"));
    err.set = false;
    CU_ASSERT_EQUAL(child_run(none, 60, &err), -1);
    CU_ASSERT_STRING_EQUAL(err.text, "/no/such/program: cannot be run");
}

void test_file_register(void)
{
    CU_pSuite suite = CU_add_suite("file", make_dir, remove_dir);
    CU_add_test(suite, "round trip", test_round_trip);
    CU_add_test(suite, "abandon keeps the old", test_abandon_keeps_the_old);
    CU_add_test(suite, "a link stays one", test_link_stays);
    CU_add_test(suite, "errors", test_errors);
    CU_add_test(suite, "outputs checked beforehand", test_checks);
    CU_add_test(suite, "full device", test_full_device);
    CU_add_test(suite, "a child", test_child);
}
