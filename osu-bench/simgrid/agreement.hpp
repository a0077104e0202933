// agreement.hpp - what ranks of an engine tell each other, in the simulation: the library's own
// negotiation about the gradients of one step, which all ranks hand in at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll::simulate {

/// "agree": every rank tells rank 0. "agree-hosts": one rank of each host does so for all of it.
const std::vector<std::string>& agreement_names();

/// Steps of a network with the gradients of ResNet-50, of all ranks. What rank 0 computes takes no
/// simulated time (decisions_benchmark measures it).
class Agreement {
  public:
    Agreement(const Tree& tree, const std::string& name);
    ~Agreement();
    Agreement(const Agreement&) = delete;
    Agreement& operator=(const Agreement&) = delete;

    /// One step of the calling rank of MPI_COMM_WORLD: until it has heard that all gradients begin,
    /// and others have heard what they wait to hear from it. In the first step gradients have
    /// names, later they have numbers. Returns what is wrong, or nothing.
    std::string run_step(int rank);
    /// After the last step, by every rank.
    void end(int rank);
    /// By all ranks, in steps after the first.
    std::uint64_t bytes_told() const { return bytes_told_; }

  private:
    struct Member;

    const Tree& tree_;
    bool by_hosts_;
    std::vector<std::unique_ptr<Member>> members_;  ///< by rank
    std::uint64_t bytes_told_ = 0;
};

}  // namespace gradcoll::simulate
