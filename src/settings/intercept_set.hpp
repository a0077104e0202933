// settings/intercept_set.hpp - the MPI calls that the interposer may serve (GC_INTERCEPT).
#pragma once

#include <bitset>
#include <string_view>

#include "base/interposer_table.h"
#include "base/status.hpp"

namespace gradcoll {

/// InterceptSet is a set of kinds of calls. It is a value.
class InterceptSet {
  public:
    /// Makes the set of all kinds.
    InterceptSet() { bits_.set(); }

    /// Reads comma separated names such as "allreduce,allgather"; allreduce_init brings `start`
    /// along. Errors: invalid_argument naming the word and what is allowed.
    static Result<InterceptSet> parse(std::string_view text);

    bool has(GC_Call_kind call) const { return bits_[call]; }
    /// Returns whether the set has "allgather", not only "allgather_one_host".
    bool gathers_over_tree() const { return gathers_over_tree_; }

  private:
    std::bitset<GC_CALL_KINDS> bits_;
    bool gathers_over_tree_ = true;
};

}  // namespace gradcoll
