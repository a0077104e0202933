/* shim/print_names.c - the names of names.def, one a line. */
#include <stdio.h>

#include "shim/names.h"

int main(void) {
    puts("GC_Interposer_uncovered");
#define GC_C(name, ...) puts(#name);
#define GC_F_LINE(name, ...) puts(#name);
#define GC_FORTRAN(lower, UPPER, ...) GC_MANGLINGS(GC_F_LINE, lower, UPPER, __VA_ARGS__)
#define GC_FORTRAN_AS(lower, UPPER, ...) GC_PLAIN_MANGLINGS(GC_F_LINE, lower, UPPER, __VA_ARGS__)
#include "shim/names.def"
    return 0;
}
