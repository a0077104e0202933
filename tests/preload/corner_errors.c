/* tests/preload/corner_errors.c - wrong arguments: the MPI library's own error, under every kind of
 * error handler. Arguments: FOLDER return | FOLDER handler | FOLDER fatal CASE. */
#include "elements.h"

enum { count = 100000 };
static int in[count], out[count];

static int null_op(MPI_Comm comm) {
    return MPI_Allreduce(in, out, count, MPI_INT, MPI_OP_NULL, comm);
}
static int op_not_for_type(MPI_Comm comm) {
    return MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_BAND, comm);
}
static int sum_of_bytes(MPI_Comm comm) {
    return MPI_Allreduce(in, out, count, MPI_BYTE, MPI_SUM, comm);
}
static int maxloc_of_ints(MPI_Comm comm) {
    return MPI_Allreduce(in, out, count, MPI_INT, MPI_MAXLOC, comm);
}
static int null_type(MPI_Comm comm) {
    return MPI_Allreduce(in, out, count, MPI_DATATYPE_NULL, MPI_SUM, comm);
}
static int sum_of_derived(MPI_Comm comm) {
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    const int code = MPI_Allreduce(in, out, count / 2, pair, MPI_SUM, comm);
    MPI_Type_free(&pair);
    return code;
}
static int uncommitted_type(MPI_Comm comm) {
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    const int code = MPI_Allgather(in, 1, pair, out, 1, pair, comm);
    MPI_Type_free(&pair);
    return code;
}
static int receive_in_place(MPI_Comm comm) {
    return MPI_Allreduce(in, MPI_IN_PLACE, count, MPI_INT, MPI_SUM, comm);
}
static int null_comm(MPI_Comm comm) {
    (void)comm;
    return MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_NULL);
}
static int nonblocking_null_op(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    return MPI_Iallreduce(in, out, count, MPI_INT, MPI_OP_NULL, comm, &request);
}
static int block_null_type(MPI_Comm comm) {
    return MPI_Reduce_scatter_block(in, out, 1000, MPI_DATATYPE_NULL, MPI_SUM, comm);
}
static int block_wrong_op(MPI_Comm comm) {
    return MPI_Reduce_scatter_block(in, out, 1000, MPI_DOUBLE, MPI_BXOR, comm);
}
static int gather_null_type(MPI_Comm comm) {
    return MPI_Allgather(in, 1000, MPI_DATATYPE_NULL, out, 1000, MPI_INT, comm);
}
static int scatter_null_op(MPI_Comm comm) {
    int counts[64] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
    return MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_OP_NULL, comm);
}
static int negative_count(MPI_Comm comm) {
    return MPI_Allreduce(in, out, -5, MPI_INT, MPI_SUM, comm);
}
static int aliased(MPI_Comm comm) {
    return MPI_Allreduce(in, in, count, MPI_INT, MPI_SUM, comm);
}
static int null_buffer(MPI_Comm comm) {
    return MPI_Allreduce(in, NULL, count, MPI_INT, MPI_SUM, comm);
}

static const struct {
    const char* name;
    int (*call)(MPI_Comm comm);
} cases[] = {
#define CASE(function) \
    { #function, function }
    CASE(null_op),          CASE(op_not_for_type),
    CASE(sum_of_bytes),     CASE(maxloc_of_ints),
    CASE(null_type),        CASE(sum_of_derived),
    CASE(uncommitted_type), CASE(receive_in_place),
    CASE(null_comm),        CASE(nonblocking_null_op),
    CASE(block_null_type),  CASE(block_wrong_op),
    CASE(gather_null_type), CASE(scatter_null_op),
    CASE(negative_count),   CASE(aliased),
    CASE(null_buffer),
};
enum { case_count = sizeof cases / sizeof *cases };

/* Calls that the MPI library does not refuse but runs, and crashes. */
static bool crashes(const char* name) {
#ifdef OPEN_MPI
    return strcmp(name, "null_buffer") == 0;
#else
    return strcmp(name, "negative_count") == 0;
#endif
}

/* MPICH's strings hold addresses. */
static const char* without_addresses(char* text) {
    for (char* at = text; (at = strstr(at, "0x")) != NULL; ++at)
        memset(at + 2, '.', strspn(at + 2, "0123456789abcdef"));
    char* end = text;
    for (const char* from = text; *from; ++from)
        if (*from != '.' || from == text || from[-1] != '.') *end++ = *from == '\n' ? '|' : *from;
    *end = 0;
    return text;
}

static void note_error(const char* name, int code) {
    char text[MPI_MAX_ERROR_STRING + 1];
    int class = 0, length = 0;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    witness("%s: class %d, %s", name, class, without_addresses(text));
}

static int handled, handled_class, handled_on_comm;
static MPI_Comm expected_comm;

static void handler(MPI_Comm* comm, int* code, ...) {
    ++handled;
    MPI_Error_class(*code, &handled_class);
    handled_on_comm = *comm == expected_comm;
}

static void good_call(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < count; ++i) in[i] = (int)(scramble(5, rank, (size_t)i) % 100000);
    const int code = MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    witness("good call: code %d, %016llx", code, (unsigned long long)digest(out, sizeof out));
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
    witness_open(argv[1], rank);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "the program's own");
    good_call(MPI_COMM_WORLD);
    good_call(comm);

    if (strcmp(argv[2], "fatal") == 0) {
        const int which = atoi(argv[3]);
        fflush(witness_file);
        if (rank == 0) fprintf(stderr, "case %s\n", cases[which].name);
        MPI_Barrier(comm);
        cases[which].call(comm);
        witness("%s: no error", cases[which].name); /* fine if plain does that, too */
    } else {
        MPI_Errhandler chosen = MPI_ERRORS_RETURN;
        const bool own = strcmp(argv[2], "handler") == 0;
        if (own) MPI_Comm_create_errhandler(handler, &chosen);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, chosen);
        MPI_Comm_set_errhandler(comm, chosen);
        for (int c = 0; c < case_count; ++c) {
            if (crashes(cases[c].name)) continue;
            handled = handled_class = 0;
            expected_comm = comm;
            note_error(cases[c].name, cases[c].call(comm));
            if (own)
                witness("  handler called %d times, class %d, %d", handled, handled_class,
                        handled_on_comm);
        }
        good_call(comm);
        if (own) MPI_Errhandler_free(&chosen);
    }
    good_call(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    witness_close();
    MPI_Finalize();
    return 0;
}
