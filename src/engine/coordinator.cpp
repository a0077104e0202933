#include "engine/coordinator.hpp"

#include <algorithm>
#include <utility>

namespace gradcoll {

Coordinator::Coordinator(std::vector<Member> members, std::uint64_t most_pack_bytes)
    : gathering_(std::move(members)), most_pack_bytes_(most_pack_bytes) {}

Status Coordinator::add(std::size_t member, const Ready& ready, std::uint64_t now_ns) {
    GatheredGradient* const complete = GRADCOLL_VALUE(gathering_.add(member, ready, now_ns));
    if (complete == nullptr) return {};
    complete_.push_back(complete);
    std::push_heap(complete_.begin(), complete_.end(), goes_after);
    return {};
}

bool Coordinator::goes_after(const GatheredGradient* a, const GatheredGradient* b) {
    return a->ready.priority != b->ready.priority ? a->ready.priority < b->ready.priority
                                                  : a->order > b->order;
}

void Coordinator::take_complete() {
    std::pop_heap(complete_.begin(), complete_.end(), goes_after);
    taken_.push_back(complete_.back());
    complete_.pop_back();
}

/// Takes all that may go with the one that was taken: short ones overtake longer ones of higher
/// priority, whose sums hardly notice.
void Coordinator::take_pack() {
    const std::uint32_t pack = taken_.front()->ready.pack;
    const auto others =
        std::partition(complete_.begin(), complete_.end(),
                       [&](const GatheredGradient* one) { return one->ready.pack != pack; });
    if (others == complete_.end()) return std::make_heap(complete_.begin(), others, goes_after);
    std::sort(others, complete_.end(), [](const GatheredGradient* a, const GatheredGradient* b) {
        return goes_after(b, a);
    });
    std::uint64_t bytes = taken_.front()->ready.bytes;
    const auto end = std::find_if(others, complete_.end(), [&](const GatheredGradient* one) {
        return (bytes += one->ready.bytes) > most_pack_bytes_;
    });
    taken_.insert(taken_.end(), others, end);
    complete_.erase(others, end);
    std::make_heap(complete_.begin(), complete_.end(), goes_after);
}

Verdict Coordinator::verdict_of(GatheredGradient& gradient) {
    Verdict verdict;
    if (gradient.number == unnumbered) {
        static_cast<void>(gathering_.give_number(gradient, gathering_.next_number()));
        verdict.name = gradient.name;
    }
    verdict.number = gradient.number;
    verdict.error = gradient.ready.error;
    if (std::exchange(gradient.planned, plans_) != plans_) verdict.links_carry = links_carry_;
    Gathering::release(gradient);
    return verdict;
}

bool Coordinator::next(std::uint64_t room_bytes, std::vector<Verdict>& out) {
    out.clear();
    if (complete_.empty() || complete_.front()->ready.bytes > room_bytes) return false;
    taken_.clear();
    take_complete();
    if (taken_.front()->ready.pack != 0) take_pack();
    for (GatheredGradient* gradient : taken_) {
        out.push_back(verdict_of(*gradient));
        out.back().more = gradient != taken_.back();
    }
    return true;
}

}  // namespace gradcoll
