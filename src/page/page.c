#include "page/page.h"

#include "base/file.h"
#include "page/palette.h"

#include <stdlib.h>
#include <string.h>

/* Made by the Makefile of the files in web/. */
extern const char page_style[], page_script[], page_script_live[];

json_t *page_data(const char *kind, const char *title, json_t *result)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:O?}", "schema", PAGE_SCHEMA, "kind", kind,
                     "title", title, "palette", page_palette(), "result", result);
}

void page_set_text(json_t *data, const char *text)
{
    json_object_set_new(data, "text", json_string(text));
}

/* Text of an element. */
static void print_text(FILE *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '<')
            fputs("&lt;", out);
        else if (*s == '&')
            fputs("&amp;", out);
        else
            fputc(*s, out);
    }
}

/* JSON inside a script element, which nothing of it can end. */
static int print_piece(const char *piece, size_t n, void *out)
{
    for (size_t i = 0; i < n; i++) {
        if (piece[i] == '<')
            fputs("\\u003c", out);
        else
            fputc(piece[i], out);
    }
    return 0;
}

void page_print(FILE *out, const json_t *data, bool live)
{
    const char *title = json_string_value(json_object_get(data, "title"));
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:",
          out);
    fputs(live ? "; connect-src 'self'\">\n<title>" : "\">\n<title>", out);
    print_text(out, title ? title : "smsim");
    fprintf(out, "</title>\n<style>\n%s</style></head>\n<body>\n", page_style);
    fputs("<noscript><p>This page draws its data with a script, which is switched off "
          "here.</p></noscript>\n<div id=\"page\"></div>\n"
          "<script type=\"application/json\" id=\"data\">",
          out);
    json_dump_callback(data, print_piece, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
    fprintf(out, "</script>\n<script>\n%s%sstart();\n</script>\n</body></html>\n",
            page_script, live ? page_script_live : "");
}

static bool is_json(const char *path)
{
    size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

int page_write(json_t *data, const char *path, struct err *err)
{
    struct file_out file;
    int rc = file_out_open(&file, path, err);
    if (rc == 0 && is_json(path)) {
        json_dumpf(data, file.stream, JSON_COMPACT | JSON_REAL_PRECISION(12));
        fputc('\n', file.stream);
    } else if (rc == 0) {
        page_print(file.stream, data, false);
    }
    if (rc == 0)
        rc = file_out_commit(&file, err);
    json_decref(data);
    return rc;
}
