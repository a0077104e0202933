/* tests/preload/mixed.c - all collectives in any order, on several communicators, ranks at
 * different paces: every result is compared with what PMPI_ functions give, which no interposer
 * sees. Arguments: FOLDER [single|multiple]; multiple: a second thread does the same. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "witness.h"

enum { CALLS = 500, MOST_BYTES = 5 << 20, COMMS = 3, STARTED = 3 };

/* An allreduce that was started and is completed whenever its rank likes. */
struct started {
    MPI_Request request;
    unsigned char *in, *out, *expected;
    size_t bytes; /* 0: none */
};

struct player {
    MPI_Comm comms[COMMS];
    uint64_t seed;
    uint64_t pace; /* of this rank alone */
    int calls;
    unsigned char *in, *out, *expected;
    unsigned long wrong;
    struct started started[STARTED];
    uint64_t starts;
};

static uint64_t next_of(uint64_t* state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* Now and then this rank falls behind. */
static void dawdle(struct player* p) {
    const uint64_t dice = next_of(&p->pace);
    const struct timespec nap = {0, (long)(dice % 400) * 1000};
    if (dice % 11 == 0) nanosleep(&nap, NULL);
}

/* Small whole numbers, so that sums have one result whatever their order. */
static void fill(struct player* p, MPI_Datatype type, size_t count, int rank) {
    for (size_t i = 0; i < count; ++i) {
        const int value = (int)((p->seed / 7 + (size_t)rank * 131 + i * 3) % 50);
        if (type == MPI_INT) ((int*)p->in)[i] = value;
        if (type == MPI_DOUBLE) ((double*)p->in)[i] = value;
        if (type == MPI_CHAR || type == MPI_UNSIGNED_CHAR) p->in[i] = (unsigned char)value;
    }
}

static void compare(struct player* p, const char* call, size_t count, size_t bytes, int root) {
    if (memcmp(p->out, p->expected, bytes) == 0) return;
    if (++p->wrong < 10) witness("%s of %zu from or to %d is wrong", call, count, root);
}

/* The root's data are every second element of its memory, the others' lie together. */
static void bcast_of_a_vector(struct player* p, MPI_Comm comm, int rank, int root, size_t count) {
    MPI_Datatype spread;
    const int half = (int)(count / 2);
    const bool is_root = rank == root;
    MPI_Type_vector(half, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    memcpy(p->out, p->in, count * sizeof(int));
    memcpy(p->expected, p->in, count * sizeof(int));
    MPI_Bcast(p->out, is_root ? 1 : half, is_root ? spread : MPI_INT, root, comm);
    PMPI_Bcast(p->expected, is_root ? 1 : half, is_root ? spread : MPI_INT, root, comm);
    compare(p, "bcast of a vector", count, count * sizeof(int), root);
    memcpy(p->out, p->in, count * sizeof(int));
    memcpy(p->expected, p->in, count * sizeof(int));
    MPI_Bcast(p->out, is_root ? half : 1, is_root ? MPI_INT : spread, root, comm);
    PMPI_Bcast(p->expected, is_root ? half : 1, is_root ? MPI_INT : spread, root, comm);
    compare(p, "bcast into a vector", count, count * sizeof(int), root);
    MPI_Type_free(&spread);
}

static void bcast(struct player* p, MPI_Comm comm, int root, MPI_Datatype type, size_t count,
                  size_t bytes) {
    memcpy(p->out, p->in, bytes);
    memcpy(p->expected, p->in, bytes);
    MPI_Bcast(p->out, (int)count, type, root, comm);
    PMPI_Bcast(p->expected, (int)count, type, root, comm);
    compare(p, "bcast", count, bytes, root);
}

static void reduce(struct player* p, MPI_Comm comm, int rank, int root, MPI_Datatype type,
                   size_t count, size_t bytes, MPI_Op op) {
    /* MPICH 4.0.2 crashes in place at other roots. */
    const bool in_place = rank == root && root == 0 && p->seed % 3 == 0;
    memcpy(p->out, p->in, bytes);
    memcpy(p->expected, p->in, bytes);
    /* Elsewhere the result's buffer means nothing. */
    MPI_Reduce(in_place ? MPI_IN_PLACE : p->in, rank == root ? p->out : NULL, (int)count, type, op,
               root, comm);
    PMPI_Reduce(in_place ? MPI_IN_PLACE : p->in, rank == root ? p->expected : NULL, (int)count,
                type, op, root, comm);
    compare(p, "reduce", count, bytes, root);
}

static void allreduce(struct player* p, MPI_Comm comm, MPI_Datatype type, size_t count,
                      size_t bytes, MPI_Op op) {
    MPI_Allreduce(p->in, p->out, (int)count, type, op, comm);
    PMPI_Allreduce(p->in, p->expected, (int)count, type, op, comm);
    compare(p, "allreduce", count, bytes, -1);
}

static void reduce_scatter(struct player* p, MPI_Comm comm, int size, MPI_Datatype type,
                           size_t count, MPI_Op op, size_t elem) {
    const int block = (int)(count / (size_t)size);
    int counts[64];
    const bool in_place = p->seed % 3 == 0;
    for (int i = 0; i < size; ++i) counts[i] = block;
    memcpy(p->out, p->in, count * elem);
    memcpy(p->expected, p->in, count * elem);
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : p->in, p->out, block, type, op, comm);
    PMPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : p->in, p->expected, block, type, op, comm);
    compare(p, "reduce_scatter_block", count, (size_t)block * elem, -1);
    MPI_Reduce_scatter(p->in, p->out, counts, type, op, comm);
    PMPI_Reduce_scatter(p->in, p->expected, counts, type, op, comm);
    compare(p, "reduce_scatter", count, (size_t)block * elem, -1);
}

