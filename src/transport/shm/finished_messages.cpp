#include "transport/shm/finished_messages.hpp"

#include <algorithm>

namespace gradcoll {

std::size_t FinishedMessages::take(std::span<Completion> out) {
    const std::size_t count = std::min(out.size(), done_.size());
    if (count == 0) return 0;
    const auto end = done_.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(done_.begin(), end, out.begin());
    done_.erase(done_.begin(), end);
    return count;
}

}  // namespace gradcoll
