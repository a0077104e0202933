// base/failure.hpp - what ranks hear of another that cannot go on with an operation of theirs.
#pragma once

#include "base/status.hpp"

namespace gradcoll {

/// Failure says which rank failed first, as far as is known, and of what.
struct Failure {
    static constexpr int nobody_known = -1;

    int rank = nobody_known;
    Code code = Code::internal;
};

/// Returns peer_failed: "rank 3 cannot go on: it has not enough memory"; peer_died if it has died.
Status told(const Failure& failure);

}  // namespace gradcoll
