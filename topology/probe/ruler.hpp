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
    bulk,     ///< messages in flight for a few milliseconds, in nanoseconds a byte
    stream    ///< the same for so long that pairs which are told to start together share the links
              ///< on their ways all the time
};
inline constexpr int signal_count = 3;

/// How much may be spent on a tree.
enum class ProbeEffort : std::uint8_t {
    thorough,  ///< somebody waits for it who wants to know
    quick      ///< beside other work: what makes a difference to long messages
};

/// Hosts are numbered from 0. `from` sends what is long.
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
