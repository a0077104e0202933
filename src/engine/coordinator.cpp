#include "engine/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace gradcoll {

Coordinator::Coordinator(int rank_count, std::uint64_t most_pack_bytes)
    : rank_count_(rank_count), most_pack_bytes_(most_pack_bytes) {}

Result<Coordinator::Gradient*> Coordinator::find(const Ready& ready) {
    if (ready.number != unnumbered) {
        if (ready.number < by_number_.size()) return by_number_[ready.number];
        return Status(Code::corrupt, fmt::format("no gradient has number {}; there are {}",
                                                 ready.number, by_number_.size()));
    }
    if (ready.name.empty()) return Status(Code::corrupt, "a new gradient has no name");
    Gradient*& at = by_name_[ready.name];
    if (at == nullptr) {
        at = &gradients_.emplace_back();
        at->name = ready.name;
        at->has.resize(static_cast<std::size_t>(rank_count_));
        complete_.reserve(gradients_.size());
        taken_.reserve(gradients_.size());
        by_number_.reserve(gradients_.size());
    }
    return at;
}

void Coordinator::begin(Gradient& gradient, int rank, const Ready& ready,
                        std::uint64_t now_ns) const {
    gradient.missing = rank_count_;
    gradient.first_rank = rank;
    gradient.shape = ready.shape;
    gradient.priority = ready.priority;
    gradient.bytes = ready.bytes;
    gradient.pack = ready.pack;
    gradient.since_ns = gradient.told_ns = now_ns;
    gradient.error.clear();
}

const std::string& Coordinator::text_of(const Gradient& gradient, std::uint64_t shape) {
    static const std::string unknown = "another shape";
    for (const Shape& known : gradient.shapes)
        if (known.hash == shape) return known.text;
    return unknown;
}

void Coordinator::compare(Gradient& gradient, int rank, const Ready& ready) const {
    if (ready.pack != gradient.pack) gradient.pack = 0;
    if (ready.shape == gradient.shape || !gradient.error.empty()) return;
    gradient.pack = 0;
    gradient.error =
        fmt::format("gradient \"{}\": rank {} has {}, rank {} has {}", printable(gradient.name),
                    gradient.first_rank, printable(text_of(gradient, gradient.shape)), rank,
                    printable(text_of(gradient, ready.shape)));
}

Status Coordinator::add(int rank, const Ready& ready, std::uint64_t now_ns) {
    Gradient* const gradient = GRADCOLL_VALUE(find(ready));
    std::uint8_t& has = gradient->has[static_cast<std::size_t>(rank)];
    if (has != 0)
        return {Code::corrupt, fmt::format("rank {} has gradient \"{}\" ready twice", rank,
                                           printable(gradient->name))};
    if (gradient->missing == 0) begin(*gradient, rank, ready, now_ns);
    const bool is_new_shape =
        std::none_of(gradient->shapes.begin(), gradient->shapes.end(),
                     [&](const Shape& known) { return known.hash == ready.shape; });
    if (is_new_shape && !ready.shape_text.empty())
        gradient->shapes.push_back({ready.shape, ready.shape_text});
    compare(*gradient, rank, ready);
    has = 1;
    gradient->priority = std::max(gradient->priority, ready.priority);
    if (--gradient->missing > 0) return {};
    gradient->order = completed_++;
    complete_.push_back(gradient);
    std::push_heap(complete_.begin(), complete_.end(), goes_after);
    return {};
}

bool Coordinator::goes_after(const Gradient* a, const Gradient* b) {
    return a->priority != b->priority ? a->priority < b->priority : a->order > b->order;
}

void Coordinator::take_complete() {
    std::pop_heap(complete_.begin(), complete_.end(), goes_after);
    taken_.push_back(complete_.back());
    complete_.pop_back();
}

/// All that may go with the one that was taken: short ones overtake longer ones of higher priority,
/// whose sums hardly notice.
void Coordinator::take_pack() {
    const std::uint32_t pack = taken_.front()->pack;
    const auto others = std::partition(complete_.begin(), complete_.end(),
                                       [&](const Gradient* one) { return one->pack != pack; });
    if (others == complete_.end()) return std::make_heap(complete_.begin(), others, goes_after);
    std::sort(others, complete_.end(),
              [](const Gradient* a, const Gradient* b) { return goes_after(b, a); });
    std::uint64_t bytes = taken_.front()->bytes;
    const auto end = std::find_if(others, complete_.end(), [&](const Gradient* one) {
        return (bytes += one->bytes) > most_pack_bytes_;
    });
    taken_.insert(taken_.end(), others, end);
    complete_.erase(others, end);
    std::make_heap(complete_.begin(), complete_.end(), goes_after);
}

Verdict Coordinator::verdict_of(Gradient& gradient) {
    Verdict verdict;
    if (gradient.number == unnumbered) {
        gradient.number = static_cast<std::uint32_t>(by_number_.size());
        by_number_.push_back(&gradient);
        verdict.name = gradient.name;
    }
    verdict.number = gradient.number;
    verdict.error = gradient.error;
    std::fill(gradient.has.begin(), gradient.has.end(), std::uint8_t{0});
    return verdict;
}

bool Coordinator::next(std::uint64_t room_bytes, std::vector<Verdict>& out) {
    out.clear();
    if (complete_.empty() || complete_.front()->bytes > room_bytes) return false;
    taken_.clear();
    take_complete();
    if (taken_.front()->pack != 0) take_pack();
    for (Gradient* gradient : taken_) {
        out.push_back(verdict_of(*gradient));
        out.back().more = gradient != taken_.back();
    }
    return true;
}

std::string Coordinator::stall_text(const Gradient& gradient, std::uint64_t now_ns) const {
    constexpr int most_named = 16;
    std::string ranks;
    int named = 0;
    for (int rank = 0; rank < rank_count_ && named < most_named; ++rank)
        if (gradient.has[static_cast<std::size_t>(rank)] == 0)
            fmt::format_to(std::back_inserter(ranks), "{}{}", named++ == 0 ? "" : ", ", rank);
    return fmt::format("gradient \"{}\" waits for {} of {} ranks since {:.0f} s: {}{}",
                       printable(gradient.name), gradient.missing, rank_count_,
                       seconds_of(now_ns - gradient.since_ns), ranks,
                       gradient.missing > named ? " and others" : "");
}

std::vector<std::string> Coordinator::stalls(std::uint64_t now_ns, std::uint64_t after_ns) {
    std::vector<std::string> texts;
    for (Gradient& gradient : gradients_) {
        if (gradient.missing == 0 || now_ns - gradient.told_ns < after_ns) continue;
        gradient.told_ns = now_ns;
        texts.push_back(stall_text(gradient, now_ns));
    }
    return texts;
}

}  // namespace gradcoll
