/* tests/preload/lossy.c - which results are approximate when the environment asks for compression.
 * Knows nothing of Gradcoll: sums whole numbers, so that an exact sum is known bit for bit. usage:
 * lossy [CASE,CASE,...]: these must be approximate, alike on all ranks; all others exact. */
#include <math.h>

#include "elements.h"

static int rank, size, failures;
static const char* approximate = "";

static bool is_expected(const char* name) {
    const size_t length = strlen(name);
    for (const char* at = approximate; (at = strstr(at, name)) != NULL; at += length)
        if ((at == approximate || at[-1] == ',') && (at[length] == ',' || at[length] == 0))
            return true;
    return false;
}

static double value_at(uint64_t seed, int of_rank, size_t i) {
    return (double)(scramble(seed, of_rank, i) % 2001) - 1000;
}

/* `sums`: what came out, of which this rank holds the elements from `first` on. */
static void judge(const char* name, const double* sums, size_t first, size_t count, uint64_t seed,
                  MPI_Comm comm, bool replicated) {
    int ranks = 0, own = 0;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &own);
    double error[2] = {0, 0}, all_errors[2] = {0, 0};
    for (size_t i = 0; i < count; ++i) {
        double expected = 0;
        for (int r = 0; r < ranks; ++r) expected += value_at(seed, r, first + i);
        error[0] += (sums[i] - expected) * (sums[i] - expected);
        error[1] += expected * expected;
    }
    uint64_t of_first = digest(sums, count * sizeof *sums);
    const uint64_t of_this = of_first;
    MPI_Bcast(&of_first, 1, MPI_UINT64_T, 0, comm);
    int differ = replicated && of_first != of_this, any_differ = 0;
    MPI_Reduce(&differ, &any_differ, 1, MPI_INT, MPI_MAX, 0, comm);
    MPI_Reduce(error, all_errors, 2, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (own != 0) return;
    const double relative = all_errors[1] > 0 ? sqrt(all_errors[0] / all_errors[1]) : 0;
    const bool is_approximate = relative > 0;
    const bool fine = is_approximate == is_expected(name) && relative < 1 && !any_differ;
    if (!fine) ++failures;
    if (rank == 0 || !fine)
        printf("%-22s %s, relative error %.3f, replicas %s%s\n", name,
               is_approximate ? "approximate" : "exact", relative, any_differ ? "DIFFER" : "equal",
               fine ? "" : "   NOT EXPECTED");
}

