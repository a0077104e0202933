/* shim/private_main.c - a program that is none of MPI's, but loads a plug-in that is, as Python
 * does: privately. Usage: private_main LIBRARY FUNCTION */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    void* const library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*function)(int, char**) = NULL;
    if (library != NULL) *(void**)&function = dlsym(library, argv[2]);
    if (function == NULL) {
        fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage: private_main LIBRARY FUNCTION");
        return 2;
    }
    function(1, argv);
    return 0;
}
