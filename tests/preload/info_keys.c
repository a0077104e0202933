/* tests/preload/info_keys.c - which communicators compress if an info object with gc_codec was
 * given to MPI, one for each way to give it, and sum alike anywhere with gc_reproducible. Knows
 * nothing of Gradcoll: sums whole numbers, so that an exact sum is known bit for bit. */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

enum { COUNT = 1 << 16 };
static float in[COUNT], out[COUNT];
static int rank, size, failures;
static MPI_Info info;

static float value_at(int of_rank, int i) {
    const unsigned mixed = ((unsigned)i * 2654435761U) ^ ((unsigned)of_rank * 40503U + 12345U);
    return (float)((int)(mixed % 2001U) - 1000);
}

/* All ranks are on one host, and each of these communicators has the ranks of MPI_COMM_WORLD. */
static void judge(const char* name, MPI_Comm comm, bool compresses) {
    int differ = 0;
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
    for (int i = 0; i < COUNT; ++i) {
        float expected = 0;
        for (int r = 0; r < size; ++r) expected += value_at(r, i);
        differ |= out[i] != expected;
    }
    const bool fine = (differ != 0) == compresses;
    if (!fine) ++failures;
    if (rank == 0 || !fine)
        printf("%-30s %s%s\n", name, differ != 0 ? "compressed" : "exact",
               fine ? "" : "   NOT EXPECTED");
}

static void judge_and_free(const char* name, MPI_Comm comm, bool compresses) {
    judge(name, comm, compresses);
    MPI_Comm_free(&comm);
}

static void blocking_ways(void) {
    const int next = (rank + 1) % size, last = (rank + size - 1) % size, one = 1;
    MPI_Comm set, made;
    MPI_Comm_dup(MPI_COMM_WORLD, &set);
    judge("before MPI_Comm_set_info", set, false);
    MPI_Comm_set_info(set, info);
    judge("MPI_Comm_set_info", set, true);
    MPI_Comm_dup(set, &made);
    judge_and_free("MPI_Comm_dup of that", made, false);
    MPI_Comm_split(set, 0, rank, &made);
    judge_and_free("MPI_Comm_split of that", made, false);
    MPI_Comm_free(&set);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made);
    judge_and_free("MPI_Comm_dup_with_info", made, true);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, info, &made);
    judge_and_free("MPI_Comm_split_type", made, true);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, rank, info, &made);
    if (made != MPI_COMM_NULL) ++failures;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, &one, info, 0, &made);
    judge_and_free("MPI_Dist_graph_create", made, true);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, &one, 1, &next, &one, info, 0, &made);
    judge_and_free("MPI_Dist_graph_create_adjacent", made, true);
}

#ifdef WITH_COMMS_OF_MPI_4
/* The duplicates are made all at once, and their requests end in another order on each rank. */
static void nonblocking_ways(void) {
    enum { COMMS = 3 };
    MPI_Comm made[COMMS], again;
    MPI_Request requests[COMMS];
    MPI_Info copy;
    MPI_Info_dup(info, &copy);
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, copy, &made[0], &requests[0]);
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made[1], &requests[1]);
    MPI_Info_free(&copy);
    MPI_Comm_idup(MPI_COMM_WORLD, &made[2], &requests[2]);
    for (int i = 0; i < COMMS; ++i) MPI_Wait(&requests[(i + rank) % COMMS], MPI_STATUS_IGNORE);
    MPI_Comm_dup(made[0], &again);
    judge_and_free("MPI_Comm_dup of a new idup", again, false);
    judge_and_free("MPI_Comm_idup", made[2], false);
    judge_and_free("MPI_Comm_idup_with_info, null", made[1], false);
    judge("MPI_Comm_idup_with_info", made[0], true);
    judge_and_free("the same again", made[0], true);
}

static void from_group(void) {
    MPI_Group group;
    MPI_Comm made;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create_from_group(group, "gradcoll.info_keys", info, MPI_ERRORS_ARE_FATAL, &made);
    MPI_Group_free(&group);
    judge_and_free("MPI_Comm_create_from_group", made, true);
}
#endif

/* Sums on a common grid are rounded once, and a product of floats cannot be: it is an error. The
 * first call is the shortest reduction to one rank. */
static void judge_anywhere(const char* name, MPI_Comm comm) {
    const double tiny = ldexp(1, -24);
    const float mine = rank == 0 ? 1 : (float)tiny;
    const float right = (float)(1 + (size - 1) * tiny);
    float at_root = 0, everywhere = 0;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Reduce(&mine, &at_root, 1, MPI_FLOAT, MPI_SUM, size - 1, comm);
    MPI_Allreduce(&mine, &everywhere, 1, MPI_FLOAT, MPI_SUM, comm);
    const bool rounded_once = everywhere == right && (rank != size - 1 || at_root == right);
    float product = 0;
    const bool refused =
        MPI_Reduce(&mine, &product, 1, MPI_FLOAT, MPI_PROD, 0, comm) != MPI_SUCCESS &&
        MPI_Allreduce(&mine, &product, 1, MPI_FLOAT, MPI_PROD, comm) != MPI_SUCCESS;
    const bool fine = rounded_once && refused;
    if (!fine) ++failures;
    if (rank == 0 || !fine)
        printf("%-30s %s\n", name, fine ? "the same anywhere" : "in an order   NOT EXPECTED");
}

/* What is far below the largest of its block is rounded away, on one rank as on many. */
static void judge_alone(MPI_Info keys) {
    const float mine[2] = {1, (float)ldexp(1, -60)};
    float sum[2] = {0, 1};
    MPI_Comm alone;
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    MPI_Comm_set_info(alone, keys);
    MPI_Allreduce(mine, sum, 2, MPI_FLOAT, MPI_SUM, alone);
    const bool fine = sum[0] == 1 && sum[1] == 0;
    if (!fine) ++failures;
    if (rank == 0 || !fine)
        printf("%-30s %s\n", "a single rank",
               fine ? "rounds as many do" : "does not   NOT EXPECTED");
    MPI_Comm_free(&alone);
}

static void anywhere(void) {
    MPI_Comm made;
    MPI_Info keys;
    MPI_Info_create(&keys);
    MPI_Info_set(keys, "gc_reproducible", "anywhere");
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_set_info(made, keys);
    judge_anywhere("anywhere by MPI_Comm_set_info", made);
    MPI_Comm_free(&made);
    judge_alone(keys);
#ifdef WITH_COMMS_OF_MPI_4
    MPI_Request request;
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, keys, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    judge_anywhere("MPI_Comm_idup_with_info", made);
    MPI_Comm_free(&made);
#endif
    MPI_Info_free(&keys);
}

int main(int argc, char** argv) {
    int all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; ++i) in[i] = value_at(rank, i);
    MPI_Info_create(&info);
    MPI_Info_set(info, "gc_codec", "2:4");
    MPI_Info_set(info, "of_another_library", "yes");
    judge("MPI_COMM_WORLD", MPI_COMM_WORLD, false);
    blocking_ways();
#ifdef WITH_COMMS_OF_MPI_4
    nonblocking_ways();
    from_group();
#endif
    anywhere();
    judge("MPI_COMM_WORLD, afterwards", MPI_COMM_WORLD, false);
    MPI_Info_free(&info);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
