/* tests/preload/layouts.c - calls to which ranks bring types of one signature in layouts of their
 * own: with gaps or without, in another order, interlocked, far from the buffer, with addresses of
 * their own. The op is of the program and does not commute. Argument: FOLDER. */
#include <mpi.h>

#include "witness.h"

static int rank, size;

/* x -> a x + b over 32 bits. Of element k of a buffer, a is at first + k * step and b beyond * 4
 * bytes behind it. */
struct layout {
    const char* name;
    ptrdiff_t first, step, beyond; /* in ints */
    int absolute;                  /* the type counts from MPI_BOTTOM */
};
enum { layouts = 8, interlocked_kind = 4, absolute_kind = 6 };
/* On any rank: the type has but one address, or MPI libraries themselves want terabytes or crash.
 * Then there is no call but allreduce, which may be in place. */
static int only_allreduce;

static struct layout layout_of(int kind, int count) {
    switch (kind) {
        case 0:
            return (struct layout){"plain", 0, 2, 1, 0};
        case 1:
            return (struct layout){"apart", 0, 6, 3, 0};
        case 2:
            return (struct layout){"around", 0, 4, 3, 0};
        case 3:
            return (struct layout){"backward", 1, 2, -1, 0};
        case interlocked_kind: /* the memory between them is of count x count elements in MPICH */
            return (struct layout){"interlocked", 0, count <= 1000 ? 1 : 2,
                                   count <= 1000 ? count : 1, 0};
        case 5:
            return (struct layout){"displaced", 5, 3, 1, 0};
        case absolute_kind:
            return (struct layout){"absolute", 0, 5, 2, 1};
        default:
            return (struct layout){"wide", 3, count <= 1000 ? 10000 : 7, 1, 0};
    }
}

static size_t ints_of(const struct layout* l, int count) {
    return (size_t)(l->first + l->step * count + (l->beyond > 0 ? l->beyond : 0) + 1);
}

/* What the op works with is what its datatype says. */
static struct layout current;
static int* place(void* base, const struct layout* l, ptrdiff_t k) {
    return (int*)base + l->first + k * l->step;
}

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int k = 0; k < *count; ++k) {
        uint32_t* f = (uint32_t*)place(in, &current, k);
        uint32_t* g = (uint32_t*)place(inout, &current, k);
        g[current.beyond] = g[0] * f[current.beyond] + g[current.beyond];
        g[0] = g[0] * f[0];
    }
}

static MPI_Datatype type_of(const struct layout* l, const int* buffer) {
    MPI_Datatype pair, type;
    const int lengths[] = {1, 1};
    MPI_Aint from = l->first * (MPI_Aint)sizeof(int);
    if (l->absolute) {
        MPI_Aint address;
        MPI_Get_address(buffer, &address);
        from += address;
    }
    const MPI_Aint places[] = {from, from + l->beyond * (MPI_Aint)sizeof(int)};
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, l->step * (MPI_Aint)sizeof(int), &type);
    MPI_Type_free(&pair);
    MPI_Type_commit(&type);
    return type;
}

static uint32_t input(int of, int k, int part, int round) {
    return (uint32_t)scramble((uint64_t)round, of, (size_t)(2 * k + part)) | (part == 0);
}

/* The maps of ranks first..last, composed. */
static void expected(int first, int last, int k, int round, uint32_t* a, uint32_t* b) {
    *a = input(last, k, 0, round);
    *b = input(last, k, 1, round);
    for (int r = last - 1; r >= first; --r) {
        *b = *a * input(r, k, 1, round) + *b;
        *a = *a * input(r, k, 0, round);
    }
}

enum { untouched = -999 };

struct buffer {
    struct layout layout;
    int count;
    int* data;
    MPI_Datatype type;
    void* base; /* what MPI is given */
};

