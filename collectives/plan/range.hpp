// collectives/plan/range.hpp - a run of neighbouring elements, the unit of steps, ownership and the
// verifier; and what one message carries of them, before it becomes steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gradcoll {

/// A Range is a half-open range of elements [begin, end).
struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    std::int64_t size() const { return end - begin; }
    bool empty() const { return end <= begin; }
    friend bool operator==(const Range&, const Range&) = default;
};

inline Range intersect(Range a, Range b) {
    const Range both{std::max(a.begin, b.begin), std::min(a.end, b.end)};
    return both.empty() ? Range{both.begin, both.begin} : both;
}

/// Adds `range` at the end of ascending `ranges`, joined to the last one if they touch, but at
/// multiples of `apart_at` (0: there, too); an empty one is dropped.
inline void append_joined(std::vector<Range>& ranges, Range range, std::int64_t apart_at = 0) {
    if (range.empty()) return;
    const bool is_apart = apart_at > 0 && range.begin % apart_at == 0;
    if (!ranges.empty() && ranges.back().end == range.begin && !is_apart)
        ranges.back().end = range.end;
    else
        ranges.push_back(range);
}

/// A Message carries values between two ranks; its ranges are ascending, and joined where they
/// touch, unless they are of two blocks.
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
