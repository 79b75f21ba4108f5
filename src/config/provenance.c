#include "config/provenance.h"

const struct name_value provenance_kind_names[] = {
    { "inferred", PROVENANCE_INFERRED },
    { "transferred", PROVENANCE_TRANSFERRED },
    { "datasheet", PROVENANCE_DATASHEET },
    { "published", PROVENANCE_PUBLISHED },
    { "fitted", PROVENANCE_FITTED },
    { "measured", PROVENANCE_MEASURED },
    { NULL, 0 },
};

const char *provenance_kind_text(enum provenance_kind kind)
{
    return kind == PROVENANCE_UNKNOWN ? "unknown"
                                      : names_of(provenance_kind_names, (int)kind);
}

bool provenance_is_guessed(enum provenance_kind kind)
{
    return kind <= PROVENANCE_TRANSFERRED;
}

void provenance_check(struct cfg file, enum provenance_kind kind)
{
    if (kind == PROVENANCE_UNKNOWN)
        cfg_warn(cfg_get(file, "provenance_kind"), DIAG_ASSUMED,
                 "is not given: the numbers are taken to be inferred (write "
                 "\"measured\", \"fitted\", \"published\", \"datasheet\", "
                 "\"transferred\" or \"inferred\")");
}
