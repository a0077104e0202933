/* tests/preload/small_stack.c - a program whose threads have the smallest stack there is: one of
 * them makes the first call, which attaches the communicator, and another the next.
 */
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { longest = 100000 };
static float in[longest], out[longest];
static int ranks, failures;

static void* call(void* nothing) {
    const int code = MPI_Allreduce(in, out, longest, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    failures += code != MPI_SUCCESS || out[0] != (float)ranks;
    return nothing;
}

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    alarm(60);                                       /* a call that hangs is a failure */
    for (int i = 0; i < longest; i += 16) in[i] = 1; /* of which no codec loses anything */
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
    for (int number = 0; number < 2 && level == MPI_THREAD_MULTIPLE; ++number) {
        pthread_t thread;
        pthread_create(&thread, &attributes, call, NULL);
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attributes);
    MPI_Finalize();
    if (failures != 0) printf("%d calls of two failed\n", failures);
    return failures != 0;
}
