/* tests/preload/corner_threads.c - MPI_THREAD_MULTIPLE: four threads, each on its own communicator,
 * with blocking and nonblocking calls of all sizes at the same time. Argument: FOLDER. */
#include <pthread.h>

#include "elements.h"

enum { thread_count = 4, rounds = 60 };
static const int counts[] = {1, 500, 9000, 60000};

struct work {
    MPI_Comm comm;
    int rank;
    int size;
    uint64_t sum;
    int wrong;
};

static double value_at(int round, int rank, size_t i) {
    return (double)(((size_t)round * 7 + (size_t)rank * 13 + i) % 1009);
}

static void check(struct work* work, const double* out, int count, int round) {
    for (int i = 0; i < count; i += 1 + count / 500) {
        double expected = 0;
        for (int r = 0; r < work->size; ++r) expected += value_at(round, r, (size_t)i);
        if (out[i] != expected) ++work->wrong;
    }
    work->sum = work->sum * 31 + digest(out, (size_t)count * sizeof *out);
}

static void* run(void* argument) {
    struct work* work = argument;
    enum { most = 60000 };
    double* in = room(most * sizeof *in);
    double* out = room(most * sizeof *out);
    double* later = room(most * sizeof *later);
    for (int round = 0; round < rounds; ++round) {
        const int count = counts[round % 4];
        MPI_Request request = MPI_REQUEST_NULL;
        for (int i = 0; i < count; ++i) in[i] = value_at(round, work->rank, (size_t)i);
        if (round % 2) MPI_Iallreduce(in, later, count, MPI_DOUBLE, MPI_SUM, work->comm, &request);
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, work->comm);
        check(work, out, count, round);
        if (round % 2) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            check(work, later, count, round);
        }
    }
    free(in);
    free(out);
    free(later);
    return NULL;
}

int main(int argc, char** argv) {
    int level = 0, rank = 0, size = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    witness_open(argv[1], rank);
    if (level != MPI_THREAD_MULTIPLE) {
        witness("this MPI has no MPI_THREAD_MULTIPLE");
    } else {
        pthread_t threads[thread_count];
        struct work work[thread_count];
        for (int t = 0; t < thread_count; ++t) {
            MPI_Comm comm;
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            const struct work one = {comm, rank, size, 0, 0};
            work[t] = one;
        }
        for (int t = 0; t < thread_count; ++t) pthread_create(&threads[t], NULL, run, &work[t]);
        for (int t = 0; t < thread_count; ++t) pthread_join(threads[t], NULL);
        for (int t = 0; t < thread_count; ++t) {
            witness("thread %d: %d wrong, %016llx", t, work[t].wrong,
                    (unsigned long long)work[t].sum);
            MPI_Comm_free(&work[t].comm);
        }
    }
    witness_close();
    MPI_Finalize();
    return 0;
}
