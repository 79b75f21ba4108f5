/* Values of sources as one line of text, for case tables. */
#ifndef VALUE_BENCH_H
#define VALUE_BENCH_H

#include "base/strbuf.h"
#include "dialect/source/value.h"

/* {a:1,b:[x,2.5,True,None],c:?why}; strings as they are. */
void value_show(struct strbuf *out, const struct value *v);

#endif
