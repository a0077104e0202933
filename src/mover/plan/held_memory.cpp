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
