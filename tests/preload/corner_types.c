/* tests/preload/corner_types.c - what the standard allows and few programs do: empty calls, derived
 * and pair types, ops of the user, Fortran's types from C, intercommunicators, memory that must not
 * be written. Argument: FOLDER. */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "elements.h"

static int rank, size;

static void note_code(const char* what, int code) {
    witness("%s: code %d", what, code);
}

static void empty_calls(void) {
    int* counts = room((size_t)size * sizeof *counts);
    MPI_Request request;
    memset(counts, 0, (size_t)size * sizeof *counts);
    note_code("null buffers", MPI_Allreduce(NULL, NULL, 0, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    note_code("in place", MPI_Allreduce(MPI_IN_PLACE, NULL, 0, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    note_code("of pairs", MPI_Allreduce(NULL, NULL, 0, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD));
    note_code("nonblocking",
              MPI_Iallreduce(NULL, NULL, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    note_code("its wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    note_code("block", MPI_Reduce_scatter_block(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    note_code("scatter", MPI_Reduce_scatter(NULL, NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    note_code("gather", MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    free(counts);
}

/* x -> a x + b over 32 bits, as 2 ints; their composition does not commute. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *count; ++i) {
        const uint32_t* first = (const uint32_t*)((char*)in + i * extent);
        uint32_t* second = (uint32_t*)((char*)inout + i * extent);
        second[1] = second[0] * first[1] + second[1];
        second[0] = second[0] * first[0];
    }
}

static void keep_last(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i)
        if (((int*)inout)[i] == 0) ((int*)inout)[i] = ((const int*)in)[i];
}

static void plus(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((const int*)in)[i];
}

/* Two ints, of which every third element has a gap behind it: what the op touches is digested. */
static void composed(const char* what, MPI_Datatype type, size_t ints_apart, size_t count) {
    MPI_Op op;
    uint32_t* in = room(count * ints_apart * sizeof *in);
    uint32_t* out = room(count * ints_apart * sizeof *out);
    for (size_t i = 0; i < count * ints_apart; ++i) {
        in[i] = (uint32_t)scramble(11, rank, i) | 1;
        out[i] = 0;
    }
    MPI_Op_create(compose, 0, &op);
    MPI_Allreduce(in, out, (int)count, type, op, MPI_COMM_WORLD);
    witness("%s: %016llx", what,
            (unsigned long long)digest_of(out, count, ints_apart * sizeof *out, 8));
    MPI_Op_free(&op);
    free(in);
    free(out);
}

static void derived_types(void) {
    MPI_Datatype pair, apart, structure, vector;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &apart);
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, sizeof(int)};
    const MPI_Datatype members[] = {MPI_INT, MPI_INT};
    MPI_Type_create_struct(2, lengths, places, members, &structure);
    MPI_Type_vector(2, 1, 1, MPI_INT, &vector);
    MPI_Datatype* all[] = {&pair, &apart, &structure, &vector};
    const char* const names[] = {"contiguous", "resized", "struct", "vector"};
    for (int t = 0; t < 4; ++t) {
        MPI_Type_commit(all[t]);
        composed(names[t], *all[t], t == 1 ? 4 : 2, 3);
        composed(names[t], *all[t], t == 1 ? 4 : 2, 40000);
    }
    for (int t = 3; t >= 0; --t) MPI_Type_free(all[t]);
}

static void user_ops(size_t count) {
    MPI_Op ordered, commuting;
    MPI_Request request;
    int* in = room(count * sizeof *in);
    int* out = room(count * sizeof *out);
    for (size_t i = 0; i < count; ++i) in[i] = scramble(12, rank, i) % 2 ? rank + 1 : 0;
    MPI_Op_create(keep_last, 0, &ordered);
    MPI_Op_create(plus, 1, &commuting);
    MPI_Allreduce(in, out, (int)count, MPI_INT, ordered, MPI_COMM_WORLD);
    witness("op that does not commute: %016llx",
            (unsigned long long)digest(out, count * sizeof *out));
    MPI_Allreduce(in, out, (int)count, MPI_INT, commuting, MPI_COMM_WORLD);
    witness("op that commutes: %016llx", (unsigned long long)digest(out, count * sizeof *out));
    MPI_Iallreduce(in, out, (int)count, MPI_INT, ordered, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    witness("nonblocking: %016llx", (unsigned long long)digest(out, count * sizeof *out));
    MPI_Op_free(&ordered);
    MPI_Op_free(&commuting);
    free(in);
    free(out);
}

/* Values with many ties, so that the index matters. Digests values and indices without the gaps. */
#define PAIRS(mpi, c)                                                                              \
    do {                                                                                           \
        struct pair {                                                                              \
            c value;                                                                               \
            int index;                                                                             \
        };                                                                                         \
        struct pair* in = room(count * sizeof *in);                                                \
        struct pair* out = room(count * sizeof *out);                                              \
        for (size_t i = 0; i < count; ++i) {                                                       \
            in[i].value = (c)(int)(scramble(13, rank, i) % 3);                                     \
            in[i].index = size - rank;                                                             \
        }                                                                                          \
        for (int k = 0; k < 2; ++k) {                                                              \
            uint64_t sum = 0;                                                                      \
            MPI_Allreduce(in, out, (int)count, mpi, k ? MPI_MINLOC : MPI_MAXLOC, comm);            \
            for (size_t i = 0; i < count; ++i)                                                     \
                sum = sum * 31 + (uint64_t)(int)out[i].value * 7 + (uint64_t)out[i].index;         \
            witness(#mpi " %s n=%zu: %016llx", k ? "min" : "max", count, (unsigned long long)sum); \
        }                                                                                          \
        free(in);                                                                                  \
        free(out);                                                                                 \
    } while (0)

static void pair_types(size_t count) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    PAIRS(MPI_FLOAT_INT, float);
    PAIRS(MPI_DOUBLE_INT, double);
    PAIRS(MPI_LONG_INT, long);
    PAIRS(MPI_2INT, int);
    PAIRS(MPI_SHORT_INT, short);
    PAIRS(MPI_LONG_DOUBLE_INT, long double);
}

/* Fortran's types have C handles, too; those by precision stay null where there is no Fortran. */
static void fortran_types(size_t count) {
    MPI_Datatype digits_6 = MPI_DATATYPE_NULL, digits_9 = MPI_DATATYPE_NULL;
    MPI_Datatype pair_of_15 = MPI_DATATYPE_NULL;
    MPI_Type_create_f90_real(6, 30, &digits_6);
    MPI_Type_create_f90_complex(15, 300, &pair_of_15);
    MPI_Type_create_f90_integer(9, &digits_9);
    const struct type_row rows[] = {{"MPI_INTEGER", MPI_INTEGER, 4, 4, SIGNED},
                                    {"MPI_INTEGER8", MPI_INTEGER8, 8, 8, SIGNED},
                                    {"MPI_REAL", MPI_REAL, 4, 4, FLOATING},
                                    {"MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, 8, 8, FLOATING},
                                    {"MPI_LOGICAL", MPI_LOGICAL, 4, 4, LOGICAL},
                                    {"MPI_COMPLEX", MPI_COMPLEX, 8, 8, COMPLEX},
                                    {"MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, 16, 16, COMPLEX},
                                    {"real of 6 digits", digits_6, 4, 4, FLOATING},
                                    {"complex of 15 digits", pair_of_15, 16, 16, COMPLEX},
                                    {"integer of 9 digits", digits_9, 4, 4, SIGNED}};
    for (size_t t = 0; t < sizeof rows / sizeof *rows; ++t) {
        if (rows[t].type == MPI_DATATYPE_NULL) continue;
        unsigned char* in = room(count * rows[t].size);
        unsigned char* out = room(count * rows[t].size);
        const MPI_Op op = rows[t].kind == LOGICAL ? MPI_LAND : MPI_SUM;
        fill(in, &rows[t], count, op, rank, 14 + t);
        MPI_Allreduce(in, out, (int)count, rows[t].type, op, MPI_COMM_WORLD);
        witness("%s: %016llx", rows[t].name, (unsigned long long)digest(out, count * rows[t].size));
        free(in);
        free(out);
    }
}

static void intercommunicators(void) {
    if (size < 2) {
        witness("one rank: no intercommunicator");
        return;
    }
    const size_t count = 40000; /* a multiple of all group sizes */
    const int mine = rank % 2;
    const int members = mine ? size / 2 : (size + 1) / 2;
    const int others = size - members;
    MPI_Comm group, inter;
    MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - mine, 7, &inter);
    int* in = room(count * (size_t)size * sizeof *in);
    int* out = room(count * (size_t)size * sizeof *out);
    for (size_t i = 0; i < count * (size_t)size; ++i) in[i] = (int)(scramble(30, rank, i) % 10000);
    MPI_Allreduce(in, out, (int)count, MPI_INT, MPI_SUM, inter);
    witness("allreduce across: %016llx", (unsigned long long)digest(out, count * sizeof *out));
    MPI_Allgather(in, 1000, MPI_INT, out, 1000, MPI_INT, inter);
    witness("allgather across: %016llx",
            (unsigned long long)digest(out, 1000U * (size_t)others * sizeof *out));
    MPI_Reduce_scatter_block(in, out, 1200 / members, MPI_INT, MPI_SUM, inter);
    witness("reduce_scatter_block across: %016llx",
            (unsigned long long)digest(out, 1200U / (unsigned)members * sizeof *out));
    MPI_Comm merged;
    MPI_Intercomm_merge(inter, mine, &merged);
    MPI_Allreduce(in, out, (int)count, MPI_INT, MPI_SUM, merged);
    witness("merged: %016llx", (unsigned long long)digest(out, count * sizeof *out));
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&group);
    free(in);
    free(out);
}

/* The input stays as it was: a write to it would end the program. */
static void read_only_input(size_t count) {
    const size_t bytes = count * sizeof(double);
    double* in = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double* out = room(bytes);
    if (in == MAP_FAILED) exit(3);
    for (size_t i = 0; i < count; ++i) in[i] = (double)(scramble(40, rank, i) % 1000);
    mprotect(in, bytes, PROT_READ);
    MPI_Allreduce(in, out, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    witness("read-only input: %016llx", (unsigned long long)digest(out, bytes));
    const int block = (int)count / size;
    MPI_Reduce_scatter_block(in, out, block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    witness("its blocks: %016llx", (unsigned long long)digest(out, (size_t)block * sizeof *out));
    munmap(in, bytes);
    free(out);
}

/* Nothing behind or before the result is written. */
static void bounds_of_the_result(void) {
    enum { margin = 64 };
    static const size_t counts[] = {1, 3, 1001, 65537};
    for (int c = 0; c < 4; ++c) {
        const size_t count = counts[c];
        float* in = room(count * sizeof *in);
        float* out = room((count + 2 * margin) * sizeof *out);
        for (size_t i = 0; i < count; ++i) in[i] = (float)(scramble(50, rank, i) % 1000);
        for (size_t i = 0; i < count + 2 * margin; ++i) out[i] = -1;
        MPI_Allreduce(in, out + margin, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        witness("with margins: %016llx",
                (unsigned long long)digest(out, (count + 2 * margin) * sizeof *out));
        free(in);
        free(out);
    }
}

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    witness_open(argv[1], rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    empty_calls();
    read_only_input(30000); /* attaches: what follows would find the tree */
    empty_calls();
    derived_types();
    user_ops(10);
    user_ops(50000);
    pair_types(5);
    pair_types(20000);
    fortran_types(7);
    fortran_types(50000);
    intercommunicators();
    bounds_of_the_result();

    witness_close();
    MPI_Finalize();
    return 0;
}
