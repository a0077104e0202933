// tests/fuzz/nic_sums_input.hpp - vectors that an agent must add, from ranks and agents that break
// the rules.
#pragma once

#include "fuzz/nic_inputs.hpp"
#include "nic/agent/group_sums.hpp"

namespace gradcoll {

/// A SumsInput has one rank here, on host 0 of 2. An input is a piece of the rank or a frame of the
/// other agent.
class SumsInput {
  public:
    SumsInput();
    void run(Random& random, Outcome& outcome);

  private:
    void renew();
    bool hand_in(Random& random);
    bool bring(Random& random);
    NicNote note(Random& random) const;
    Bytes piece(Random& random, NicCoding& coding, bool as_it_travels);

    AgentCounters counters_;
    LocalMembers members_;
    std::unique_ptr<GroupSums> sums_;
    SharedRegion region_;
    NicRingWriter entries_;
    FrameCoder coder_;
    std::uint64_t posted_ = 0;
    std::uint64_t got_ = 0;
};

}  // namespace gradcoll