static struct buffer make(int kind, int count) {
    struct buffer b = {layout_of(kind, count), count, NULL, MPI_DATATYPE_NULL, NULL};
    b.data = room(ints_of(&b.layout, count) * sizeof *b.data);
    b.type = type_of(&b.layout, b.data);
    b.base = b.layout.absolute ? MPI_BOTTOM : b.data;
    return b;
}
static void drop(struct buffer* b) {
    MPI_Type_free(&b->type);
    free(b->data);
}
static void clear(struct buffer* b) {
    for (size_t i = 0; i < ints_of(&b->layout, b->count); ++i) b->data[i] = untouched;
}
static void fill(struct buffer* b, int round) {
    clear(b);
    for (int k = 0; k < b->count; ++k) {
        int* at = place(b->data, &b->layout, k);
        at[0] = (int)input(rank, k, 0, round);
        at[b->layout.beyond] = (int)input(rank, k, 1, round);
    }
}
/* Wrong elements among those from `from` on, and what was written beside them. */
static int wrong_in(struct buffer* b, int first, int last, int from, int count, int round) {
    int wrong = 0;
    for (int k = 0; k < count; ++k) {
        int* at = place(b->data, &b->layout, k);
        uint32_t a, c;
        expected(first, last, from + k, round, &a, &c);
        wrong += (uint32_t)at[0] != a || (uint32_t)at[b->layout.beyond] != c;
        at[0] = at[b->layout.beyond] = untouched;
    }
    for (size_t i = 0; i < ints_of(&b->layout, b->count); ++i) wrong += b->data[i] != untouched;
    return wrong;
}

static int wrongs[8];
enum { allreduce, in_place, nonblocking, reduce, scatter, scan, gather, broadcast };
static const char* const names[] = {"allreduce", "in place", "nonblocking", "reduce",
                                    "scattered", "scan",     "gather",      "broadcast"};

static void reductions(MPI_Comm comm, MPI_Op op, struct buffer* in, struct buffer* out, int round) {
    MPI_Request request;
    const int count = in->count;
    current = in->layout;
    if (in->layout.absolute) current.first += in->data - (int*)MPI_BOTTOM;
    if (!in->layout.absolute) { /* one type has one address */
        fill(in, round);
        clear(out);
        MPI_Allreduce(in->base, out->base, count, in->type, op, comm);
        wrongs[allreduce] += wrong_in(out, 0, size - 1, 0, count, round);
    } else {
        fill(in, round);
        MPI_Allreduce(MPI_IN_PLACE, in->base, count, in->type, op, comm);
        wrongs[allreduce] += wrong_in(in, 0, size - 1, 0, count, round);
    }
    fill(in, round + 1);
    MPI_Allreduce(MPI_IN_PLACE, in->base, count, in->type, op, comm);
    wrongs[in_place] += wrong_in(in, 0, size - 1, 0, count, round + 1);
    if (round % 8 != 0 || only_allreduce) return;
    fill(in, round);
    clear(out);
    MPI_Iallreduce(in->base, out->base, count, in->type, op, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrongs[nonblocking] += wrong_in(out, 0, size - 1, 0, count, round);
    fill(in, round);
    clear(out);
    const int root = round / 8 % size;
    MPI_Reduce(in->base, out->base, count, in->type, op, root, comm);
    if (rank == root) wrongs[reduce] += wrong_in(out, 0, size - 1, 0, count, round);
    fill(in, round);
    clear(out);
    MPI_Scan(in->base, out->base, count, in->type, op, comm);
    wrongs[scan] += wrong_in(out, 0, rank, 0, count, round);
#ifdef OPEN_MPI /* MPICH 4.0.2 damages the heap (docs/gotchas.md) */
    const int block = count / size;
    fill(in, round);
    clear(out);
    MPI_Reduce_scatter_block(in->base, out->base, block, in->type, op, comm);
    wrongs[scatter] += wrong_in(out, 0, size - 1, rank * block, block, round);
#endif
}

/* A rank's block has another type where it is sent than where it arrives. */
static void movements(MPI_Comm comm, struct buffer* in, int round) {
    const int count = in->count;
    struct buffer all = make((rank + round) % 3, count * size);
    fill(in, round);
    clear(&all);
    MPI_Allgather(in->base, count, in->type, all.base, count, all.type, comm);
    int wrong = 0;
    for (int r = 0; r < size; ++r)
        for (int k = 0; k < count; ++k) {
            const int* at = place(all.data, &all.layout, r * count + k);
            wrong += (uint32_t)at[0] != input(r, k, 0, round) ||
                     (uint32_t)at[all.layout.beyond] != input(r, k, 1, round);
        }
    wrongs[gather] += wrong;
    drop(&all);
    const int root = round % size;
    if (rank == root)
        fill(in, round);
    else
        clear(in);
    MPI_Bcast(in->base, count, in->type, root, comm);
    wrongs[broadcast] += wrong_in(in, root, root, 0, count, round);
}

/* MPI's own pair on one rank, a structure without its padding on another. */
static void take_pair(void* in, void* inout, int* count, MPI_Datatype* type) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int k = 0; k < *count; ++k) {
        double f, g;
        int i, j;
        memcpy(&f, (char*)in + k * extent, sizeof f);
        memcpy(&g, (char*)inout + k * extent, sizeof g);
        memcpy(&i, (char*)in + k * extent + sizeof f, sizeof i);
        memcpy(&j, (char*)inout + k * extent + sizeof g, sizeof j);
        f += g;
        i += j;
        memcpy((char*)inout + k * extent, &f, sizeof f);
        memcpy((char*)inout + k * extent + sizeof f, &i, sizeof i);
    }
}
/* MPICH 4.0 by itself ends such a call with "message truncated". */
#ifdef OPEN_MPI
enum { takes_pairs_of_other_layouts = 1 };
#else
enum { takes_pairs_of_other_layouts = 0 };
#endif

