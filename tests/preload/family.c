/* tests/preload/family.c - the allreduce family from C, blocking, nonblocking, persistent and with
 * large counts, over types, ops, counts and communicators. Arguments: FOLDER [single|multiple]. */
#include "elements.h"

#if defined(OPEN_MPI) && !defined(MPI_Allreduce_init) && MPI_VERSION < 4
#include <mpi-ext.h>
#endif

struct place {
    const char* name;
    MPI_Comm comm;
    int rank;
    int size;
};

static uint64_t seed; /* of the next case */

static struct place place_of(const char* name, MPI_Comm comm) {
    struct place place = {name, comm, 0, 0};
    MPI_Comm_rank(comm, &place.rank);
    MPI_Comm_size(comm, &place.size);
    return place;
}

static void note(const char* call, const struct type_row* type, const char* op, size_t count,
                 const char* how, const struct place* place, uint64_t result) {
    witness("%s %s %s n=%zu %s %s: %016llx", call, type->name, op, count, how, place->name,
            (unsigned long long)result);
}

static void allreduce(const struct place* place, const struct type_row* type,
                      const struct op_row* op, size_t count, bool in_place) {
    unsigned char* in = room(count * type->size);
    unsigned char* out = room(count * type->size);
    fill(in, type, count, op->op, place->rank, ++seed);
    memcpy(out, in, count * type->size);
    const uint64_t before = digest(in, count * type->size);
    const int code = MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, (int)count, type->type,
                                   op->op, place->comm);
    note("allreduce", type, op->name, count, in_place ? "in place" : "", place,
         digest_of(out, count, type->size, type->used));
    if (code != MPI_SUCCESS || digest(in, count * type->size) != before)
        witness("code %d or input changed", code);
    free(in);
    free(out);
}

static void all_types_and_ops(const struct place* place) {
    static const size_t counts[] = {0, 1, 13, 4099};
    for (int t = 0; t < type_count; ++t)
        for (int o = 0; o < op_count; ++o)
            for (int c = 0; c < 4; ++c)
                if (is_defined(ops[o].op, types[t].kind))
                    allreduce(place, &types[t], &ops[o], counts[c], (t + o + c) % 2 == 1);
}

static const struct type_row* type_named(const char* name) {
    for (int t = 0; t < type_count; ++t)
        if (strcmp(types[t].name, name) == 0) return &types[t];
    exit(3);
}

static void large_counts(const struct place* place) {
    static const char* const names[] = {"MPI_INT", "MPI_FLOAT", "MPI_DOUBLE", "MPI_SHORT"};
    static const size_t counts[] = {16383, 65536, 100003, 1000000};
    for (int t = 0; t < 4; ++t)
        for (int o = 0; o < 3; ++o)
            for (int c = 0; c < 4; ++c)
                if (counts[c] < 1000000 || o == 0)
                    allreduce(place, type_named(names[t]), &ops[o], counts[c], (o + c) % 2 == 1);
}

/* Real data: every order of the sum is within the bound (n - 1) eps (|x1| + ... + |xn|), and all
 * ranks hold the same bits. */
static void arbitrary_sums(const struct place* place) {
    static const size_t counts[] = {5, 30000, 200000};
    for (int c = 0; c < 3; ++c) {
        const size_t count = counts[c];
        double* in = room(count * sizeof *in);
        double* out = room(count * sizeof *out);
        ++seed;
        for (size_t i = 0; i < count; ++i) in[i] = scrambled_real(seed, place->rank, i);
        MPI_Allreduce(in, out, (int)count, MPI_DOUBLE, MPI_SUM, place->comm);
        size_t beyond = 0;
        for (size_t i = 0; i < count; ++i) {
            long double sum = 0, magnitudes = 0;
            for (int r = 0; r < place->size; ++r) {
                const long double x = (long double)scrambled_real(seed, r, i);
                sum += x;
                magnitudes += x < 0 ? -x : x;
            }
            const long double error = (long double)out[i] - sum;
            const long double bound = (place->size - 1) * 1.2e-16L * magnitudes;
            if ((error < 0 ? -error : error) > bound) ++beyond;
        }
        uint64_t first = digest(out, count * sizeof *out);
        const uint64_t own = first;
        MPI_Bcast(&first, 1, MPI_UINT64_T, 0, place->comm);
        witness("arbitrary doubles n=%zu %s: %zu beyond the bound, %s", count, place->name, beyond,
                own == first ? "as on rank 0" : "not as on rank 0");
        free(in);
        free(out);
    }
}

