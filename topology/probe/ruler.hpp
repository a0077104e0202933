// topology/probe/ruler.hpp - what can be measured between hosts. The probe knows nothing else of
// the network, so that it also works on a simulated one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// A Signal is what is measured for a pair of hosts; the smaller the figure, the nearer they are.
enum class Signal : std::uint8_t {
    latency,  ///< one way of a small message, in microseconds
    bulk,     ///< messages in flight for a few milliseconds, nanoseconds for each byte
    stream    ///< bulk for so long that pairs that start together share the links on their ways all
              ///< the time
};
inline constexpr int signal_count = 3;

/// ProbeEffort says how much may be spent on a tree.
enum class ProbeEffort : std::uint8_t {
    thorough,  ///< somebody waits for the result and wants all of it
    quick      ///< runs beside other work: only what matters for long messages
};

/// A HostPair names two hosts, numbered from 0. `from` sends the long messages.
struct HostPair {
    int from = 0;
    int to = 0;
};

/// A Measured is the positive figure of one pair.
struct Measured {
    double figure = 0;
    bool disturbed = false;  ///< whether a host was busy with something else meanwhile, so that the
                             ///< figure may be too large
};

class Ruler {
  public:
    virtual ~Ruler() = default;
    /// Measures all pairs at the same time; no host is in two of them. Returns one figure for each
    /// pair, in their order. Errors: those of the network.
    virtual Result<std::vector<Measured>> measure(Signal signal,
                                                  std::span<const HostPair> pairs) = 0;
    /// Returns whether the time for the whole measurement is over: what is known by then has to do.
    virtual bool spent() const { return false; }
};

}  // namespace gradcoll
