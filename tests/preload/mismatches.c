/* tests/preload/mismatches.c - calls that differ between ranks, under GC_CHECK=collective: every
 * rank gets an error whose text, in the log and from MPI_Error_string, names what differs, and the
 * next correct call on the communicator works. Without the check most of them would wait for ever.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { longest = 100000, most_ranks = 8 };
static float in[longest * most_ranks], out[longest * most_ranks];
static int ranks, rank, failures;

/* One rank's call; `odd` on the last rank only. */
struct call {
    const char* what;
    int (*make)(MPI_Comm comm, int odd);
    const char* field;
};

/* A count above gc_tree_min_bytes, and one below. */
static int count_of(int odd) {
    return odd ? longest / 2 : longest;
}

static int allreduce(MPI_Comm comm, int odd) {
    return MPI_Allreduce(in, out, count_of(odd), MPI_FLOAT, MPI_SUM, comm);
}
static int short_allreduce(MPI_Comm comm, int odd) {
    return MPI_Allreduce(in, out, odd ? 1 : 2, MPI_FLOAT, MPI_SUM, comm);
}
static int allreduce_of_too_few(MPI_Comm comm, int odd) {
    return MPI_Allreduce(in, out, odd ? -1 : longest, MPI_FLOAT, MPI_SUM, comm);
}
static int allreduce_of_integers(MPI_Comm comm, int odd) {
    return MPI_Allreduce(in, out, longest, odd ? MPI_INT : MPI_FLOAT, MPI_SUM, comm);
}
static int allreduce_of_a_pair(MPI_Comm comm, int odd) {
    return MPI_Allreduce(in, out, longest, odd ? MPI_2INT : MPI_FLOAT, MPI_SUM, comm);
}
static int maximum(MPI_Comm comm, int odd) {
    return MPI_Allreduce(in, out, longest, MPI_FLOAT, odd ? MPI_MAX : MPI_SUM, comm);
}
static int no_op(MPI_Comm comm, int odd) {
    return MPI_Allreduce(in, out, longest, MPI_FLOAT, odd ? MPI_OP_NULL : MPI_SUM, comm);
}
static int no_buffer(MPI_Comm comm, int odd) {
    return MPI_Allreduce(odd ? NULL : in, out, longest, MPI_FLOAT, MPI_SUM, comm);
}
static int one_buffer(MPI_Comm comm, int odd) {
    return MPI_Allreduce(odd ? out : in, out, longest, MPI_FLOAT, MPI_SUM, comm);
}
static int reduce_scatter_block(MPI_Comm comm, int odd) {
    return MPI_Reduce_scatter_block(in, out, count_of(odd) / ranks, MPI_FLOAT, MPI_SUM, comm);
}
static int reduce_scatter(MPI_Comm comm, int odd) {
    int counts[most_ranks];
    for (int i = 0; i < ranks; ++i) counts[i] = count_of(odd) / ranks;
    return MPI_Reduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, comm);
}
static int reduce_scatter_of_unequal(MPI_Comm comm, int odd) {
    int counts[most_ranks];
    for (int i = 0; i < ranks; ++i) counts[i] = longest / ranks - (odd ? i : 0);
    return MPI_Reduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, comm);
}
static int allgather(MPI_Comm comm, int odd) {
    const int count = count_of(odd) / ranks;
    return MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm);
}
static int another_call(MPI_Comm comm, int odd) {
    return odd ? allgather(comm, 0) : allreduce(comm, 0);
}

static const struct call calls[] = {
    {"allreduce", allreduce, "count must be"},
    {"short allreduce", short_allreduce, "count must be"},
    {"negative count", allreduce_of_too_few, "count must be"},
    {"datatype", allreduce_of_integers, "datatype must be"},
    {"datatype that is never served", allreduce_of_a_pair, "datatype must be"},
    {"op", maximum, "op must be"},
    {"null op", no_op, "op must be"},
    {"null buffer", no_buffer, "the outcome of the argument check must be"},
    {"one buffer for input and result", one_buffer, "the outcome of the argument check must be"},
    {"reduce_scatter_block", reduce_scatter_block, "count must be"},
    {"reduce_scatter", reduce_scatter, "count must be"},
    {"reduce_scatter of unequal blocks", reduce_scatter_of_unequal, "count must be"},
    {"allgather", allgather, "the size of a block must be"},
    {"another call", another_call, "the call must be"},
};

static void expect(int holds, const char* what, const char* wanted) {
    if (holds) return;
    ++failures;
    printf("rank %d, %s: not %s\n", rank, what, wanted);
}

/* What was logged since the last call, from the file that stderr is; empties it. */
static const char* take_log(void) {
    static char text[1 << 16];
    fflush(stderr);
    lseek(STDERR_FILENO, 0, SEEK_SET);
    const ssize_t length = read(STDERR_FILENO, text, sizeof text - 1);
    lseek(STDERR_FILENO, 0, SEEK_SET);
    if (length < 0 || ftruncate(STDERR_FILENO, 0) != 0) abort();
    text[length] = 0;
    return text;
}

static void good_call(MPI_Comm comm, const char* what) {
    for (int i = 0; i < longest; ++i) in[i] = (float)(rank + 1), out[i] = -1;
    const int code = MPI_Allreduce(in, out, longest, MPI_FLOAT, MPI_SUM, comm);
    expect(code == MPI_SUCCESS, what, "followed by a call that works");
    expect(out[longest - 1] == (float)(ranks * (ranks + 1) / 2), what, "followed by a sum");
}

static void try_call(const struct call* call, int attached) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (attached) good_call(comm, call->what);
    take_log();
    const int code = call->make(comm, rank == ranks - 1);
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    expect(class == MPI_ERR_ARG, call->what, "refused");
    expect(strstr(take_log(), call->field) != NULL, call->what, call->field);
#ifdef OPEN_MPI /* MPICH has no texts for such codes */
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    expect(strstr(text, call->field) != NULL, text, call->field);
#endif
    good_call(comm, call->what);
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    alarm(60); /* a call that hangs is a failure */
    FILE* log = tmpfile();
    if (log == NULL || dup2(fileno(log), STDERR_FILENO) < 0) abort();
    good_call(MPI_COMM_WORLD, "the first call");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i)
        for (int attached = 0; attached < 2; ++attached) try_call(&calls[i], attached);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}
