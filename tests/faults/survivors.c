/* tests/faults/survivors.c - ranks make one kind of call again and again until one of them dies, or
 * for some seconds in which one is stopped for three seconds, or something else happens to them.
 * Each survivor says in a line when its call ended, and how.
 * Arguments: KIND FAULT DELAY_MS COUNT: one of `kinds`; kill, stop, none or late; when; elements.
 * SURVIVORS_SECONDS: for so long a rank is stopped.
 * Run with a launcher that does not end the job when a rank dies. Where the MPI library has ULFM,
 * the survivors then make a communicator without the dead rank, and say in a line what their next
 * sum is. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "at_time.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#ifdef PLAIN
enum { longest_text = MPI_MAX_ERROR_STRING };
#define ERROR_STRING MPI_Error_string
#else
#include <gradcoll/gradcoll.h>
enum { longest_text = GC_MAX_ERROR_STRING };
#define ERROR_STRING GC_Error_string
#endif

static int rank, ranks, count;
static float *in, *out;
static int victim_process;
static int freed; /* whether an engine was, in place of a call */

static void halt(int number) {
    (void)number;
    kill(getpid(), SIGSTOP);
}
static void wake(int number) {
    (void)number;
    kill(victim_process, SIGCONT);
}

static int by_mpi(void) {
    return MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

#ifdef PLAIN
static const struct kind {
    const char* name;
    int (*run)(void);
} kinds[] = {{"blocking", by_mpi}};
#else
static GC_Request request;
static GC_Engine engine;

static int blocking(void) {
    return GC_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* A nonblocking call attaches nothing, so a blocking one goes before the first. */
static int nonblocking(void) {
    static int attached;
    if (!attached++ && blocking() != MPI_SUCCESS) return MPI_ERR_OTHER;
    MPI_Request started = MPI_REQUEST_NULL;
    const int code = GC_Iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &started);
    return code != MPI_SUCCESS ? code : MPI_Wait(&started, MPI_STATUS_IGNORE);
}

static int persistent(void) {
    if (request == GC_REQUEST_NULL) {
        const int code = GC_Allreduce_init(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                                           MPI_INFO_NULL, &request);
        if (code != MPI_SUCCESS) return code;
    }
    const int code = GC_Start(&request);
    return code != MPI_SUCCESS ? code : GC_Wait(&request);
}

static int in_engine(void) {
    GC_Handle handles[2];
    if (engine == GC_ENGINE_NULL) {
        const int code = GC_Engine_create(MPI_COMM_WORLD, MPI_INFO_NULL, &engine);
        if (code != MPI_SUCCESS) return code;
    }
    int code = GC_Submit(engine, "a", in, out, count, MPI_FLOAT, MPI_SUM, 0, &handles[0]);
    if (code != MPI_SUCCESS) return code;
    code = GC_Handle_wait(&handles[0]);
    return code;
}

/* Rank 0 waits for a sum when the rank dies; others have nothing in flight, and free the engine. */
static int idle_engine(void) {
    if (engine == GC_ENGINE_NULL || rank == 0) return in_engine();
    const int code = GC_Engine_free(&engine);
    freed = code == MPI_SUCCESS;
    return code;
}

static const struct kind {
    const char* name;
    int (*run)(void);
} kinds[] = {{"blocking", blocking}, {"nonblocking", nonblocking}, {"persistent", persistent},
             {"engine", in_engine},  {"idle_engine", idle_engine}, {"mpi", by_mpi}};
#endif

static const char* text_of(int code) {
    static char text[longest_text];
    int length = 0;
    ERROR_STRING(code, text, &length);
    return text;
}

static int check(void) {
    for (int i = 0; i < count; ++i)
        if (out[i] != (float)(ranks * (ranks + 1) / 2)) return 0;
    return 1;
}

#ifdef OMPI_HAVE_MPI_EXT_FTMPI
/* Of the shrunk communicator; its errors end this rank. */
static void go_on_without_the_dead(void) {
    MPI_Comm rest = MPI_COMM_NULL;
    const double begin = now();
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPIX_Comm_shrink(MPI_COMM_WORLD, &rest);
    MPI_Comm_set_errhandler(rest, MPI_ERRORS_ARE_FATAL);
    int rest_ranks = 0, is_right = 1;
    float expected = 0;
    MPI_Comm_size(rest, &rest_ranks);
    MPI_Allreduce(in, &expected, 1, MPI_FLOAT, MPI_SUM, rest);
    for (int step = 0; step < 20; ++step) {
        memset(out, 0, (size_t)count * sizeof *out);
        GC_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, rest);
        for (int i = 0; i < count; ++i) is_right &= out[i] == expected;
    }
    MPI_Comm_free(&rest);
    printf("rank %d goes on, %d ranks, %.3f s: %s\n", rank, rest_ranks, now() - begin,
           is_right ? "right" : "wrong");
    fflush(stdout);
}
#endif

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
    const struct kind* kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kinds[i].name, argv[1]) == 0) kind = &kinds[i];
    const char* const fault = argv[2];
    const double delay = atof(argv[3]) * 1e-3;
    count = atoi(argv[4]);
    if (kind == NULL || count <= 0) MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(fault, "fatal") != 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    in = malloc((size_t)count * sizeof *in);
    out = malloc((size_t)count * sizeof *out);
    for (int i = 0; i < count; ++i) in[i] = (float)(rank + 1);
    const int victim = ranks - 1;
    victim_process = getpid();
    MPI_Bcast(&victim_process, 1, MPI_INT, victim, MPI_COMM_WORLD);
    const int begun = kind->run(); /* attaches */
    if (begun != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    double death = now() + delay;
    MPI_Bcast(&death, sizeof death, MPI_BYTE, victim, MPI_COMM_WORLD);
    const int halts = strcmp(fault, "stop") == 0;
    const int stops = halts || strcmp(fault, "none") == 0; /* all ranks come to the end */
    const char* const seconds = getenv("SURVIVORS_SECONDS");
    const double pause_s = seconds != NULL ? atof(seconds) : 3;
    if (rank == victim && (halts || !stops))
        call_after(death - now() > 0 ? death - now() : 0, halts ? halt : die);
    if (rank == 0 && halts) call_after(death + pause_s - now(), wake);
    printf("rank %d begins\n", rank);
    fflush(stdout);
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && !freed && (stops || now() < death + 30)) {
        if (rank == victim && strcmp(kind->name, "idle_engine") == 0) pause();
        code = kind->run();
        if (code == MPI_SUCCESS && !freed && !check()) code = MPI_ERR_UNKNOWN;
        int goes_on = now() < death + pause_s + 1;
        if (stops && code == MPI_SUCCESS) {
            MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
            if (!goes_on) break;
        }
    }
    const double end = now();
    int class_of_error = MPI_SUCCESS;
    MPI_Error_class(code, &class_of_error);
    char text[1100];
    snprintf(text, sizeof text, "%s",
             freed                 ? "freed"
             : code == MPI_SUCCESS ? "right"
                                   : text_of(code));
    double again = 0;
    int class_again = class_of_error;
    if (!stops && code != MPI_SUCCESS) {
        class_again = kind->run();
        MPI_Error_class(class_again, &class_again);
        again = now() - end;
    }
#ifndef PLAIN
    if (!stops && engine != GC_ENGINE_NULL && GC_Engine_free(&engine) != MPI_SUCCESS)
        class_again = MPI_ERR_UNKNOWN;
#endif
    printf("survivor %d: %.3f s, class %d, again %d in %.3f s: %s\n", rank, end - death,
           class_of_error, class_again, again, text);
    fflush(stdout);
    if (stops) {
        MPI_Finalize();
        return 0;
    }
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    go_on_without_the_dead();
#endif
    while (now() < death + 2.5) usleep(10000); /* who ends is dead to the others */
    _exit(0);
}
