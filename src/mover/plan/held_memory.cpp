// mover/plan/held_memory.cpp - see held_memory.hpp.
#include "mover/plan/held_memory.hpp"

#include <algorithm>
#include <limits>

namespace gradcoll::mover {
namespace {

/// Stands for operators that do not exist; adding bytes to it does not overflow.
constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min() / 4;

}  // namespace

HeldMemory::HeldMemory(const std::vector<std::int64_t>& bytes) : count_(bytes.size()) {
    while (leaves_ < count_) leaves_ *= 2;
    added_.assign(2 * leaves_, 0);
    most_.assign(2 * leaves_, none);
    std::copy(bytes.begin(), bytes.end(), most_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t node = leaves_; node-- > 1;)
        most_[node] = std::max(most_[2 * node], most_[2 * node + 1]);
}

std::int64_t HeldMemory::at(std::size_t op) const {
    std::size_t node = op + leaves_;
    std::int64_t bytes = most_[node];
    while ((node /= 2) > 0) bytes += added_[node];
    return bytes;
}

std::int64_t HeldMemory::most(std::size_t from, std::size_t end) const {
    if (from >= end) return 0;
    // On the way up, what was added above a node is added to the maximum of either side.
    std::size_t left = from + leaves_, right = end - 1 + leaves_;
    std::int64_t of_left = most_[left], of_right = most_[right];
    while (left / 2 != right / 2) {
        if (left % 2 == 0) of_left = std::max(of_left, most_[left + 1]);
        if (right % 2 == 1) of_right = std::max(of_right, most_[right - 1]);
        of_left += added_[left /= 2];
        of_right += added_[right /= 2];
    }
    std::int64_t bytes = std::max(of_left, of_right);
    while ((left /= 2) > 0) bytes += added_[left];
    return bytes;
}

std::size_t HeldMemory::first_of_most() const {
    std::size_t node = 1;
    while (node < leaves_) node = 2 * node + (most_[2 * node] < most_[2 * node + 1] ? 1 : 0);
    return node - leaves_;
}

/// Returns one more than the last operator below `node` that holds more than `limit`, among `from`
/// to `end` - 1, which count from the first below the node; 0: none does.
std::size_t HeldMemory::last_above(std::size_t node, std::size_t leaves, std::size_t from,
                                   std::size_t end, std::int64_t limit) const {
    if (from >= end || most_[node] <= limit) return 0;
    if (leaves == 1) return 1;
    const std::size_t half = leaves / 2;
    const std::int64_t below = limit - added_[node];
    if (end > half)
        if (const std::size_t found =
                last_above(2 * node + 1, half, from > half ? from - half : 0, end - half, below))
            return half + found;
    return last_above(2 * node, half, from, std::min(end, half), below);
}

std::size_t HeldMemory::at_most_from(std::size_t from, std::size_t end, std::int64_t limit) const {
    return std::max(from, last_above(1, leaves_, from, end, limit));
}

void HeldMemory::add(std::size_t from, std::size_t end, std::int64_t bytes) {
    if (from >= end) return;
    const auto add_below = [&](std::size_t node) {
        added_[node] += bytes;
        most_[node] += bytes;
    };
    const auto look_again = [&](std::size_t node) {
        while ((node /= 2) > 0)
            most_[node] = std::max(most_[2 * node], most_[2 * node + 1]) + added_[node];
    };
    std::size_t left = from + leaves_, right = end + leaves_;
    for (; left < right; left /= 2, right /= 2) {
        if (left % 2 == 1) add_below(left++);
        if (right % 2 == 1) add_below(--right);
    }
    look_again(from + leaves_);
    look_again(end - 1 + leaves_);
}

}  // namespace gradcoll::mover
