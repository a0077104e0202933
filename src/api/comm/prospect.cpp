#include "api/comm/prospect.hpp"

#include <algorithm>
#include <atomic>

namespace gradcoll {
namespace {

/// Less than attaching takes (docs/decisions/016-attach-by-use.md says why).
constexpr std::uint64_t first_price_ns = 4'000;
/// What it takes with few ranks after the first of their communicators, freeing included.
constexpr std::uint64_t real_price_ns = 12'000;
constexpr std::uint64_t highest_price_ns = 16 * first_price_ns;
std::atomic<std::uint64_t> asked_price_ns{first_price_ns};
/// Of the shortest vector, and what each 16 bytes add. Vectors past the caches gain no more.
constexpr std::uint64_t gain_ns_a_rank = 100;
constexpr std::uint64_t gain_ns_of_16_bytes = 3;
constexpr std::uint64_t most_gaining_bytes = 1 << 20;

constexpr std::uint64_t gain_of(std::uint64_t calls, std::uint64_t ranks, std::uint64_t bytes) {
    return calls * ranks * gain_ns_a_rank + bytes / 16 * gain_ns_of_16_bytes;
}

}  // namespace

std::uint64_t AttachPrice::a_rank_ns() {
    return asked_price_ns.load(std::memory_order_relaxed);
}

void AttachPrice::learn(int rank_count, std::uint64_t served_calls, std::uint64_t served_bytes) {
    const auto ranks = static_cast<std::uint64_t>(rank_count);
    const std::uint64_t saved_ns = gain_of(served_calls, ranks, served_bytes);
    const std::uint64_t asked = a_rank_ns();
    const std::uint64_t next = saved_ns < ranks * real_price_ns ? asked * 2 : asked / 2;
    asked_price_ns.store(std::clamp(next, first_price_ns, highest_price_ns),
                         std::memory_order_relaxed);
}

Prospect::Prospect(int rank_count)
    : rank_count_(static_cast<std::uint64_t>(rank_count)),
      price_ns_(rank_count_ * first_price_ns) {}

std::uint64_t Prospect::gain_ns(std::uint64_t size_bytes) const {
    return gain_of(1, rank_count_, std::min(size_bytes, most_gaining_bytes));
}

bool Prospect::add(std::uint64_t size_bytes) {
    if (has_given_up()) return false;
    gained_ns_ += gain_ns(size_bytes);
    return is_paid();
}

bool Prospect::add_wanted(std::uint64_t size_bytes) {
    gained_ns_ = std::max(gained_ns_, rank_count_ * first_price_ns);
    return add(size_bytes);
}

const Prospect::Kind* Prospect::kind_of(const CallArguments& arguments) const {
    for (const Kind& kind : kinds_)
        if (kind.datatype == arguments.datatype && kind.op == arguments.op) return &kind;
    return nullptr;
}

bool Prospect::passes(const CallArguments& arguments) {
    const Kind* const kind = kind_of(arguments);
    if (kind == nullptr || arguments.count <= 0 || arguments.count > most_count) return false;
    const auto size_bytes = static_cast<std::uint64_t>(arguments.count) * kind->item_bytes;
    return size_bytes < kind->end_bytes && passes(size_bytes);
}

bool Prospect::passes(std::uint64_t size_bytes) {
    if (has_given_up()) return true;
    const std::uint64_t gained_ns = gained_ns_ + gain_ns(size_bytes);
    if (gained_ns >= price_ns_) return false;
    gained_ns_ = gained_ns;
    return true;
}

void Prospect::learn(const CallArguments& arguments, const CallShape& shape,
                     std::uint64_t end_bytes) {
    if (kind_of(arguments) == nullptr)
        kinds_[next_++ % kinds_.size()] = {arguments.datatype, arguments.op, shape.item_bytes(),
                                           end_bytes};
}

}  // namespace gradcoll