static void allgather(struct player* p, MPI_Comm comm, int rank, int size, MPI_Datatype type,
                      size_t count, size_t elem) {
    const int block = (int)(count / (size_t)size);
    const size_t bytes = (size_t)block * elem;
    const bool in_place = p->seed % 3 == 0;
    const bool by_bytes = rank % 2 == 0; /* one signature in two ways */
    memcpy(p->out + (size_t)rank * bytes, p->in, bytes);
    memcpy(p->expected + (size_t)rank * bytes, p->in, bytes);
    if (by_bytes && !in_place && type == MPI_INT) {
        MPI_Datatype row;
        MPI_Type_contiguous(block, type, &row);
        MPI_Type_commit(&row);
        MPI_Allgather(p->in, 1, row, p->out, block, type, comm);
        MPI_Type_free(&row);
    } else {
        MPI_Allgather(in_place ? MPI_IN_PLACE : p->in, block, type, p->out, block, type, comm);
    }
    PMPI_Allgather(in_place ? MPI_IN_PLACE : p->in, block, type, p->expected, block, type, comm);
    compare(p, "allgather", count, bytes * (size_t)size, -1);
}

static void complete_one(MPI_Request* request, uint64_t how) {
    int index, count = 0, done = 0;
    MPI_Status status;
    if (how % 6 == 0) MPI_Wait(request, MPI_STATUS_IGNORE);
    if (how % 6 == 1) MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
    if (how % 6 == 2) MPI_Waitsome(1, request, &count, &index, &status);
    if (how % 6 == 3)
        while (!done) MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (how % 6 == 4)
        while (!done) MPI_Testany(1, request, &index, &done, MPI_STATUS_IGNORE);
    if (how % 6 == 5)
        while (count == 0) MPI_Testsome(1, request, &count, &index, &status);
}

static void check_started(struct player* p, struct started* s) {
    if (s->bytes == 0) return;
    if (memcmp(s->out, s->expected, s->bytes) != 0 && ++p->wrong < 10)
        witness("iallreduce of %zu bytes is wrong", s->bytes);
    s->bytes = 0;
}