/* Several at once, completed out of order and by turns of MPI_Test. */
static void nonblocking(const struct place* place, const struct type_row* type, size_t count) {
    enum { calls = 4 };
    unsigned char* in[calls];
    unsigned char* out[calls];
    MPI_Request requests[calls];
    MPI_Status statuses[calls];
    for (int k = 0; k < calls; ++k) {
        in[k] = room(count * type->size);
        out[k] = room(count * type->size);
        fill(in[k], type, count, ops[k].op, place->rank, ++seed);
        memcpy(out[k], in[k], count * type->size);
        MPI_Iallreduce(k % 2 ? MPI_IN_PLACE : in[k], out[k], (int)count, type->type, ops[k].op,
                       place->comm, &requests[k]);
    }
    int blocking = place->rank, sum = 0;
    MPI_Allreduce(&blocking, &sum, 1, MPI_INT, MPI_SUM, place->comm);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    for (int done = 0; !done;) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    MPI_Waitall(calls, requests, statuses);
    for (int k = 0; k < calls; ++k) {
        note("iallreduce", type, ops[k].name, count, k % 2 ? "in place" : "", place,
             digest_of(out[k], count, type->size, type->used));
        if (requests[k] != MPI_REQUEST_NULL) witness("request is not null");
        free(in[k]);
        free(out[k]);
    }
    witness("allreduce between them: %d", sum);
}

/* Shares of a whole of `size` blocks. In place no share is longer than all before it together,
 * which MPICH 4.0 does not take. */
static void uneven(int* counts, int size, size_t block, bool in_place) {
    const int half = (int)(block / 2);
    for (int r = 0; r < size; ++r) counts[r] = (int)block;
    if (size == 1) return;
    counts[0] = in_place ? 2 * (int)block : 0;
    counts[size - 1] = in_place ? 0 : 2 * (int)block;
    if (size > 2) {
        counts[1] -= half;
        counts[size - 1] += half;
    }
}

static void reduce_scatters(const struct place* place, const struct type_row* type,
                            const struct op_row* op, size_t block, bool in_place) {
    const size_t whole = block * (size_t)place->size;
    int* counts = room((size_t)place->size * sizeof *counts);
    unsigned char* in = room(whole * type->size);
    unsigned char* out = room(whole * type->size);
    fill(in, type, whole, op->op, place->rank, ++seed);
    memcpy(out, in, whole * type->size);
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : in, out, (int)block, type->type, op->op,
                             place->comm);
    note("reduce_scatter_block", type, op->name, block, in_place ? "in place" : "", place,
         digest_of(out, block, type->size, type->used));

    uneven(counts, place->size, block, in_place);
    memcpy(out, in, whole * type->size);
    MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : in, out, counts, type->type, op->op, place->comm);
    note("reduce_scatter", type, op->name, (size_t)counts[place->rank], in_place ? "in place" : "",
         place, digest_of(out, (size_t)counts[place->rank], type->size, type->used));
    free(counts);
    free(in);
    free(out);
}

