/* shim/fortran_sentinels.c - recognises Fortran's sentinels, which are variables known by their
 * address.
 *
 * Each is a common block; the program, the modules and the MPI library all have a copy, of which
 * the dynamic linker makes the first one that is visible everybody's. Where the Fortran library was
 * loaded privately (dlopen with RTLD_LOCAL, by a plug-in or a Python extension) its copy is not the
 * visible one; then the name that stands at the buffer's own address decides, which takes about a
 * microsecond. */
#define _GNU_SOURCE
#include "shim/fortran_buffers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "shim/mpi_version.h"

enum { SPELLINGS = 4 };

typedef struct {
    const char* spelling[SPELLINGS];
    const void* address[SPELLINGS];
} Sentinel;

static Sentinel in_place = {{"mpi_fortran_in_place_", "mpi_fortran_in_place__",
                             "mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE"},
                            {NULL}};
static Sentinel bottom = {
    {"mpi_fortran_bottom_", "mpi_fortran_bottom__", "mpi_fortran_bottom", "MPI_FORTRAN_BOTTOM"},
    {NULL}};
static bool loaded_privately;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look_up(Sentinel* sentinel) {
    for (int i = 0; i < SPELLINGS; ++i) {
        sentinel->address[i] = dlsym(RTLD_DEFAULT, sentinel->spelling[i]);
    }
}

static void look_up_both(void) {
    look_up(&in_place);
    look_up(&bottom);
    /* This takes any function of the Fortran library that is not one of ours; Open MPI has all
     * spellings. */
    loaded_privately = dlsym(RTLD_DEFAULT, "mpi_finalize_") == NULL;
    dlerror();
}

static bool stands_at(const Sentinel* sentinel, const void* buffer) {
    for (int i = 0; i < SPELLINGS; ++i) {
        if (sentinel->address[i] == buffer) return true;
    }
    return false;
}

static bool is_called(const Sentinel* sentinel, const char* symbol) {
    for (int i = 0; i < SPELLINGS; ++i) {
        if (strcmp(sentinel->spelling[i], symbol) == 0) return true;
    }
    return false;
}

static const void* c_buffer_by_name(const void* buffer) {
    Dl_info there;
    if (dladdr(buffer, &there) == 0 || there.dli_sname == NULL || there.dli_saddr != buffer) {
        return buffer;
    }
    if (is_called(&in_place, there.dli_sname)) return built_for.in_place;
    if (is_called(&bottom, there.dli_sname)) return built_for.bottom;
    return buffer;
}

const void* c_buffer(const void* buffer) {
    pthread_once(&once, look_up_both);
    if (buffer == NULL) return NULL;
    if (stands_at(&in_place, buffer)) return built_for.in_place;
    if (stands_at(&bottom, buffer)) return built_for.bottom;
    return loaded_privately ? c_buffer_by_name(buffer) : buffer;
}
