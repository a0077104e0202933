/* shim/tool_variables.c - performance variables of MPI_T: the MPI library's, and ours between them.
 *
 * Ours come behind those that the MPI library has when a tool first asks after MPI_Init. They keep
 * their numbers for ever, as MPI_T demands: what the library adds later comes behind ours. */
#include <limits.h>
#include <pthread.h>

#include "shim/gate.h"
#include "shim/names.h"
#include "shim/next.h"

/* Our numbers are from `first` to `end` - 1; none are as long as both are INT_MAX. */
typedef struct {
    const GC_Tool_variables* variables;
    int first;
    int end;
} Ours;

static const Ours no_ours = {NULL, INT_MAX, INT_MAX};
static Ours settled = {NULL, INT_MAX, INT_MAX};
static pthread_mutex_t settling = PTHREAD_MUTEX_INITIALIZER;

static Ours ours(void) {
    const GC_Interposer_table* const core = loaded_core();
    int count = 0;
    Ours found;
    if (core == NULL || core->tool_variables == NULL) return no_ours;
    pthread_mutex_lock(&settling);
    if (settled.variables == NULL && NEXT(MPI_T_pvar_get_num)(&count) == 0) {
        settled = (Ours){core->tool_variables, count, count + core->tool_variables->count};
    }
    found = settled;
    pthread_mutex_unlock(&settling);
    return found;
}

static bool has(const Ours* all, int index) {
    return index >= all->first && index < all->end;
}

/* Returns the MPI library's own number of a variable that is not ours. */
static int number_there(const Ours* all, int index) {
    return index < all->end ? index : index - all->variables->count;
}

int MPI_T_pvar_get_num(int* count) {
    const Ours all = ours();
    const int code = NEXT(MPI_T_pvar_get_num)(count);
    if (code == 0 && all.variables != NULL) *count += all.variables->count;
    return code;
}

int MPI_T_pvar_get_info(TOOL_VARIABLE_PARAMETERS) {
    const Ours all = ours();
    if (has(&all, index)) {
        return all.variables->info(index - all.first, name, name_length, verbosity, kind, datatype,
                                   names, text, text_length, bind, readonly, continuous, atomic);
    }
    return NEXT(MPI_T_pvar_get_info)(number_there(&all, index), name, name_length, verbosity, kind,
                                     datatype, names, text, text_length, bind, readonly, continuous,
                                     atomic);
}

int MPI_T_pvar_get_index(const char* name, int kind, int* index) {
    const Ours all = ours();
    const int found = all.variables != NULL ? all.variables->find(name, kind) : -1;
    if (found >= 0 && index != NULL) {
        *index = all.first + found;
        return 0;
    }
    const int code = NEXT(MPI_T_pvar_get_index)(name, kind, index);
    if (code == 0 && *index >= all.first) *index += all.variables->count;
    return code;
}

int MPI_T_pvar_handle_alloc(void* session, int index, void* object, void* handle, int* count) {
    const Ours all = ours();
    if (has(&all, index))
        return all.variables->open(session, index - all.first, object, handle, count);
    return NEXT(MPI_T_pvar_handle_alloc)(session, number_there(&all, index), object, handle, count);
}

/* Returns our variables if the handle is of one of them, else null. */
static const GC_Tool_variables* owner_of(const void* handle) {
    const GC_Tool_variables* const variables = ours().variables;
    return variables != NULL && variables->owns(handle) ? variables : NULL;
}

int MPI_T_pvar_handle_free(void* session, void* handle) {
    void** const place = handle;
    const GC_Tool_variables* const own = place != NULL ? owner_of(*place) : NULL;
    return own != NULL ? own->close(session, place) : NEXT(MPI_T_pvar_handle_free)(session, handle);
}

int MPI_T_pvar_read(void* session, void* handle, void* value) {
    const GC_Tool_variables* const own = owner_of(handle);
    return own != NULL ? own->read(session, handle, value)
                       : NEXT(MPI_T_pvar_read)(session, handle, value);
}

/* Ours go on for ever, and nobody else sets them. */
#define REFUSED(name, reason, PARAMETERS, ...)                      \
    int name PARAMETERS {                                           \
        const GC_Tool_variables* const own = owner_of(handle);      \
        return own != NULL ? own->reason : NEXT(name)(__VA_ARGS__); \
    }
REFUSED(MPI_T_pvar_start, no_start_stop, (void* session, void* handle), session, handle)
REFUSED(MPI_T_pvar_stop, no_start_stop, (void* session, void* handle), session, handle)
REFUSED(MPI_T_pvar_write, no_write, (void* session, void* handle, const void* value), session,
        handle, value)
REFUSED(MPI_T_pvar_reset, no_write, (void* session, void* handle), session, handle)
REFUSED(MPI_T_pvar_readreset, no_atomic, (void* session, void* handle, void* value), session,
        handle, value)
