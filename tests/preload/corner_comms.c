/* tests/preload/corner_comms.c - lives of communicators: freed with operations in flight, by the
 * thousand, used while they or the whole program end; calls switched off and on. Arguments: FOLDER
 * lives | FOLDER pcontrol. */
#include <unistd.h>

#include "elements.h"

static int rank, size;
static bool threads;

enum { count = 20000 };

/* A call that is large enough for everybody, and its digest. */
static uint64_t sum_on(MPI_Comm comm, uint64_t seed) {
    static int in[count], out[count];
    for (int i = 0; i < count; ++i) in[i] = (int)(scramble(seed, rank, (size_t)i) % 100000);
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    return digest(out, sizeof out);
}

static void note_sum(const char* what, MPI_Comm comm, uint64_t seed) {
    witness("%s: %016llx", what, (unsigned long long)sum_on(comm, seed));
}

/* The communicator is gone before its operations are; another one comes in its place. Open MPI 4.1
 * does not survive this itself, so the results are judged here: the elements that are wrong. */
static long freed_in_flight(void) {
    enum { calls = 4, rounds = 20 };
    static double in[calls][count], out[calls][count];
    long wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm comm, next;
        MPI_Request requests[calls];
        MPI_Status statuses[calls];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        /* They attach it, and make that pay: what follows is not for the MPI library. */
        for (int call = 0; call < 20; ++call) sum_on(comm, 100);
        for (int k = 0; k < calls; ++k) {
            const int n = k % 2 ? count : 100;
            for (int i = 0; i < n; ++i) in[k][i] = i % 1000 + round + k + rank;
            MPI_Iallreduce(in[k], out[k], n, MPI_DOUBLE, MPI_SUM, comm, &requests[k]);
        }
        MPI_Comm_free(&comm);
        if (comm != MPI_COMM_NULL) ++wrong;
        MPI_Comm_dup(MPI_COMM_WORLD, &next);
        sum_on(next, 101);
        for (int k = 0; k < calls; ++k) MPI_Wait(&requests[k], &statuses[k]);
        MPI_Comm_free(&next);
        for (int k = 0; k < calls; ++k)
            for (int i = 0; i < (k % 2 ? count : 100); ++i)
                if (out[k][i] != size * (i % 1000 + round + k) + size * (size - 1) / 2) ++wrong;
    }
    witness("freed in flight: %ld wrong", wrong);
    return wrong;
}

static long resident_mib(void) {
    long total = 0, resident = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &total, &resident) != 2) exit(3);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024) / 1024;
}

/* A context that is lost costs some hundred KiB with its buffers; 100 of them would be seen. */
static void thousands(void) {
    enum { warm = 200, all = 1000, allowed_mib = 24 };
    long before = 0;
    uint64_t sums = 0;
    for (int k = 0; k < all; ++k) {
        MPI_Comm comm;
        int one = 1, total = 0;
        if (k % 3 == 0)
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, comm);
        sums = sums * 31 + (uint64_t)total;
        if (k % 8 == 0) sums = sums * 31 + sum_on(comm, (uint64_t)k);
        MPI_Comm_free(&comm);
        if (k == warm) before = resident_mib();
    }
    const long grown = resident_mib() - before;
#ifdef MEMORY_IS_NOT_COUNTED /* sanitizers keep what is freed */
    const bool bounded = grown >= 0 || grown < 0;
#else
    const bool bounded = grown < allowed_mib;
#endif
    witness("thousands: %016llx, memory %s", (unsigned long long)sums,
            bounded ? "bounded" : "grows");
    if (!bounded) fprintf(stderr, "rank %d grew by %ld MiB\n", rank, grown);
}

static void many_at_once(void) {
    enum { many = 150 };
    MPI_Comm comms[many];
    uint64_t sums = 0;
    for (int k = 0; k < many; ++k) {
        MPI_Comm_dup(k % 2 && k > 2 ? comms[k - 1] : MPI_COMM_WORLD, &comms[k]);
        if (k % 2 == 0) sums = sums * 31 + sum_on(comms[k], (uint64_t)k);
    }
    for (int k = 0; k < many; ++k) sums = sums * 31 + sum_on(comms[(k * 7) % many], (uint64_t)k);
    for (int k = 0; k < many; ++k) MPI_Comm_free(&comms[(k * 11) % many]);
    witness("many at once: %016llx", (unsigned long long)sums);
}

