// settings/intercept_set.hpp - the MPI calls that the interposer may serve (GC_INTERCEPT).
#pragma once

#include <bitset>
#include <string_view>

#include "base/interposer_table.h"
#include "base/status.hpp"

namespace gradcoll {

/// A set of kinds of calls. A value.
class InterceptSet {
  public:
    /// All of them.
    InterceptSet() { bits_.set(); }

    /// Comma separated names such as "allreduce,allgather"; allreduce_init brings `start` along.
    /// Errors: invalid_argument naming the word and what is allowed.
    static Result<InterceptSet> parse(std::string_view text);

    bool has(GC_Intercepted call) const { return bits_[call]; }
    /// "allgather", not only "allgather_one_host".
    bool gathers_over_tree() const { return gathers_over_tree_; }

  private:
    std::bitset<GC_CALL_KINDS> bits_;
    bool gathers_over_tree_ = true;
};

}  // namespace gradcoll
