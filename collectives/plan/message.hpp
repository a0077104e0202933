// collectives/plan/message.hpp - what one message carries, before it becomes steps.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/plan/range.hpp"

namespace gradcoll {

/// A Message carries values between two ranks; its ranges are ascending, joined where they touch.
struct Message {
    int peer = -1;
    std::vector<Range> ranges;

    std::int64_t count_elems() const {
        std::int64_t count = 0;
        for (const Range& range : ranges) count += range.size();
        return count;
    }
};

}  // namespace gradcoll
