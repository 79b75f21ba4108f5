/* The release, and what else is versioned on its own: the JSON results name theirs in
 * "schema" (report/result.h), the data by a hash of their bytes (smsim --version). */
#ifndef BASE_RELEASE_H
#define BASE_RELEASE_H

#define VERSION_TEXT "0.9.0" /* the Makefile, the packages and Python read it here */

#endif
