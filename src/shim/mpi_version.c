/* shim/mpi_version.c - reads what PMPI_Get_library_version says. */
#include "shim/mpi_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/next.h"

/* The text of a known family begins with one of these; its version follows. */
static const struct {
    const char* family;
    const char* prefix;
} families[] = {{"Open MPI", "Open MPI v"}, {"MPICH", "MPICH Version:"}};

/* The longest text is that of MPICH, whose MPI_MAX_LIBRARY_VERSION_STRING is 8192. */
enum { VERSION_BYTES = 16384 };

typedef int Get_library_version(char* version, int* length);

static bool read_version(char* text) {
    Get_library_version* get = NULL;
    int length = 0;
    *(void**)&get = find_symbol("PMPI_Get_library_version");
    return get != NULL && get(text, &length) == 0;
}

static bool parse(const char* text, char running[RUNNING_MPI_BYTES]) {
    for (size_t i = 0; i < sizeof families / sizeof families[0]; ++i) {
        const char* version = text + strlen(families[i].prefix);
        if (strncmp(text, families[i].prefix, strlen(families[i].prefix)) != 0) continue;
        version += strspn(version, " \t");
        snprintf(running, RUNNING_MPI_BYTES, "%s %.*s", families[i].family,
                 (int)strcspn(version, " \t\n\r,"), version);
        return strcmp(families[i].family, built_for.family) == 0 &&
               strtol(version, NULL, 10) == built_for.major;
    }
    snprintf(running, RUNNING_MPI_BYTES, "%.*s", (int)strcspn(text, "\n\r"), text);
    return false;
}

/* Returns the version of the standard ABI of MPI 5, if the program runs a library that has it: its
 * handles are not those of the same MPI's own ABI although the version's text is the same. Returns
 * -1 otherwise. Legal before MPI_Init. */
static int standard_abi(void) {
    int (*get)(int* major, int* minor) = NULL;
    int major = -1;
    int minor = -1;
    *(void**)&get = find_symbol("PMPI_Abi_get_version");
    return get != NULL && get(&major, &minor) == 0 ? major : -1;
}

static bool read_and_parse(char running[RUNNING_MPI_BYTES]) {
    char* const text = calloc(1, VERSION_BYTES);
    bool ours = false;
    if (text != NULL && read_version(text)) {
        ours = parse(text, running);
    } else {
        snprintf(running, RUNNING_MPI_BYTES, "an MPI that does not say its version");
    }
    free(text);
    return ours;
}

bool running_mpi_is_ours(char running[RUNNING_MPI_BYTES]) {
    const int abi = standard_abi();
    if (abi < 0) return read_and_parse(running);
    snprintf(running, RUNNING_MPI_BYTES, STANDARD_ABI " %d", abi);
    return strcmp(built_for.family, STANDARD_ABI) == 0 && built_for.major == abi;
}
