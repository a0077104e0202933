#include "engine/coordinator.hpp"

#include <algorithm>
#include <utility>

namespace gradcoll {
namespace {

/// A pack of at least such a part of a full one waits for no other: if what is left of a step
/// waited for the first full pack to end, links would be idle while it ends.
constexpr std::uint64_t parts_of_a_full_pack = 4;

}  // namespace

Coordinator::Coordinator(std::vector<Member> members, std::uint64_t most_pack_bytes)
    : gathering_(std::move(members)), most_pack_bytes_(most_pack_bytes) {}

Status Coordinator::add(std::size_t member, const Ready& ready, std::uint64_t now_ns) {
    GatheredGradient* const complete = GRADCOLL_VALUE(gathering_.add(member, ready, now_ns));
    if (complete == nullptr) return {};
    Queue& queue = queue_of(complete->ready.pack);
    queue.bytes += complete->ready.bytes;
    queue.heap.push_back(complete);
    std::push_heap(queue.heap.begin(), queue.heap.end(), goes_after);
    return {};
}

bool Coordinator::goes_after(const GatheredGradient* a, const GatheredGradient* b) {
    return a->ready.priority != b->ready.priority ? a->ready.priority < b->ready.priority
                                                  : a->order > b->order;
}

Coordinator::Queue& Coordinator::queue_of(std::uint32_t pack) {
    for (Queue& queue : queues_)
        if (queue.pack == pack) return queue;
    return queues_.emplace_back(Queue{.pack = pack});
}

/// Returns the queue whose top begins next; null if all are empty, or wait for packs to end.
Coordinator::Queue* Coordinator::next_queue() {
    Queue* best = nullptr;
    for (Queue& queue : queues_) {
        const bool waits = queue.pack != 0 && queue.under_way > 0 &&
                           queue.bytes < most_pack_bytes_ / parts_of_a_full_pack;
        if (queue.heap.empty() || waits) continue;
        if (best == nullptr || goes_after(best->heap.front(), queue.heap.front())) best = &queue;
    }
    return best;
}

/// Takes the top and all that may go with it: short ones overtake longer ones of higher priority,
/// whose sums hardly notice.
void Coordinator::take_from(Queue& queue) {
    std::uint64_t bytes = 0;
    taken_.clear();
    do {
        GatheredGradient* const top = queue.heap.front();
        std::pop_heap(queue.heap.begin(), queue.heap.end(), goes_after);
        queue.heap.pop_back();
        bytes += top->ready.bytes;
        taken_.push_back(top);
    } while (queue.pack != 0 && !queue.heap.empty() && bytes < most_pack_bytes_ &&
             queue.heap.front()->ready.bytes <= most_pack_bytes_ - bytes);
    queue.bytes -= bytes;
    ++queue.under_way;
}

void Coordinator::ended(std::uint32_t number) {
    --queue_of(gathering_.numbered(number).begun_pack).under_way;
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
    Queue* const queue = next_queue();
    if (queue == nullptr || queue->heap.front()->ready.bytes > room_bytes) return false;
    take_from(*queue);
    for (GatheredGradient* gradient : taken_) {
        gradient->begun_pack = queue->pack;
        out.push_back(verdict_of(*gradient));
        out.back().more = gradient != taken_.back();
    }
    return true;
}

}  // namespace gradcoll