static void sum_of_floats(const char* name, size_t count, uint64_t seed, MPI_Comm comm,
                          bool nonblocking) {
    int own = 0;
    MPI_Comm_rank(comm, &own);
    float* in = room(count * sizeof *in);
    float* out = room(count * sizeof *out);
    double* wide = room(count * sizeof *wide);
    for (size_t i = 0; i < count; ++i) in[i] = (float)value_at(seed, own, i);
    if (nonblocking) {
        MPI_Request request;
        MPI_Iallreduce(in, out, (int)count, MPI_FLOAT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(in, out, (int)count, MPI_FLOAT, MPI_SUM, comm);
    }
    for (size_t i = 0; i < count; ++i) wide[i] = (double)out[i];
    judge(name, wide, 0, count, seed, comm, true);
    free(in);
    free(out);
    free(wide);
}

static void sum_of_doubles(const char* name, size_t count, uint64_t seed) {
    double* in = room(count * sizeof *in);
    for (size_t i = 0; i < count; ++i) in[i] = value_at(seed, rank, i);
    MPI_Allreduce(MPI_IN_PLACE, in, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    judge(name, in, 0, count, seed, MPI_COMM_WORLD, true);
    free(in);
}

static void sum_of_ints(const char* name, size_t count, uint64_t seed) {
    int* in = room(count * sizeof *in);
    double* wide = room(count * sizeof *wide);
    for (size_t i = 0; i < count; ++i) in[i] = (int)value_at(seed, rank, i);
    MPI_Allreduce(MPI_IN_PLACE, in, (int)count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < count; ++i) wide[i] = (double)in[i];
    judge(name, wide, 0, count, seed, MPI_COMM_WORLD, true);
    free(in);
    free(wide);
}

/* A maximum that all ranks can check: each of them negates it and takes the minimum. */
static void maximum_of_floats(const char* name, size_t count, uint64_t seed) {
    float* in = room(count * sizeof *in);
    float* out = room(count * sizeof *out);
    bool exact = true;
    for (size_t i = 0; i < count; ++i) in[i] = (float)value_at(seed, rank, i) / 3;
    MPI_Allreduce(in, out, (int)count, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    for (size_t i = 0; i < count; ++i) {
        float best = -1e30F;
        for (int r = 0; r < size; ++r) {
            const float x = (float)value_at(seed, r, i) / 3;
            best = x > best ? x : best;
        }
        exact = exact && out[i] == best;
    }
    if (rank == 0) printf("%-22s %s\n", name, exact ? "exact" : "approximate   NOT EXPECTED");
    if (!exact) ++failures;
    free(in);
    free(out);
}

static void scattered_sum(const char* name, size_t block, uint64_t seed) {
    const size_t whole = block * (size_t)size;
    double* in = room(whole * sizeof *in);
    double* out = room(block * sizeof *out);
    for (size_t i = 0; i < whole; ++i) in[i] = value_at(seed, rank, i);
    MPI_Reduce_scatter_block(in, out, (int)block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    judge(name, out, (size_t)rank * block, block, seed, MPI_COMM_WORLD, false);
    free(in);
    free(out);
}

/* What every rank gave must come out again, bit for bit, on all ranks. */
static void gathered(const char* name, size_t block) {
    const size_t whole = block * (size_t)size;
    float* in = room(block * sizeof *in);
    float* out = room(whole * sizeof *out);
    bool exact = true;
    for (size_t i = 0; i < block; ++i) in[i] = (float)scrambled_real(77, rank, i);
    MPI_Allgather(in, (int)block, MPI_FLOAT, out, (int)block, MPI_FLOAT, MPI_COMM_WORLD);
    for (size_t i = 0; i < whole; ++i) {
        const float given = (float)scrambled_real(77, (int)(i / block), i % block);
        exact = exact && memcmp(&out[i], &given, sizeof given) == 0;
    }
    const bool fine = exact != is_expected(name);
    if (rank == 0)
        printf("%-22s %s%s\n", name, exact ? "exact" : "approximate",
               fine ? "" : "   NOT EXPECTED");
    if (!fine) ++failures;
    free(in);
    free(out);
}

static void on_named_comm(const char* name) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, name);
    sum_of_floats(name, 100000, 20, comm, false);
    MPI_Comm_free(&comm);
}

static void one_after_another(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < 8; ++call) {
        char name[32];
        snprintf(name, sizeof name, "call_%d", call);
        sum_of_floats("small_between", 100, 30, comm,
                      false); /* is not counted: it cannot be compressed */
        sum_of_floats(name, 50000, 31 + (uint64_t)call, comm, false);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) approximate = argv[1];

    sum_of_floats("small_floats", 1000, 1, MPI_COMM_WORLD, false);
    sum_of_floats("large_floats", 100000, 2, MPI_COMM_WORLD, false);
    sum_of_floats("nonblocking_floats", 100000, 3, MPI_COMM_WORLD, true);
    sum_of_floats("huge_floats", 700000, 4, MPI_COMM_WORLD, false);
    sum_of_doubles("large_doubles", 100000, 5);
    sum_of_ints("large_ints", 100000, 6);
    maximum_of_floats("large_maximum", 100000, 7);
    scattered_sum("scattered_doubles", 120000 / (size_t)size, 8);
    gathered("gathered_floats", 50000);
    on_named_comm("gradients");
    on_named_comm("norms");
    one_after_another();

    int any = 0;
    MPI_Allreduce(&failures, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return any ? 1 : 0;
}
