/* shim/connect_version.c - a core whose table has another version than the interposer's says so and
 * stays away. Usage: connect_version LIBGRADCOLL */
#include <dlfcn.h>
#include <stdio.h>

#include "base/interposer_table.h"

int main(int argc, char** argv) {
    static GC_Gate gate;
    GC_Interposer_connect_function connect_core = NULL;
    void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library != NULL) *(void**)&connect_core = dlsym(library, "GC_Interposer_connect");
    if (connect_core == NULL) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: connect_version LIBGRADCOLL");
        return 2;
    }
    if (connect_core(GC_INTERPOSER_VERSION + 1, &gate) != NULL) return 1;
    puts("stays away");
    return 0;
}
