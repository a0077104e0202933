/* tests/preload/refusal.c - an allreduce whose input is its output on one rank, or null: that rank
 * gets an error of its buffer, the others one that names it, and the next correct call works.
 * Argument
 * "gathering": where allgathers go over a tree, the same of one to which a rank sends too little;
 * "starting": where nonblocking allreduces are served, the same of those; "setting_up": where
 * persistent ones are served, one of those that has no input; "rooted": where broadcasts and
 * reductions are served, those of a rank without a buffer.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define ALLREDUCE_INIT MPIX_Allreduce_init
#else
#define ALLREDUCE_INIT MPI_Allreduce_init
#endif

enum { longest = 100000 };
static float in[longest], out[longest];
static int ranks, rank, failures, is_served_gathering, is_served_starting, is_served_set_up;
static int is_served_rooted;

static void expect(int holds, const char* what, const char* wanted) {
    if (holds) return;
    ++failures;
    printf("rank %d, %s: not %s\n", rank, what, wanted);
}

static void good_call(MPI_Comm comm, const char* what) {
    for (int i = 0; i < longest; ++i) in[i] = (float)(rank + 1), out[i] = -1;
    const int code = MPI_Allreduce(in, out, longest, MPI_FLOAT, MPI_SUM, comm);
    expect(code == MPI_SUCCESS, what, "followed by a call that works");
    expect(out[longest - 1] == (float)(ranks * (ranks + 1) / 2), what, "followed by a sum");
}

static void refused_call(MPI_Comm comm, int refusing, const float* wrong, const char* what) {
    const int refuses = rank == refusing;
    const int code = MPI_Allreduce(refuses ? wrong : in, out, longest, MPI_FLOAT, MPI_SUM, comm);
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    expect(class == (refuses ? MPI_ERR_BUFFER : MPI_ERR_OTHER), what,
           "an error of the right class");
#ifdef OPEN_MPI /* MPICH has no texts for such codes */
    if (refuses || class == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING], wanted[64];
    int length = 0;
    MPI_Error_string(code, text, &length);
    snprintf(wanted, sizeof wanted, "rank %d cannot go on: a buffer", refusing);
    expect(strstr(text, wanted) != NULL, text, wanted);
#endif
}

static void refused_start(MPI_Comm comm, int refusing, const char* what) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Iallreduce(rank == refusing ? out : in, out, longest, MPI_FLOAT, MPI_SUM, comm,
                              &request);
    if (rank != refusing && code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(code != MPI_SUCCESS, what, "an error");
}

/* With MPI_THREAD_MULTIPLE. */
static void refused_init(MPI_Comm comm, int refusing, const char* what) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = ALLREDUCE_INIT(rank == refusing ? NULL : in, out, longest, MPI_FLOAT, MPI_SUM,
                                    comm, MPI_INFO_NULL, &request);
    expect(code != MPI_SUCCESS, what, "an error");
    expect(request == MPI_REQUEST_NULL, what, "without a request");
}

/* Ranks that need nothing of the refusing one may end before it, and well. */
static void refused_bcast(MPI_Comm comm, int refusing, int root) {
    const int code = MPI_Bcast(rank == refusing ? NULL : out, 1000, MPI_FLOAT, root, comm);
    if (rank == refusing || refusing == root)
        expect(code != MPI_SUCCESS, "no buffer, broadcast", "an error");
}

static void refused_reduce(MPI_Comm comm, int refusing, int root) {
    const int code =
        MPI_Reduce(rank == refusing ? NULL : in, out, 1000, MPI_FLOAT, MPI_SUM, root, comm);
    if (rank == refusing || rank == root)
        expect(code != MPI_SUCCESS, "no buffer, reduction", "an error");
}

/* Open MPI does not look at it, and its own way over messages would wait. */
static void uneven_gathering(MPI_Comm comm, int refusing, const char* what) {
    const int count = 1000, refuses = rank == refusing;
    const int code =
        MPI_Allgather(in, refuses ? count / 2 : count, MPI_FLOAT, out, count, MPI_FLOAT, comm);
    expect(code != MPI_SUCCESS, what, "an error");
}

int main(int argc, char** argv) {
    is_served_gathering = argc > 1 && strcmp(argv[1], "gathering") == 0;
    is_served_starting = argc > 1 && strcmp(argv[1], "starting") == 0;
    is_served_set_up = argc > 1 && strcmp(argv[1], "setting_up") == 0;
    is_served_rooted = argc > 1 && strcmp(argv[1], "rooted") == 0;
    int threads = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, is_served_set_up ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                            MPI_ERRORS_RETURN); /* Open MPI raises some errors there */
    alarm(60);                                  /* a call that hangs is a failure */
    for (int refusing = 0; refusing < ranks; ++refusing) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        good_call(comm, "the call that attaches");
        refused_call(comm, refusing, out, "one buffer");
        good_call(comm, "one buffer");
        refused_call(comm, refusing, NULL, "no input");
        good_call(comm, "no input");
        if (is_served_starting) {
            refused_start(comm, refusing, "one buffer, nonblocking");
            good_call(comm, "one buffer, nonblocking");
        }
        if (is_served_set_up) {
            refused_init(comm, refusing, "no input, persistent");
            good_call(comm, "no input, persistent");
        }
        for (int root = 0; root < ranks && is_served_rooted; ++root) {
            refused_bcast(comm, refusing, root);
            good_call(comm, "no buffer, broadcast");
            refused_reduce(comm, refusing, root);
            good_call(comm, "no buffer, reduction");
        }
        if (is_served_gathering) {
            uneven_gathering(comm, refusing, "uneven gathering");
            good_call(comm, "uneven gathering");
            MPI_Comm_free(&comm);
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
            uneven_gathering(comm, refusing, "uneven gathering first of all");
            good_call(comm, "uneven gathering first of all");
        }
        MPI_Comm_free(&comm);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}
