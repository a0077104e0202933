// tests/transport/dealt_hosts.hpp - the ranks of a job on one machine, dealt to hosts that have a
// NIC agent each.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "nic/control.hpp"
#include "nic/transport/nic_meeting.hpp"
#include "transport/mpi/mpi_channel.hpp"
#include "transport/routed/routed_channel.hpp"

namespace gradcoll {

inline int rank_of_world() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

inline int size_of_world() {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/// Returns where the agents of this job's dealt hosts are: one folder for all, which rank 0 makes.
inline const std::string& folder_of_job() {
    static const std::string folder = [] {
        std::array<char, 64> name{"/tmp/gc_nic_test_XXXXXX"};
        if (rank_of_world() == 0 && mkdtemp(name.data()) == nullptr) std::abort();
        MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
        return std::string(name.data());
    }();
    return folder;
}

/// DealtHosts deals ranks to host `rank * hosts / ranks`, each with an agent of its own.
struct DealtHosts {
    explicit DealtHosts(int host_count) : hosts(std::min(host_count, size_of_world())) {
        for (int rank = 0; rank < size_of_world(); ++rank)
            placement.host_of_rank.push_back(
                static_cast<std::uint32_t>(rank * hosts / size_of_world()));
        placement.directory = directory_of(host());
        placement.starts_agent = true;
    }
    int host() const {
        return static_cast<int>(placement.host_of_rank[static_cast<std::size_t>(rank_of_world())]);
    }
    static std::string directory_of(int host) {
        return folder_of_job() + "/host" + std::to_string(host);
    }
    bool is_first() const {
        return placement.is_first_of_host(static_cast<std::uint32_t>(rank_of_world()));
    }

    int hosts;
    NicPlacement placement;
};

inline nlohmann::json status_of(int host) {
    const auto text = status_of_nic_agent(DealtHosts::directory_of(host));
    if (!text.ok()) return {};
    return nlohmann::json::parse(*text);
}

/// The first rank of the host acts on the agent; others do nothing.
class Victim {
  public:
    Victim(const DealtHosts& dealt, int host) {
        if (dealt.host() != host || !dealt.is_first()) return;
        const auto status = status_of(host);
        if (!status.empty()) process_ = status["process"].get<pid_t>();
    }
    bool is_here() const { return process_ > 0; }
    void signal(int number) const {
        if (process_ > 0) kill(process_, number);
    }

  private:
    pid_t process_ = 0;
};

/// The last test's agents end with the job.
class AgentsEnd final : public testing::Environment {
  public:
    void TearDown() override {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_of_world() != 0) return;
        for (int host = 0; host < 3; ++host)
            if (const auto status = status_of(host); !status.empty())
                kill(status["process"].get<pid_t>(), SIGTERM);
        std::filesystem::remove_all(folder_of_job());
    }
};
inline const auto* const agents_end = testing::AddGlobalTestEnvironment(new AgentsEnd);

/// Returns a channel of messages between dealt hosts by agents, the rest by MPI.
inline Result<std::unique_ptr<Channel>> channel_between(MPI_Comm comm, const DealtHosts& dealt,
                                                        std::size_t short_bytes = 0) {
    std::vector<PartialChannel> ways;
    if (dealt.hosts > 1) {
        PartialChannel nic{
            "nic", GRADCOLL_VALUE(make_nic_channel(comm, dealt.placement)), {}, short_bytes};
        for (int peer = 0; peer < size_of_world(); ++peer)
            nic.places.push_back(dealt.placement.are_together(rank_of_world(), peer) ? -1 : peer);
        ways.push_back(std::move(nic));
    }
    PartialChannel mpi{"mpi", GRADCOLL_VALUE(MpiChannel::make(comm)), {}};
    mpi.places.resize(static_cast<std::size_t>(size_of_world()));
    std::iota(mpi.places.begin(), mpi.places.end(), 0);
    ways.push_back(std::move(mpi));
    return std::unique_ptr<Channel>(
        std::make_unique<RoutedChannel>(comm, std::move(ways), 100'000));
}

}  // namespace gradcoll