/* Each rank when it likes, and as it likes. */
static void complete_some(struct player* p) {
    const uint64_t dice = next_of(&p->pace);
    struct started* const s = &p->started[dice % STARTED];
    if (dice % 3 == 0) return;
    if (dice % 3 == 1 && s->bytes != 0) {
        complete_one(&s->request, dice / 3);
        check_started(p, s);
        return;
    }
    MPI_Request all[STARTED];
    MPI_Status statuses[STARTED];
    int done = 0;
    for (int i = 0; i < STARTED; ++i) all[i] = p->started[i].request;
    while (!done && dice % 2 == 0) MPI_Testall(STARTED, all, &done, statuses);
    if (!done) MPI_Waitall(STARTED, all, statuses);
    for (int i = 0; i < STARTED; ++i) {
        p->started[i].request = all[i];
        check_started(p, &p->started[i]);
    }
}

static void start(struct player* p, MPI_Comm comm, MPI_Datatype type, size_t count, size_t bytes,
                  MPI_Op op) {
    struct started* const s = &p->started[p->starts++ % STARTED];
    if (s->bytes != 0) complete_one(&s->request, next_of(&p->pace));
    check_started(p, s);
    if (count == 0) return;
    memcpy(s->in, p->in, bytes);
    PMPI_Allreduce(p->in, s->expected, (int)count, type, op, comm);
    MPI_Iallreduce(s->in, s->out, (int)count, type, op, comm, &s->request);
    s->bytes = bytes;
}

/* Who waits for a message must not keep others waiting for its part of an allreduce. */
static void nobody_waits_for_a_receiver(MPI_Comm comm) {
    enum { COUNT = 200000 };
    int rank = 0, size = 0, wrong = 0, token = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int* const values = room(COUNT * sizeof(int));
    int* const sums = room(COUNT * sizeof(int));
    for (int i = 0; i < COUNT; ++i) values[i] = i;
    for (int round = 0; round < 20 && size > 1; ++round) {
        MPI_Request request;
        const int count = round % 2 == 0 ? COUNT : 10;
        MPI_Iallreduce(values, sums, count, MPI_INT, MPI_SUM, comm, &request);
        if (rank == 0) MPI_Recv(&token, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(&token, 1, MPI_INT, 0, 0, comm);
        for (int i = 0; i < count; ++i) wrong += sums[i] != size * i;
    }
    free(values);
    free(sums);
    witness("sums beside a receiver: %d wrong", wrong);
}

/* Long vectors are rare. */
static size_t draw_bytes(uint64_t* seed) {
    static const size_t sizes[] = {0,    1,    4,     8,    60,    1000,  4096,   8170,
                                   8176, 8180, 20000, 8192, 65536, 65544, 100001, 300000};
    const uint64_t dice = next_of(seed) % 100;
    if (dice == 0) return MOST_BYTES - 40;
    return sizes[next_of(seed) % (dice < 60 ? 8 : 16)];
}

static void play(struct player* p) {
    static const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_UNSIGNED_CHAR};
    const size_t sizes[] = {sizeof(int), sizeof(double), 1};
    const uint64_t kind = next_of(&p->seed) % 10;
    const uint64_t t = next_of(&p->seed) % 3;
    const MPI_Op op = ops[next_of(&p->seed) % 3];
    const MPI_Comm comm = p->comms[next_of(&p->seed) % COMMS];
    const size_t count = draw_bytes(&p->seed) / sizes[t];
    const size_t bytes = count * sizes[t];
    const uint64_t root_dice = next_of(&p->seed);
    int rank = 0, size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int root = (int)(root_dice % (uint64_t)size);
    fill(p, types[t], count, rank);
    for (uint64_t again = 0; again < 1 + p->seed % 4; ++again) {
        dawdle(p);
        if (kind == 0 || kind == 1) bcast(p, comm, root, types[t], count, bytes);
        if (kind == 2) reduce(p, comm, rank, root, types[t], count, bytes, op);
        if (kind == 3) allreduce(p, comm, types[t], count, bytes, op);
        if (kind == 4) reduce_scatter(p, comm, size, types[t], count, op, sizes[t]);
        if (kind == 5) allgather(p, comm, rank, size, types[t], count, sizes[t]);
        if (kind == 6) MPI_Barrier(comm);
        if (kind == 7 && t == 0) bcast_of_a_vector(p, comm, rank, root, count);
        if (kind == 7 && t == 1) bcast(p, comm, root, MPI_CHAR, bytes, bytes);
        if (kind >= 8) start(p, comm, types[t], count, bytes, op);
        complete_some(p);
    }
}

