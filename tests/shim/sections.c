/* shim/sections.c - descriptors as flang makes them, in a process without gfortran's library.
 * (Those of gfortran: described.f90.) */
#include "shim/fortran_buffers.h"

#include <stdio.h>
#include <string.h>

#include "shim/speaker.h"

typedef struct {
    void* base;
    size_t element_bytes;
    int version;
    unsigned char rank, type, attribute, extra;
    ptrdiff_t dimensions[3][3]; /* lower bound, extent, stride in bytes */
} Descriptor;

enum { LLVM_16 = 20180515, LLVM_20 = 20240719 };

static int wrong, spoken;

const void* c_buffer(const void* buffer) {
    return buffer;
}

void speak(const char* format, ...) {
    (void)format;
    ++spoken;
}

static void check(const char* what, int good) {
    if (!good) {
        printf("wrong: %s\n", what);
        ++wrong;
    }
}

/* Lends the section, writes 100, 101, ... to what C gets, and gives it back. */
static void fill(const Descriptor* descriptor, int count) {
    Lent lent;
    if (!lend(descriptor, MAY_COPY, &lent)) {
        check("a known form", 0);
        return;
    }
    for (int i = 0; i < count; ++i) ((int*)lent.buffer)[i] = 100 + i;
    give_back(&lent, true);
}

static void without_gaps(void) {
    int memory[6] = {0};
    Lent lent;
    Descriptor all = {memory, 4, LLVM_16, 2, 0, 0, 0, {{1, 2, 4}, {1, 3, 8}}};
    check("all of a matrix", lend(&all, NO_COPIES, &lent) && lent.buffer == memory);
    all.version = LLVM_20;
    check("a later flang", lend(&all, NO_COPIES, &lent) && lent.buffer == memory);
    all.dimensions[1][1] = -1;
    check("an assumed size", lend(&all, NO_COPIES, &lent) && lent.buffer == memory);
    all.dimensions[0][1] = 0;
    all.dimensions[0][2] = 400;
    check("no elements", lend(&all, NO_COPIES, &lent) && lent.buffer == memory);
    all.rank = 0;
    check("a scalar", lend(&all, NO_COPIES, &lent) && lent.buffer == memory);
    check("no buffer", lend(NULL, NO_COPIES, &lent) && lent.buffer == NULL);
}

static void with_gaps(void) {
    int memory[12] = {0};
    const int column[12] = {0, 100, 101, 0, 0, 0, 0, 0, 0, 102, 103, 0};
    const int backwards[12] = {0, 0, 102, 0, 0, 101, 0, 0, 100, 0, 0, 0};
    Lent lent;
    Descriptor part = {memory + 1, 4, LLVM_16, 2, 0, 0, 0, {{1, 2, 4}, {1, 2, 32}}};
    check("a request", !lend(&part, NO_COPIES, &lent));
    fill(&part, 4);
    check("parts of two columns", memcmp(memory, column, sizeof memory) == 0);
    memset(memory, 0, sizeof memory);
    part = (Descriptor){memory + 8, 4, LLVM_16, 1, 0, 0, 0, {{1, 3, -12}}};
    fill(&part, 3);
    check("backwards", memcmp(memory, backwards, sizeof memory) == 0);
}

static void of_other_compilers(void) {
    Section section;
    Descriptor other = {NULL, 4, 7, 1, 0, 0, 0, {{1, 2, 4}}};
    check("quiet so far", spoken == 0);
    check("another version", !read_section(&other, &section));
    other.version = LLVM_16;
    other.rank = 16;
    check("too many dimensions", !read_section(&other, &section));
    check("said once", spoken == 1);
}

int main(void) {
    without_gaps();
    with_gaps();
    of_other_compilers();
    if (wrong == 0) puts("sections: right");
    return wrong != 0;
}
