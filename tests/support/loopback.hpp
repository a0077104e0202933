// support/loopback.hpp - ranks as threads of one process: the channel of tests.
// It is stricter than a network: a send completes only when its bytes were taken (unless
// `eager_bytes` says otherwise), streams can be delayed against each other, and bytes can be
// tampered with on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "transport/channel.hpp"

namespace gradcoll {

/// LoopbackEnvelope is what a LoopbackOptions::Tamper sees of a message.
struct LoopbackEnvelope {
    int source = -1;
    int destination = -1;
    int tag = -1;
};

struct LoopbackOptions {
    /// A Tamper returns this if the transport is to fail instead.
    static constexpr std::size_t breaks = static_cast<std::size_t>(-1);
    /// A Tamper may change the delivered bytes, and returns how many of them arrive (not more than
    /// there are). It is called by the receiving thread with the world locked.
    using Tamper = std::function<std::size_t(const LoopbackEnvelope&, std::span<std::byte>)>;

    std::size_t eager_bytes = 0;  ///< messages up to this size are copied when started; 0: none
    double delay_probability =
        0;  ///< probability that a deliverable message is held back at one poll; below 1
    std::uint64_t seed = 1;  ///< seed of the delays
    int tag_limit = 0x7fffffff;
    Tamper tamper = {};  ///< none if empty
};

struct LoopbackState;

/// A LoopbackWorld has `rank_count` channels that reach each other. Thread safe: one lock for the
/// whole world. Outlives its channels' lanes.
class LoopbackWorld {
  public:
    explicit LoopbackWorld(int rank_count, LoopbackOptions options = {});
    ~LoopbackWorld();
    Channel& channel(int rank);

  private:
    std::unique_ptr<LoopbackState> state_;
};

}  // namespace gradcoll
