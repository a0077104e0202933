/* tests/observe/late_rank.c - ranks make two calls of a kind, and the last one comes late to the
 * second. Each says in a line that it begins, with its process, and at last whether its sums were
 * right. Argument: one of `kinds`. With LATE_HANDLER set each has its own handler of SIGUSR2. */
#include <gradcoll/gradcoll.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { count = 100000, late_seconds = 4 /* if no signal comes */ };
static float in[count], out[count];
static int rank, ranks;
static volatile sig_atomic_t handled;

static void handle(int number) {
    (void)number;
    ++handled;
}

static void blocking(void) {
    GC_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* A nonblocking call attaches nothing, so a blocking one goes before the first. */
static void nonblocking(void) {
    static int attached;
    if (!attached++) blocking();
    MPI_Request request = MPI_REQUEST_NULL;
    GC_Iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static GC_Request request;
static void persistent(void) {
    if (request == GC_REQUEST_NULL)
        GC_Allreduce_init(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &request);
    GC_Start(&request);
    GC_Wait(&request);
}

static GC_Engine engine;
static void by_engine(void) {
    if (engine == GC_ENGINE_NULL) GC_Engine_create(MPI_COMM_WORLD, MPI_INFO_NULL, &engine);
    GC_Handle handle = GC_HANDLE_NULL;
    GC_Submit(engine, "weights", in, out, count, MPI_FLOAT, MPI_SUM, 0, &handle);
    GC_Handle_wait(&handle);
}

static const struct kind {
    const char* name;
    void (*run)(void);
} kinds[] = {{"blocking", blocking},
             {"nonblocking", nonblocking},
             {"persistent", persistent},
             {"engine", by_engine}};

/* After the signal the others have a second in which to answer it, too. */
static void come_late(void) {
    struct timespec left = {late_seconds, 0};
    if (nanosleep(&left, NULL) == 0) return;
    left = (struct timespec){1, 0};
    while (nanosleep(&left, &left) != 0) continue;
}

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct kind* kind = NULL;
    for (size_t i = 0; argc == 2 && i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kinds[i].name, argv[1]) == 0) kind = &kinds[i];
    if (kind == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
    if (getenv("LATE_HANDLER") != NULL) signal(SIGUSR2, handle);
    for (int i = 0; i < count; ++i) in[i] = (float)(rank + 1);
    int right = 1;
    for (int step = 0; step < 2; ++step) {
        if (step > 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            printf("rank %d begins, process %ld\n", rank, (long)getpid());
            fflush(stdout);
            if (rank == ranks - 1) come_late();
        }
        memset(out, 0, sizeof out);
        kind->run();
        for (int i = 0; i < count; ++i) right &= out[i] == (float)(ranks * (ranks + 1) / 2);
    }
    if (request != GC_REQUEST_NULL) GC_Request_free(&request);
    if (engine != GC_ENGINE_NULL) GC_Engine_free(&engine);
    printf("rank %d ends %s, handled %d\n", rank, right ? "right" : "wrong", (int)handled);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
