#include "api/comm/prospect.hpp"

#include <algorithm>

namespace gradcoll {
namespace {

/// Less than attaching takes (docs/decisions/016-attach-by-use.md says why).
constexpr std::uint64_t price_ns_a_rank = 4'000;
/// Of the shortest vector, and what each 16 bytes add. Vectors past the caches gain no more.
constexpr std::uint64_t gain_ns_a_rank = 100;
constexpr std::uint64_t gain_ns_of_16_bytes = 3;
constexpr std::uint64_t most_gaining_bytes = 1 << 20;

}  // namespace

Prospect::Prospect(int rank_count)
    : rank_count_(static_cast<std::uint64_t>(rank_count)),
      price_ns_(rank_count_ * price_ns_a_rank) {}

std::uint64_t Prospect::gain_ns(std::uint64_t size_bytes) const {
    return rank_count_ * gain_ns_a_rank +
           std::min(size_bytes, most_gaining_bytes) / 16 * gain_ns_of_16_bytes;
}

bool Prospect::add(std::uint64_t size_bytes) {
    if (has_given_up()) return false;
    gained_ns_ += gain_ns(size_bytes);
    return gained_ns_ >= price_ns_;
}

const Prospect::Kind* Prospect::kind_of(const CallArguments& arguments) const {
    for (const Kind& kind : kinds_)
        if (kind.datatype == arguments.datatype && kind.op == arguments.op) return &kind;
    return nullptr;
}

bool Prospect::passes(const CallArguments& arguments) {
    const Kind* const kind = kind_of(arguments);
    if (kind == nullptr || arguments.count <= 0 || arguments.count > most_count) return false;
    const auto size_bytes = static_cast<std::uint64_t>(arguments.count) * kind->elem_bytes;
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
        kinds_[next_++ % kinds_.size()] = {arguments.datatype, arguments.op, shape.elem_bytes,
                                           end_bytes};
}

}  // namespace gradcoll
