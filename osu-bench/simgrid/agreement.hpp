// agreement.hpp - the messages between ranks of an engine, in the simulation: the library's own
// negotiation about the gradients of one step, which all ranks hand in at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll::simulate {

/// Returns "agree", in which every rank sends to rank 0, and "agree-hosts", in which one rank of
/// each host sends for all of it.
const std::vector<std::string>& agreement_names();

/// An Agreement runs steps of a network with the gradients of ResNet-50, on all ranks. What rank 0
/// computes takes no simulated time (gc_bench decisions measures it).
class Agreement {
  public:
    Agreement(const Tree& tree, const std::string& name);
    ~Agreement();
    Agreement(const Agreement&) = delete;
    Agreement& operator=(const Agreement&) = delete;

    /// Runs one step of the calling rank of MPI_COMM_WORLD: until it knows that all gradients
    /// begin, and others have received what they wait for from it. In the first step gradients have
    /// names, later they have numbers. Returns what is wrong, or nothing.
    std::string run_step(int rank);
    /// Ends the negotiation; every rank calls it after the last step.
    void end(int rank);
    /// Returns the bytes sent by all ranks, in steps after the first.
    std::uint64_t bytes_told() const { return bytes_told_; }

  private:
    struct Member;

    const Tree& tree_;
    bool by_hosts_;
    std::vector<std::unique_ptr<Member>> members_;  ///< by rank
    std::uint64_t bytes_told_ = 0;
};

}  // namespace gradcoll::simulate
