#include "transport/shm/cells.hpp"

#include <bit>

namespace gradcoll {
namespace {

std::uint64_t ones(int count) {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

std::optional<CellPool::Run> CellPool::take(int count, int peer, Purpose purpose) {
    if (count > ShmLayout::cell_count) return std::nullopt;
    const std::uint64_t allowed = free_ & ones(purpose == Purpose::unasked ? unasked_cells : 64);
    std::uint64_t begins = allowed;
    for (int next = 1; next < count && begins != 0; ++next) begins &= allowed >> next;
    if (begins == 0) return std::nullopt;
    const int first = std::countr_zero(begins);
    free_ &= ~(ones(count) << first);
    held_[static_cast<std::size_t>(first)] = {peer, count};
    return Run{static_cast<std::uint32_t>(first), count};
}

std::optional<CellPool::Run> CellPool::take_up_to(int count, int peer, Purpose purpose) {
    for (; count > 0; count /= 2)
        if (const auto run = take(count, peer, purpose)) return run;
    return std::nullopt;
}

bool CellPool::give_back(std::uint32_t cell, int peer) {
    Held& held = held_[cell];
    if (held.count == 0 || held.peer != peer) return false;
    free_ |= ones(held.count) << cell;
    held = {};
    return true;
}

}  // namespace gradcoll