static void allgather(const struct place* place, const struct type_row* type, size_t block,
                      bool in_place) {
    const size_t whole = block * (size_t)place->size;
    const size_t bytes = block * type->size;
    unsigned char* in = room(bytes);
    unsigned char* out = room(whole * type->size);
    MPI_Op any = type->kind == LOGICAL ? MPI_LOR : MPI_SUM;
    fill(in, type, block, any, place->rank, ++seed);
    memset(out, 0, whole * type->size);
    if (in_place) memcpy(out + (size_t)place->rank * bytes, in, bytes);
    MPI_Allgather(in_place ? MPI_IN_PLACE : in, (int)block, type->type, out, (int)block, type->type,
                  place->comm);
    note("allgather", type, "", block, in_place ? "in place" : "", place,
         digest_of(out, whole, type->size, type->used));

#ifndef I_MPI_VERSION /* Intel MPI 2021.19 gathers wrong data from 3 ranks on, or crashes */
    /* One side a block type, the other its elements. */
    MPI_Datatype whole_block;
    MPI_Type_contiguous((int)block, type->type, &whole_block);
    MPI_Type_commit(&whole_block);
    memset(out, 0, whole * type->size);
    MPI_Allgather(in, 1, whole_block, out, (int)block, type->type, place->comm);
    note("allgather of a block type", type, "", block, "", place,
         digest_of(out, whole, type->size, type->used));
    MPI_Type_free(&whole_block);
#endif
    free(in);
    free(out);
}

static void scatters_and_gathers(const struct place* place) {
    static const size_t blocks[] = {0, 1, 999, 30011};
    for (int t = 0; t < type_count; t += 2)
        for (int b = 0; b < 4; ++b) {
            for (int o = 0; o < op_count; o += 2)
                if (is_defined(ops[o].op, types[t].kind) && (blocks[b] < 30000 || o == 0))
                    reduce_scatters(place, &types[t], &ops[o], blocks[b],
                                    (t / 2 + o / 2 + b) % 2 == 1);
            allgather(place, &types[t], blocks[b], (t / 2 + b) % 2 == 1);
        }
    allgather(place, type_named("MPI_DOUBLE"), 100000, false);
    reduce_scatters(place, type_named("MPI_DOUBLE"), &ops[0], 100000, false);
}

#if MPI_VERSION >= 4
#define ALLREDUCE_INIT MPI_Allreduce_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define ALLREDUCE_INIT MPIX_Allreduce_init
#endif

static void persistent(const struct place* place, const struct type_row* type, size_t count) {
#ifdef ALLREDUCE_INIT
    unsigned char* in[2];
    unsigned char* out[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int k = 0; k < 2; ++k) {
        in[k] = room(count * type->size);
        out[k] = room(count * type->size);
        ALLREDUCE_INIT(k ? MPI_IN_PLACE : in[k], out[k], (int)count, type->type, MPI_SUM,
                       place->comm, MPI_INFO_NULL, &requests[k]);
    }
    for (int step = 0; step < 4; ++step) {
        for (int k = 0; k < 2; ++k) {
            fill(in[k], type, count, MPI_SUM, place->rank, ++seed);
            memcpy(out[k], in[k], count * type->size);
        }
        if (step % 2 == 0) {
            MPI_Startall(2, requests);
            MPI_Waitall(2, requests, statuses);
        } else {
            for (int k = 0; k < 2; ++k) {
                MPI_Start(&requests[k]);
                MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
            }
        }
        for (int k = 0; k < 2; ++k)
            note("persistent", type, "sum", count, k ? "in place" : "", place,
                 digest_of(out[k], count, type->size, type->used));
    }
    for (int k = 0; k < 2; ++k) {
        MPI_Request_free(&requests[k]);
        if (requests[k] != MPI_REQUEST_NULL) witness("request is not null");
        free(in[k]);
        free(out[k]);
    }
#else
    witness("no persistent collectives in this MPI");
    (void)place;
    (void)type;
    (void)count;
#endif
}

