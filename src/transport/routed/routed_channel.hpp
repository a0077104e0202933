// transport/routed/routed_channel.hpp - all ranks of a communicator, each by the first of several
// ways that reaches it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

/// A PartialChannel is a channel to some ranks of a communicator, with numbers of its own for them.
struct PartialChannel {
    std::string_view name;  ///< name of its transport
    std::unique_ptr<Channel> channel;
    std::vector<int>
        places;  ///< one per rank of the communicator: its number in the channel; -1: not reached
    std::size_t short_bytes =
        0;  ///< size of messages below which another way is better (Transport)
};

/// PeerRoute is a way, by its place among several, and the number that the peer has there.
struct PeerRoute {
    int way = -1;  ///< -1: none reaches it
    int place = -1;
};
/// Returns, by rank, the first way that reaches it.
std::vector<PeerRoute> routes_by(const std::vector<PartialChannel>& ways, int rank_count);
/// Returns, by rank, the first way that also takes short messages; where there is none, the first.
std::vector<PeerRoute> short_routes_by(const std::vector<PartialChannel>& ways, int rank_count);

/// A RoutedChannel is the one place that knows who is reached how. A lane holds a lane of each way
/// that some rank is reached by; a poll serves all of them, the first of them in turns, and lets
/// the MPI library go on also while no message of ours does. Messages to ranks that no way reaches
/// are refused.
class RoutedChannel final : public Channel {
  public:
    /// Takes for each rank the first of `ways` that reaches it. `tag_limit` is the same on all
    /// ranks, and no way's is lower. `comm` has the ranks, and must outlive the channel. Local.
    RoutedChannel(MPI_Comm comm, std::vector<PartialChannel> ways, int tag_limit);
    /// Logs what each way has carried.
    ~RoutedChannel() override;

    int rank() const override { return rank_; }
    int rank_count() const override { return static_cast<int>(routes_.size()); }
    int tag_limit() const override { return tag_limit_; }
    Capabilities capabilities(int peer) const override;
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override;
    std::size_t short_bytes() const override { return short_bytes_; }
    void tell_unused(const std::string& why) const override;
    std::unique_ptr<Lane> open_short_lane(std::size_t capacity) override;
    VectorSums* vector_sums() override;

    /// Returns how `peer`, which must be in range, is reached.
    const PeerRoute& route_to(int peer) const { return routes_[static_cast<std::size_t>(peer)]; }
    const std::vector<PartialChannel>& ways() const { return ways_; }
    MPI_Comm comm() const { return comm_; }

    struct Traffic {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
    };
    /// Adds what a lane has sent by a way. Thread safe.
    void add_traffic(std::size_t way, const Traffic& sent);

  private:
    struct Sums {
        std::atomic<std::uint64_t> messages{0};
        std::atomic<std::uint64_t> bytes{0};
    };

    void tell_of_unused_ways();

    MPI_Comm comm_;
    std::vector<PartialChannel> ways_;
    std::vector<PeerRoute> routes_;  ///< one per rank of the communicator
    std::vector<PeerRoute> short_routes_;
    std::size_t short_bytes_ = 0;
    std::vector<Sums> sums_;  ///< one per way
    int tag_limit_;
    int rank_ = 0;
};

}  // namespace gradcoll