static void pairs(MPI_Comm comm, int count) {
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, sizeof(double)};
    const MPI_Datatype members[] = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype packed, mine;
    MPI_Type_create_struct(2, lengths, places, members, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(double) + sizeof(int), &mine);
    MPI_Type_commit(&mine);
    MPI_Datatype used = rank % 2 ? mine : MPI_DOUBLE_INT;
    MPI_Aint lower, extent;
    MPI_Type_get_extent(used, &lower, &extent);
    MPI_Op op;
    MPI_Op_create(take_pair, 1, &op);
    char* data = room((size_t)(count * extent));
    int wrong = 0;
    for (int round = 0; round < 60; ++round) {
        for (int k = 0; k < count; ++k) {
            const double value = rank + k;
            const int index = rank * k;
            memcpy(data + k * extent, &value, sizeof value);
            memcpy(data + k * extent + sizeof value, &index, sizeof index);
        }
        MPI_Allreduce(MPI_IN_PLACE, data, count, used, op, comm);
        for (int k = 0; k < count; ++k) {
            double value;
            int index;
            memcpy(&value, data + k * extent, sizeof value);
            memcpy(&index, data + k * extent + sizeof value, sizeof index);
            wrong +=
                value != size * (size - 1) / 2 + size * k || index != size * (size - 1) / 2 * k;
        }
    }
    witness("pairs n=%d: %d wrong", count, wrong);
    MPI_Op_free(&op);
    MPI_Type_free(&mine);
    MPI_Type_free(&packed);
    free(data);
}

static void on_new_communicator(int count, int shift) {
    const int kind = (rank + shift) % layouts;
    only_allreduce = 0;
    for (int r = 0; r < size; ++r) {
        const int others = (r + shift) % layouts;
        only_allreduce |= others == absolute_kind || others == interlocked_kind;
    }
    MPI_Comm comm;
    MPI_Op op;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op_create(compose, 0, &op);
    struct buffer in = make(kind, count), out = make(kind, count);
    memset(wrongs, 0, sizeof wrongs);
    const int rounds = count > 10000 ? 9 : 60;
    for (int round = 0; round < rounds; ++round) reductions(comm, op, &in, &out, round);
    if (!only_allreduce)
        for (int round = 0; round < 3; ++round) movements(comm, &in, round);
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; ++i)
        witness("%s n=%d, %s: %d wrong", names[i], count, in.layout.name, wrongs[i]);
    drop(&in);
    drop(&out);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    witness_open(argv[1], rank);
    static const int counts[] = {1, 1000, 100000};
    for (int c = 0; c < 3; ++c)
        for (int shift = 0; shift < layouts; shift += c < 2 ? 1 : 3)
            on_new_communicator(counts[c], shift);
    if (takes_pairs_of_other_layouts) {
        pairs(MPI_COMM_WORLD, 10);
        pairs(MPI_COMM_WORLD, 5000);
    }
    witness_close();
    MPI_Finalize();
    return 0;
}