/* Whoever leaves a barrier finds what all ranks did before it in memory that they share. */
static void barriers_hold(struct player* p, MPI_Comm comm) {
    int rank = 0, size = 0, unit = 0, early = 0;
    MPI_Win window;
    MPI_Aint bytes = 0;
    atomic_int* all = NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Win_allocate_shared(rank == 0 ? size * (MPI_Aint)sizeof *all : 0, 1, MPI_INFO_NULL, comm,
                            &all, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &all);
    atomic_store(&all[rank], 0);
    PMPI_Barrier(comm);
    for (int round = 1; round <= 200; ++round) {
        dawdle(p);
        atomic_store_explicit(&all[rank], round, memory_order_relaxed);
        MPI_Barrier(comm);
        for (int other = 0; other < size; ++other)
            early += atomic_load_explicit(&all[other], memory_order_relaxed) < round;
    }
    MPI_Win_free(&window);
    witness("barriers left early: %d", early);
}

static void* play_all(void* player) {
    struct player* const p = player;
    for (int call = 0; call < p->calls; ++call) play(p);
    for (int i = 0; i < STARTED; ++i) {
        if (p->started[i].bytes != 0) complete_one(&p->started[i].request, (uint64_t)i);
        check_started(p, &p->started[i]);
    }
    return NULL;
}

/* The last communicator has the ranks in another order. */
static struct player make_player(uint64_t seed, int calls) {
    struct player p = {.seed = seed, .calls = calls};
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &p.comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &p.comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &p.comms[2]);
    p.pace = (uint64_t)rank * 77 + seed;
    p.in = room(MOST_BYTES);
    p.out = room(MOST_BYTES);
    p.expected = room(MOST_BYTES);
    for (int i = 0; i < STARTED; ++i)
        p.started[i] = (struct started){MPI_REQUEST_NULL, room(MOST_BYTES), room(MOST_BYTES),
                                        room(MOST_BYTES), 0};
    return p;
}

static void end_player(struct player* p, const char* name) {
    witness("%s: %lu results are wrong", name, p->wrong);
    for (int i = 0; i < COMMS; ++i) MPI_Comm_free(&p->comms[i]);
    free(p->in);
    free(p->out);
    free(p->expected);
    for (int i = 0; i < STARTED; ++i) {
        free(p->started[i].in);
        free(p->started[i].out);
        free(p->started[i].expected);
    }
}

int main(int argc, char** argv) {
    const bool threads = argc > 2 && strcmp(argv[2], "multiple") == 0;
    int level = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    witness_open(argv[1], rank);
    const bool has_second = threads && level == MPI_THREAD_MULTIPLE;
    const int calls = has_second ? CALLS / 2 : CALLS; /* of one thread */
    struct player first = make_player(1, calls), second = make_player(2, calls);
    pthread_t thread;
    if (has_second) pthread_create(&thread, NULL, play_all, &second);
    play_all(&first);
    if (has_second) pthread_join(thread, NULL);
    barriers_hold(&first, first.comms[0]);
    nobody_waits_for_a_receiver(first.comms[0]);
    end_player(&first, "first");
    end_player(&second, "second");
    witness_close();
    MPI_Finalize();
    return 0;
}
