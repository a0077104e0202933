/* shim/mpi_version.c - reads what PMPI_Get_library_version says. */
#define _GNU_SOURCE
#include "shim/mpi_version.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/next.h"

/* The text of a known family begins with one of these; its version follows. */
typedef struct {
    const char* family;
    const char* prefix;
    bool has_mpichs_abi;
} Family;

static const Family families[] = {{"Open MPI", "Open MPI v", false},
                                  {"MPICH", "MPICH Version:", true},
                                  {"Intel MPI", "Intel(R) MPI Library", true}};

/* The longest text is that of MPICH, whose MPI_MAX_LIBRARY_VERSION_STRING is 8192. */
enum { VERSION_BYTES = 16384 };

static const char version_function[] = "PMPI_Get_library_version";
typedef int Get_library_version(char* version, int* length);

static bool read_version(char* text) {
    Get_library_version* get = NULL;
    int length = 0;
    *(void**)&get = find_symbol(version_function);
    return get != NULL && get(text, &length) == 0;
}

/* Returns whether the MPI in this process is the file that the core is linked with: the core would
 * bring a second MPI along if its library had another name. */
static bool has_soname_of_build(void) {
    void* const library = dlopen(built_for.soname, RTLD_LAZY | RTLD_NOLOAD);
    void* const its = library != NULL ? dlsym(library, version_function) : NULL;
    if (library != NULL) dlclose(library); /* was there before and stays */
    return its != NULL && its == find_symbol(version_function);
}

/* Appends the file of the MPI library, where its version does not tell two of them apart. */
static void add_file(char running[RUNNING_MPI_BYTES]) {
    const size_t length = strlen(running);
    Dl_info found;
    if (dladdr(find_symbol(version_function), &found) == 0 || found.dli_fname == NULL) return;
    const char* const slash = strrchr(found.dli_fname, '/');
    snprintf(running + length, RUNNING_MPI_BYTES - length, " (%s)",
             slash != NULL ? slash + 1 : found.dli_fname);
}

static bool is_ours(const Family* family, const char* version, char running[RUNNING_MPI_BYTES]) {
    if (family->has_mpichs_abi && built_for.soname[0] != '\0') {
        if (has_soname_of_build()) return true;
        add_file(running);
        return false;
    }
    return strcmp(family->family, built_for.family) == 0 &&
           strtol(version, NULL, 10) == built_for.major;
}

static bool parse(const char* text, char running[RUNNING_MPI_BYTES]) {
    for (size_t i = 0; i < sizeof families / sizeof families[0]; ++i) {
        const char* version = text + strlen(families[i].prefix);
        if (strncmp(text, families[i].prefix, strlen(families[i].prefix)) != 0) continue;
        version += strspn(version, " \t");
        snprintf(running, RUNNING_MPI_BYTES, "%s %.*s", families[i].family,
                 (int)strcspn(version, " \t\n\r,"), version);
        return is_ours(&families[i], version, running);
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