/* The calls whose counts are MPI_Count. */
static void large_count_forms(const struct place* place, const struct type_row* type,
                              size_t block) {
#if MPI_VERSION >= 4
    const size_t whole = block * (size_t)place->size;
    unsigned char* in = room(whole * type->size);
    unsigned char* out = room(whole * type->size);
    const MPI_Count n = (MPI_Count)block;
    MPI_Request request;
    fill(in, type, whole, MPI_SUM, place->rank, ++seed);

    MPI_Allreduce_c(in, out, n, type->type, MPI_SUM, place->comm);
    note("allreduce_c", type, "sum", block, "", place,
         digest_of(out, block, type->size, type->used));
    MPI_Iallreduce_c(in, out, n, type->type, MPI_MAX, place->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note("iallreduce_c", type, "max", block, "", place,
         digest_of(out, block, type->size, type->used));
    MPI_Reduce_scatter_block_c(in, out, n, type->type, MPI_SUM, place->comm);
    note("reduce_scatter_block_c", type, "sum", block, "", place,
         digest_of(out, block, type->size, type->used));
    MPI_Count* counts = room((size_t)place->size * sizeof *counts);
    for (int r = 0; r < place->size; ++r) counts[r] = n;
    MPI_Reduce_scatter_c(in, out, counts, type->type, MPI_MIN, place->comm);
    note("reduce_scatter_c", type, "min", block, "", place,
         digest_of(out, block, type->size, type->used));
    MPI_Allgather_c(in, n, type->type, out, n, type->type, place->comm);
    note("allgather_c", type, "", block, "", place, digest_of(out, whole, type->size, type->used));
    MPI_Allreduce_init_c(in, out, n, type->type, MPI_MIN, place->comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note("allreduce_init_c", type, "min", block, "", place,
         digest_of(out, block, type->size, type->used));
    MPI_Request_free(&request);
    free(counts);
    free(in);
    free(out);
#else
    witness("no large counts in this MPI");
    (void)place;
    (void)type;
    (void)block;
#endif
}

static void other_communicators(const struct place* world) {
    MPI_Comm dup, parity, rest;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, world->rank % 2, -world->rank, &parity);
    MPI_Comm_split(MPI_COMM_WORLD, world->rank == 0 ? MPI_UNDEFINED : 0, world->rank, &rest);
    const struct place places[] = {place_of("dup", dup), place_of("parity", parity),
                                   place_of("self", MPI_COMM_SELF)};
    for (int p = 0; p < 3; ++p) {
        for (int o = 0; o < 4; ++o) {
            allreduce(&places[p], type_named("MPI_FLOAT"), &ops[o], 5000, o % 2 == 1);
            allreduce(&places[p], type_named("MPI_LONG"), &ops[o], 70000, o % 2 == 0);
        }
        nonblocking(&places[p], type_named("MPI_DOUBLE"), 50000);
        reduce_scatters(&places[p], type_named("MPI_INT"), &ops[0], 20000, false);
        allgather(&places[p], type_named("MPI_INT"), 20000, true);
    }
    if (rest != MPI_COMM_NULL) {
        const struct place strict = place_of("all but rank 0", rest);
        large_counts(&strict);
        MPI_Comm_free(&rest);
    }
    MPI_Comm_free(&parity);
    MPI_Comm_free(&dup);
}

int main(int argc, char** argv) {
    const bool threads = argc > 2 && strcmp(argv[2], "multiple") == 0;
    int level = 0;
    if (threads)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    const struct place world = place_of("world", MPI_COMM_WORLD);
    if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    witness_open(argv[1], world.rank);
    witness("threads: %d", threads && level == MPI_THREAD_MULTIPLE);
    make_tables();

    all_types_and_ops(&world);
    large_counts(&world);
    arbitrary_sums(&world);
    for (size_t count = 0; count < 300000; count = count * 20 + 10) {
        nonblocking(&world, type_named("MPI_INT"), count);
        nonblocking(&world, type_named("MPI_FLOAT"), count);
    }
    scatters_and_gathers(&world);
    persistent(&world, type_named("MPI_DOUBLE"), 100);
    persistent(&world, type_named("MPI_DOUBLE"), 100000);
    persistent(&world, type_named("MPI_INT"), 40000);
    large_count_forms(&world, type_named("MPI_DOUBLE"), 77);
    large_count_forms(&world, type_named("MPI_LONG"), 70000);
    other_communicators(&world);

    witness_close();
    MPI_Finalize();
    return 0;
}
