// tests/transport/told_watch.hpp - a watch of ranks that a test tells who has died.
#pragma once

#include <atomic>
#include <string>

#include "transport/peer_watch.hpp"

namespace gradcoll::test {

/// A ToldWatch finds the rank dead at the first look after die().
class ToldWatch final : public PeerWatch {
  public:
    explicit ToldWatch(std::uint64_t patience_ns = 20'000'000) : PeerWatch(patience_ns) {}
    void die(int rank) { dead_ = rank; }
    void look() override {
        ++looks_;
        if (const int rank = dead_; rank >= 0)
            note(rank, "rank " + std::to_string(rank) + " has died");
    }
    int looks() const { return looks_; }

  private:
    std::atomic<int> dead_{-1};
    std::atomic<int> looks_{0};
};

}  // namespace gradcoll::test
