// topology/probe/ruler.hpp - what can be measured between hosts. The probe knows nothing else of
// the network, so that a simulated one does as well.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// What a pair of hosts is asked for; the smaller the answer, the nearer they are.
enum class Signal : std::uint8_t {
    latency,  ///< one way of a small message, in microseconds
    bulk      ///< a long message, in nanoseconds a byte
};
inline constexpr int signal_count = 2;

/// Hosts are numbered from 0. For `bulk`, `from` is the one that sends.
struct HostPair {
    int from = 0;
    int to = 0;
};

class Ruler {
  public:
    virtual ~Ruler() = default;
    /// Measures all pairs at the same time; no host is in two of them. One positive figure a pair,
    /// in their order. Errors: those of the network.
    virtual Result<std::vector<double>> measure(Signal signal, std::span<const HostPair> pairs) = 0;
    /// The time that the whole measurement may take has passed: what is known by now has to do.
    virtual bool spent() const { return false; }
};

}  // namespace gradcoll
