// ways/hosts/leaders_exchange.hpp - sums over one rank of each host of a communicator, several at a
// time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "ways/tree/comm_plans.hpp"

namespace gradcoll {

/// LeadersTraffic counts what this rank has done in all sums together.
struct LeadersTraffic {
    std::uint64_t bytes_sent = 0;
    std::uint64_t exact_bytes = 0;  ///< what bytes_sent would have been with every codec exact
    std::uint64_t packed_away_bytes = 0;
    std::uint64_t messages_sent = 0;
    // These two are measured only if calls are observed.
    std::uint64_t codec_ns = 0;
    std::uint64_t wait_ns = 0;  ///< time spent waiting in finish_oldest()
};

/// A LeadersExchange sums over the tree of the leaders. It is used by the thread that makes calls
/// on the communicator; all leaders begin the same sums in the same order.
class LeadersExchange {
  public:
    static constexpr std::size_t most_under_way = 4;

    /// The reference must outlive it.
    explicit LeadersExchange(const CommIdentity& leaders)
        : comm_(leaders), plans_(leaders, nullptr) {}

    /// Collective over the leaders, once. Errors: those of CommPlans::open_channel().
    Status open(const Settings& settings) { return plans_.open_channel(settings); }
    /// Sets the tree and the settings that sums are planned for: before the first sum, and while
    /// none is under way. `settings` must outlive it.
    void plan_for(std::shared_ptr<const DiscoveredTree> tree, const Settings& settings) {
        plans_.plan_for(std::move(tree), settings);
    }

    /// Begins a sum while fewer than most_under_way are under way. An error is told by
    /// finish_oldest(), so that every begin() has its finish_oldest().
    void begin(const CallKey& key, const Binding& binding);
    /// Advances all sums under way as far as they can go now; returns true if one of them did
    /// something.
    bool advance();
    /// Waits for the sum that was begun first of those not finished, while all go on. Errors: those
    /// of planning and of the executor.
    Status finish_oldest();

    const LeadersTraffic& traffic() const { return traffic_; }
    /// Returns whether the sum that was finished last was lossy.
    bool was_lossy() const { return was_lossy_; }

  private:
    struct Sum {
        Lease lease;
        Status status;
        bool is_over = false;
    };
    Sum& sum_at(std::size_t number) { return sums_[number % most_under_way]; }
    Status start(Sum& sum, const CallKey& key, Binding binding);
    void end(Sum& sum);

    const CommIdentity& comm_;
    CommPlans plans_;
    std::array<Sum, most_under_way> sums_;
    std::size_t begun_ = 0;
    std::size_t finished_ = 0;
    LeadersTraffic traffic_;
    bool was_lossy_ = false;
};

}  // namespace gradcoll
