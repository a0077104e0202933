// lab_program BYTES CALLS CODEC - checks GC_Allreduce of fp32 on MPI_COMM_WORLD, then calls it
// CALLS times. Rank 0 prints one line of JSON. Exit status 1 if a result is wrong.
//
// Exact: sums of small integers must equal MPI_Allreduce's bit for bit. 2:4: so must those of
// vectors that have two values in every four; of dense vectors no more than two of every four are
// left. Results are the same on all ranks. With CALLS 0 only this is done: what it puts on the
// links is what is not the calls'.

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "gradcoll/gradcoll.h"

namespace {

using Vector = std::vector<float>;

/// Returns integers from -8 to 8 but not 0, different on every rank, whose sums fp32 holds exactly.
float value_at(std::size_t i, int rank) {
    const auto mixed =
        static_cast<std::uint32_t>(i * 2654435761U) ^ static_cast<std::uint32_t>(rank * 40503);
    const int value = static_cast<int>((mixed >> 7) % 8) + 1;
    return static_cast<float>((mixed & 64U) != 0 ? value : -value);
}

/// Keeps two values in every four: the same places on all ranks, moving from group to group.
bool is_kept(std::size_t i) {
    const std::size_t first = i / 4 % 4;
    return i % 4 == first || i % 4 == (first + 2) % 4;
}

Vector input(std::size_t count, int rank, bool sparse) {
    Vector values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = sparse && !is_kept(i) ? 0.0F : value_at(i, rank);
    return values;
}

Vector reduced(const Vector& values, decltype(&GC_Allreduce) allreduce) {
    Vector sum(values.size());
    allreduce(values.data(), sum.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM,
              MPI_COMM_WORLD);
    return sum;
}

bool same_on_all_ranks(const Vector& values) {
    std::uint64_t hash = 1469598103934665603U;
    for (const float value : values)
        hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 1099511628211U;
    std::uint64_t all[2] = {hash, ~hash}, lowest[2];
    MPI_Allreduce(all, lowest, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return lowest[0] == ~lowest[1];
}

bool at_most_two_of_four(const Vector& values) {
    for (std::size_t i = 0; i + 4 <= values.size(); i += 4) {
        int left = 0;
        for (std::size_t j = i; j < i + 4; ++j) left += values[j] != 0 ? 1 : 0;
        if (left > 2) return false;
    }
    return true;
}

/// Returns whether the results are right on this rank.
bool is_right(std::size_t count, int rank, bool lossy) {
    const Vector expected = reduced(input(count, rank, lossy), MPI_Allreduce);
    const Vector sum = reduced(input(count, rank, lossy), GC_Allreduce);
    bool right = same_on_all_ranks(sum) && sum == expected;
    if (lossy) {
        const Vector dense = reduced(input(count, rank, false), GC_Allreduce);
        right = same_on_all_ranks(dense) && at_most_two_of_four(dense) && right;
    }
    return right;
}

/// Returns the time of the slowest rank.
double seconds_of(int calls, std::size_t count, int rank) {
    const Vector values = input(count, rank, false);
    Vector sum(count);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; ++i)
        GC_Allreduce(values.data(), sum.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                     MPI_COMM_WORLD);
    const double mine = MPI_Wtime() - start;
    double slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4) {
        if (rank == 0) std::fprintf(stderr, "usage: lab_program BYTES CALLS CODEC\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const std::size_t count = std::strtoull(argv[1], nullptr, 10) / sizeof(float);
    const int calls = std::atoi(argv[2]);
    const std::string codec = argv[3];
    GC_Comm_set_codec(MPI_COMM_WORLD, codec.c_str());

    const int mine = is_right(count, rank, codec != "exact") ? 1 : 0;
    int right = 0;
    MPI_Allreduce(&mine, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    const double seconds = seconds_of(calls, count, rank);
    GC_Stats stats;
    GC_Comm_get_stats(MPI_COMM_WORLD, &stats);
    if (rank == 0)
        std::printf("{\"right\": %s, \"calls\": %d, \"seconds\": %.9g, \"calls_tree\": %llu}\n",
                    right != 0 ? "true" : "false", calls, seconds, stats.calls_tree);
    std::fflush(stdout);
    MPI_Finalize();
    return right != 0 ? 0 : 1;
}
