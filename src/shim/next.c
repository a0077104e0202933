/* shim/next.c - finds next functions: another tool's, else the MPI library's. */
#define _GNU_SOURCE
#include "shim/next.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* _Atomic next_functions[NAME_COUNT];

static const char* const names[NAME_COUNT] = {
#define GC_C(name, ...) #name,
#define GC_F_STRING(name, ...) #name,
#define GC_FORTRAN(lower, UPPER, ...) GC_MANGLINGS(GC_F_STRING, lower, UPPER, __VA_ARGS__)
#define GC_FORTRAN_AS(lower, UPPER, ...) GC_PLAIN_MANGLINGS(GC_F_STRING, lower, UPPER, __VA_ARGS__)
#include "shim/names.def"
};

const char* name_of(int name) {
    return names[name];
}

bool is_intercepted(const char* symbol) {
    for (int i = 0; i < NAME_COUNT; ++i) {
        if (strcmp(names[i], symbol) == 0) return true;
    }
    return false;
}

/* These MPI libraries may lie in a process that loaded them privately (dlopen with RTLD_LOCAL:
 * plug-ins, Python extensions), where RTLD_NEXT does not see them. Those of Fortran come first:
 * they bring the others along. */
static const char* const sonames[] = {
    "libmpi_usempif08.so.40", "libmpi_mpifh.so.40", "libmpichfort.so.12", "libmpifort.so.12",
    "libmpi.so.40",           "libmpich.so.12",     "libmpi.so.12",       "libmpi_abi.so.1",
};

static void* find_in_private_libraries(const char* symbol) {
    for (size_t i = 0; i < sizeof sonames / sizeof sonames[0]; ++i) {
        void* const library = dlopen(sonames[i], RTLD_LAZY | RTLD_NOLOAD);
        void* const found = library != NULL ? dlsym(library, symbol) : NULL;
        if (library != NULL) dlclose(library); /* was there before and stays */
        if (found != NULL) return found;
    }
    return NULL;
}

void* find_symbol(const char* symbol) {
    void* const found = dlsym(RTLD_DEFAULT, symbol);
    return found != NULL ? found : find_in_private_libraries(symbol);
}

/* Turns MPI_X into PMPI_X, and mpi_x_ into pmpi_x_: where an MPI library's own names are not
 * visible, this one may be. */
static void* find_profiling_name(const char* symbol) {
    char profiling[80];
    snprintf(profiling, sizeof profiling, "%c%s", symbol[0] == 'M' ? 'P' : 'p', symbol);
    return find_symbol(profiling);
}

void* find_next(Name name) {
    void* found = dlsym(RTLD_NEXT, names[name]);
    if (found == NULL) found = find_in_private_libraries(names[name]);
    if (found == NULL) found = find_profiling_name(names[name]);
    dlerror(); /* what was not found is no news to whoever asks dlerror() next */
    if (found == NULL) {
        fprintf(stderr,
                "gradcoll: the program calls %s, which no MPI library in this process has\n",
                names[name]);
        abort();
    }
    atomic_store_explicit(&next_functions[name], found, memory_order_relaxed);
    return found;
}
