/* tests/preload/tool_variables.c - a tool of MPI_T that reads all performance variables before and
 * after sums. Knows nothing of Gradcoll but the names of its variables. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 100, COUNT = 100000, MOST = 4096 };

static int failures;
static void expect(int condition, const char* what) {
    if (condition) return;
    printf("tool_variables: WRONG: %s\n", what);
    ++failures;
}

/* Names, classes and numbers agree, and stay what they are. */
static char names[MOST][256];
static int kinds[MOST];
static int look_at_all(int known) {
    int count = 0;
    expect(MPI_T_pvar_get_num(&count) == MPI_SUCCESS && count >= known && count <= MOST,
           "a number");
    for (int i = 0; i < count; ++i) {
        char name[256], text[512];
        int name_length = sizeof name, text_length = sizeof text, kind = 0, index = -1;
        int verbosity, bind, readonly, continuous, atomic;
        MPI_Datatype datatype;
        MPI_T_enum values;
        /* Open MPI gives up variables whose component it has unloaded. */
        if (MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &kind, &datatype, &values, text,
                                &text_length, &bind, &readonly, &continuous,
                                &atomic) != MPI_SUCCESS)
            continue;
        if (i < known && names[i][0] != '\0')
            expect(strcmp(names[i], name) == 0, "a name that changed");
        strcpy(names[i], name);
        kinds[i] = kind;
        if (MPI_T_pvar_get_index(name, kind, &index) == MPI_SUCCESS)
            expect(strcmp(names[index], name) == 0, "the index of a name");
    }
    return count;
}

static unsigned long long value_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    unsigned long long value = 0;
    expect(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS, "reading");
    return value;
}

/* Variables of the MPI library are read as before: of one without an object and with a value of
 * known size. Returns how many were. */
static int read_others(MPI_T_pvar_session session, int count) {
    int read = 0;
    for (int i = 0; i < count; ++i) {
        int kind, bind, length = 0, text_length = 0, verbosity, readonly, continuous, atomic,
                        values;
        MPI_Datatype datatype;
        MPI_T_enum of_values;
        MPI_T_pvar_handle handle;
        char name[256];
        length = sizeof name;
        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &kind, &datatype, &of_values, NULL,
                                &text_length, &bind, &readonly, &continuous,
                                &atomic) != MPI_SUCCESS)
            continue;
        if (strncmp(name, "gradcoll_", 9) == 0 || bind != MPI_T_BIND_NO_OBJECT) continue;
        if (MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &values) != MPI_SUCCESS) continue;
        if (values == 1) {
            char value[64];
            if (MPI_T_pvar_read(session, handle, value) == MPI_SUCCESS) ++read;
        }
        expect(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS, "freeing another's handle");
    }
    return read;
}

int main(int argc, char** argv) {
    const int is_preloaded = argc > 1 && strcmp(argv[1], "preloaded") == 0;
    int provided, size, rank, before_init, count, served = -1, saved = -1;
    MPI_T_pvar_session session, other;
    MPI_T_pvar_handle handle, of_saved;
    float *in, *out;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    before_init = look_at_all(0);
    MPI_Init(&argc, &argv);
    count = look_at_all(before_init);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_session_create(&other);
    in = malloc(COUNT * sizeof *in);
    out = malloc(COUNT * sizeof *out);
    for (int i = 0; i < COUNT; ++i) in[i] = (float)(i % 7);
    const int others = read_others(session, count);

    if (!is_preloaded) {
        expect(MPI_T_pvar_get_index("gradcoll_calls_served", MPI_T_PVAR_CLASS_COUNTER, &served) !=
                   MPI_SUCCESS,
               "a variable of nobody's");
    } else {
        int values = 0;
        MPI_Comm comm = MPI_COMM_WORLD;
        MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm); /* it may attach */
        expect(MPI_T_pvar_get_index("gradcoll_calls_served", MPI_T_PVAR_CLASS_COUNTER, &served) ==
                   MPI_SUCCESS,
               "calls served");
        expect(MPI_T_pvar_get_index("gradcoll_bytes_saved", MPI_T_PVAR_CLASS_GENERIC, &saved) ==
                   MPI_SUCCESS,
               "bytes saved");
        expect(MPI_T_pvar_handle_alloc(session, served, &comm, &handle, &values) == MPI_SUCCESS &&
                   values == 1,
               "a handle");
        expect(MPI_T_pvar_handle_alloc(session, saved, &comm, &of_saved, &values) == MPI_SUCCESS,
               "another handle");
        expect(value_of(session, handle) == 0, "it counts from when its handle is made");
        for (int i = 0; i < CALLS; ++i) MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
        expect(value_of(session, handle) == CALLS, "calls that were served");
        expect(value_of(session, of_saved) > 0, "bytes that a codec saved");
        unsigned long long value = 0;
        expect(MPI_T_pvar_read(other, handle, &value) != MPI_SUCCESS,
               "a handle of another session");
        expect(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP, "a start");
        expect(MPI_T_pvar_stop(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP, "a stop");
        expect(MPI_T_pvar_write(session, handle, &value) == MPI_T_ERR_PVAR_NO_WRITE, "a write");
        expect(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_PVAR_NO_WRITE, "a reset");
        expect(MPI_T_pvar_readreset(session, handle, &value) == MPI_T_ERR_PVAR_NO_ATOMIC, "both");
        expect(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS &&
                   handle == MPI_T_PVAR_HANDLE_NULL,
               "freeing a handle");
        MPI_T_pvar_handle_free(session, &of_saved);
        char cut[6];
        int length = sizeof cut;
        expect(MPI_T_pvar_get_info(served, cut, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                   NULL, NULL, NULL) == MPI_SUCCESS &&
                   strcmp(cut, "gradc") == 0 && length == 6,
               "a name that is cut");
    }
    expect(look_at_all(count) >= count, "no variable goes");
    expect(read_others(session, count) == others, "others are read as before");
    expect(MPI_T_pvar_get_info(MOST, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                               NULL, NULL) != MPI_SUCCESS,
           "a number beyond all");
    MPI_T_pvar_session_free(&session);
    MPI_T_pvar_session_free(&other);
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0) printf("tool_variables: right, %d of the MPI library\n", others);
    free(in);
    free(out);
    MPI_T_finalize(); /* Open MPI 4.1 crashes if it comes after MPI_Finalize */
    MPI_Finalize();
    return all != 0;
}
