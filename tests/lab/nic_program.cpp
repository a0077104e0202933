// nic_program COUNT CALLS - GC_Allreduce of COUNT floats, CALLS times with other values, on
// MPI_COMM_WORLD under the settings of the environment. Every element of every result is compared
// with the sum in double precision. Rank 0 prints one line of JSON: the largest error, and a digest
// of all results' bits, for whoever compares two ways of doing the same.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "gradcoll/gradcoll.h"

namespace {

/// Returns whether such a call is added by agents, as the library explains it.
bool is_added_by_agents(int count) {
    std::size_t length = 0;
    GC_Explain_allreduce(MPI_COMM_WORLD, count, MPI_FLOAT, MPI_SUM, GC_EXPLAIN_TEXT, nullptr,
                         &length);
    std::string text(length, ' ');
    GC_Explain_allreduce(MPI_COMM_WORLD, count, MPI_FLOAT, MPI_SUM, GC_EXPLAIN_TEXT, text.data(),
                         &length);
    return text.find("added by the NIC agents") != std::string::npos;
}

/// Returns a value from -1 to 1, the same wherever it is asked for.
float value_at(std::size_t i, int rank, int call) {
    std::uint64_t x = i * 0x9e3779b97f4a7c15U +
                      static_cast<std::uint64_t>(rank) * 0xbf58476d1ce4e5b9U +
                      static_cast<std::uint64_t>(call) * 0x94d049bb133111ebU;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return static_cast<float>(static_cast<std::int64_t>(x >> 40) - (1 << 23)) / (1 << 23);
}

struct Found {
    std::uint64_t digest = 1469598103934665603U;
    double worst = 0;

    void add(const std::vector<float>& sum, int ranks, int call) {
        for (std::size_t i = 0; i < sum.size(); ++i) {
            double exact = 0;
            for (int rank = 0; rank < ranks; ++rank) exact += value_at(i, rank, call);
            worst = std::max(worst, std::abs(exact - static_cast<double>(sum[i])));
            digest = (digest ^ std::bit_cast<std::uint32_t>(sum[i])) * 1099511628211U;
        }
    }
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3) {
        if (rank == 0) std::fprintf(stderr, "usage: nic_program COUNT CALLS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const std::size_t count = std::strtoull(argv[1], nullptr, 10);
    const int calls = std::atoi(argv[2]);
    Found found;
    std::vector<float> in(count), sum(count);
    for (int call = 0; call < calls; ++call) {
        for (std::size_t i = 0; i < count; ++i) in[i] = value_at(i, rank, call);
        if (GC_Allreduce(in.data(), sum.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                         MPI_COMM_WORLD) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
        found.add(sum, ranks, call);
    }
    std::uint64_t both[2] = {found.digest, ~found.digest}, least[2];
    MPI_Allreduce(both, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    const bool added = is_added_by_agents(static_cast<int>(count));
    GC_Stats stats{};
    GC_Comm_get_stats(MPI_COMM_WORLD, &stats);
    double worst = 0;
    MPI_Allreduce(&found.worst, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf(
            "{\"elements\": %llu, \"worst\": %.9g, \"digest\": \"%016llx\", \"alike\": %s, "
            "\"added\": %s, \"compressed\": %llu, \"bytes_sent\": %llu, "
            "\"bytes_sent_exact\": %llu, \"agents\": \"%s\"}\n",
            static_cast<unsigned long long>(count) * static_cast<unsigned long long>(calls), worst,
            static_cast<unsigned long long>(found.digest), least[0] == ~least[1] ? "true" : "false",
            added ? "true" : "false", stats.calls_compressed, stats.bytes_sent,
            stats.bytes_sent_exact, stats.last_agents);
    std::fflush(stdout);
    MPI_Finalize();
    return least[0] == ~least[1] ? 0 : 1;
}
