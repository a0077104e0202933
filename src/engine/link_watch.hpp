// engine/link_watch.hpp - whether links between hosts carry what plans were made for: found out
// from how long sums take. Pure: no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradcoll {

/// ExpectedTime is what a sum should take.
struct ExpectedTime {
    /// Its bytes are this long on the busiest link between hosts, if links carry what is said of
    /// them; 0 if the sum tells nothing of links.
    double links_us = 0;
    double latency_us = 0;  ///< latency of messages that wait for one another
};

/// A LinkWatch compares not each sum with what it should take, as sums run beside one another, but
/// all of a while together: what their bytes should take, with the time in which any of them ran. A
/// while ends when a gradient comes again, so it has a step of the program or more. That links
/// carry more or less than gradients are planned for is believed when several whiles in a row say
/// so, and twice as many after each time that it was. Used by one thread at a time. Time of a call:
/// constant.
class LinkWatch {
  public:
    /// Takes note that the sum of that gradient begins. Returns what gradients should be planned
    /// for from now on, if that has changed: the part of what is said of them that links carry.
    std::optional<double> begun(std::uint32_t gradient, std::uint64_t now_ns,
                                std::uint64_t worked_ns);
    /// Takes note that a sum has ended. `worked_ns` is the time that each thread of this rank has
    /// spent in local steps, from any time on. Where that takes most of the time links are not to
    /// blame.
    void ended(const ExpectedTime& expected, std::uint64_t now_ns);

  private:
    enum class Side : std::uint8_t { less, alike, more };
    struct While {
        std::uint32_t first = 0;  ///< its first gradient
        std::size_t sums = 0;     ///< how many have begun
        std::size_t ended = 0;
        std::uint64_t ran_ns = 0;  ///< time while any sum ran
        std::uint64_t worked_from_ns = 0;
        ExpectedTime expected;
    };

    bool is_over(std::uint32_t gradient) const;
    std::optional<double> judge(std::uint64_t worked_ns);
    std::optional<double> believe(Side side);

    While while_;
    std::size_t running_ = 0;
    std::uint64_t running_since_ns_ = 0;
    double planned_for_ = 1;
    std::optional<double> usual_;  ///< what whiles say as long as nothing changes
    std::size_t whiles_to_believe_ = 4;
    Side side_ = Side::alike;
    std::vector<double> said_;  ///< what the last whiles said, all on one side
};

}  // namespace gradcoll