static void every_kind(void) {
    MPI_Comm comm, cart;
    MPI_Group world, part;
    MPI_Request request;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
    note_sum("shared memory", comm, 1);
    MPI_Comm_set_name(comm, "named after its first call");
    note_sum("named", comm, 2);
    MPI_Comm_free(&comm);

    const int periods = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 1, &cart);
    note_sum("cartesian", cart, 3);
    const int keep = 1;
    MPI_Cart_sub(cart, &keep, &comm);
    note_sum("its part", comm, 4);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&cart);

    /* Made by its members alone, while the others do something else. */
    const int excluded = size / 2;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, size > 1, &excluded, &part);
    if (size == 1 || rank != excluded) {
        MPI_Comm_create_group(MPI_COMM_WORLD, part, 3, &comm);
        for (int k = 0; k < 20; ++k) note_sum("without one rank", comm, (uint64_t)k);
        MPI_Comm_free(&comm);
    } else {
        for (int k = 0; k < 20; ++k) note_sum("alone", MPI_COMM_SELF, (uint64_t)k);
    }
    MPI_Group_free(&part);
    MPI_Group_free(&world);

    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    note_sum("world meanwhile", MPI_COMM_WORLD, 5);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note_sum("idup", comm, 6);
    MPI_Comm_free(&comm);
}

/* Attributes of the program: their delete callbacks make calls. */
static int call_from_callback(MPI_Comm comm, int key, void* value, void* extra) {
    (void)key;
    (void)extra;
    note_sum((const char*)value, MPI_COMM_WORLD, 7);
    int one = 1, total = 0;
    MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, comm);
    witness("on the one that goes: %d", total);
    note_sum("large on the one that goes", comm, 7);
    return MPI_SUCCESS;
}

static void delete_callbacks(void) {
    int key;
    MPI_Comm comm;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_from_callback, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, key, (char*)"set before the first call");
    note_sum("first call", comm, 8);
    MPI_Comm_free(&comm);

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    note_sum("first call", comm, 9);
    MPI_Comm_set_attr(comm, key, (char*)"set after the first call");
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

static int call_at_the_end(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm;
    (void)key;
    (void)extra;
    note_sum((const char*)value, MPI_COMM_WORLD, 10);
    note_sum((const char*)value, MPI_COMM_SELF, 11);
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    note_sum("on a new one", dup, 12);
    MPI_Comm_free(&dup);
    return MPI_SUCCESS;
}

static void at_the_end(const char* when) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, (char*)when);
    MPI_Comm_free_keyval(&key);
}

static void switched(void) {
    for (int level = 1; level <= 3; ++level) {
        MPI_Pcontrol(level % 3 == 0 ? 0 : 1);
        for (int k = 0; k < 10; ++k)
            note_sum(level == 3 ? "off" : "on", MPI_COMM_WORLD, (uint64_t)k);
    }
    MPI_Pcontrol(2);
    note_sum("off after a report", MPI_COMM_WORLD, 3);
    MPI_Pcontrol(1);
    for (int k = 0; k < 5; ++k) note_sum("on", MPI_COMM_WORLD, (uint64_t)k);
    MPI_Pcontrol(7, "a level of some other tool");
    note_sum("still on", MPI_COMM_WORLD, 4);
}

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    threads = level == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    witness_open(argv[1], rank);
    witness("threads: %d", threads);

    long wrong = 0;
    if (strcmp(argv[2], "in_flight") == 0) {
        wrong = freed_in_flight();
    } else if (strcmp(argv[2], "pcontrol") == 0) {
        switched();
    } else {
        at_the_end("set before all calls");
        every_kind();
        delete_callbacks();
        many_at_once();
        thousands();
        at_the_end("set after all calls");
    }
    MPI_Finalize();
    witness_close();
    return wrong != 0;
}
