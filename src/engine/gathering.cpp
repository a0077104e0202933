#include "engine/gathering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace gradcoll {

Gathering::Gathering(std::vector<Member> members) : members_(std::move(members)) {}

GatheredGradient& Gathering::named(const std::string& name) {
    GatheredGradient*& at = by_name_[name];
    if (at == nullptr) {
        at = &gradients_.emplace_back();
        at->name = name;
        at->has.resize(members_.size());
        at->said.resize(members_.size());
        by_number_.reserve(gradients_.size());
    }
    return *at;
}

Result<GatheredGradient*> Gathering::find(const Ready& ready) {
    if (ready.number != unnumbered) {
        if (ready.number < by_number_.size()) return by_number_[ready.number];
        return Status(Code::corrupt, fmt::format("no gradient has number {}; there are {}",
                                                 ready.number, by_number_.size()));
    }
    if (ready.name.empty()) return Status(Code::corrupt, "a new gradient has no name");
    return &named(ready.name);
}

Status Gathering::give_number(GatheredGradient& gradient, std::uint32_t number) {
    if (number != by_number_.size())
        return {Code::corrupt, fmt::format("gradient \"{}\" gets number {}; the next one is {}",
                                           printable(gradient.name), number, by_number_.size())};
    gradient.number = number;
    by_number_.push_back(&gradient);
    return {};
}

void Gathering::begin(GatheredGradient& gradient, const Ready& ready, std::uint64_t now_ns) const {
    gradient.missing = static_cast<int>(members_.size());
    gradient.ready = ready;
    gradient.since_ns = gradient.told_ns = now_ns;
}

const std::string& Gathering::text_of(const GatheredGradient& gradient, std::uint64_t shape) {
    static const std::string unknown = "another shape";
    for (const GatheredGradient::Shape& known : gradient.shapes)
        if (known.hash == shape) return known.text;
    return unknown;
}

void Gathering::compare(GatheredGradient& gradient, const Ready& ready) {
    Ready& common = gradient.ready;
    common.priority = std::max(common.priority, ready.priority);
    if (ready.pack != common.pack) common.pack = 0;
    if (common.error.empty()) common.error = ready.error;
    if (common.error.empty() && ready.shape != common.shape)
        common.error =
            fmt::format("gradient \"{}\": rank {} has {}, rank {} has {}", printable(gradient.name),
                        common.rank, printable(text_of(gradient, common.shape)), ready.rank,
                        printable(text_of(gradient, ready.shape)));
    if (!common.error.empty()) common.pack = 0;
}

/// Adds to a Ready that is as before what the member said then.
Status Gathering::complete_as_before(const GatheredGradient& gradient, std::size_t member,
                                     Ready& ready) const {
    const std::optional<Said>& before = gradient.said[member];
    const int rank = members_[member].rank;
    if (!before)
        return {Code::corrupt,
                fmt::format("rank {} has gradient \"{}\" as before, and said nothing "
                            "of it before",
                            rank, printable(gradient.name))};
    ready.priority = before->priority;
    ready.pack = before->pack;
    ready.bytes = before->bytes;
    ready.shape = before->shape;
    ready.rank = rank;
    return {};
}

Result<GatheredGradient*> Gathering::add(std::size_t member, Ready ready, std::uint64_t now_ns) {
    GatheredGradient* const gradient = GRADCOLL_VALUE(find(ready));
    if (ready.as_before) GRADCOLL_TRY(complete_as_before(*gradient, member, ready));
    ready.as_before = false;
    std::uint8_t& has = gradient->has[member];
    if (has != 0)
        return Status(Code::corrupt, fmt::format("rank {} has gradient \"{}\" ready twice",
                                                 members_[member].rank, printable(gradient->name)));
    if (gradient->missing == 0) begin(*gradient, ready, now_ns);
    const bool is_new_shape =
        std::none_of(gradient->shapes.begin(), gradient->shapes.end(),
                     [&](const auto& known) { return known.hash == ready.shape; });
    if (is_new_shape && !ready.shape_text.empty())
        gradient->shapes.push_back({ready.shape, ready.shape_text});
    compare(*gradient, ready);
    gradient->said[member] = ready.said();
    has = 1;
    if (--gradient->missing > 0) return static_cast<GatheredGradient*>(nullptr);
    gradient->order = completed_++;
    return gradient;
}

void Gathering::release(GatheredGradient& gradient) {
    std::fill(gradient.has.begin(), gradient.has.end(), std::uint8_t{0});
}

std::string Gathering::stall_text(const GatheredGradient& gradient, std::uint64_t now_ns) const {
    constexpr int most_named = 16;
    std::string names;
    int missing = 0, ranks = 0, named = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const Member& member = members_[i];
        ranks += member.stands_for;
        if (gradient.has[i] != 0) continue;
        missing += member.stands_for;
        if (++named > most_named) continue;
        fmt::format_to(std::back_inserter(names), "{}{}", named == 1 ? "" : ", ", member.rank);
        if (member.stands_for > 1)
            fmt::format_to(std::back_inserter(names), " (or others of its host)");
    }
    return fmt::format("gradient \"{}\" waits for {} of {} ranks since {:.0f} s: {}{}",
                       printable(gradient.name), missing, ranks,
                       seconds_of(now_ns - gradient.since_ns), names,
                       named > most_named ? " and others" : "");
}

const GatheredGradient* Gathering::longest_missed() const {
    const GatheredGradient* longest = nullptr;
    for (const GatheredGradient& gradient : gradients_)
        if (gradient.missing > 0 && (longest == nullptr || gradient.since_ns < longest->since_ns))
            longest = &gradient;
    return longest;
}

std::string Gathering::missing(const GatheredGradient& gradient,
                               const std::function<int(int rank)>& name) const {
    std::vector<int> ranks;
    bool stand_for_others = false;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (gradient.has[i] != 0) continue;
        ranks.push_back(name(members_[i].rank));
        stand_for_others = stand_for_others || members_[i].stands_for > 1;
    }
    return ranks_text(ranks) + (stand_for_others ? " (or others of the host)" : "");
}

std::vector<std::string> Gathering::stalls(std::uint64_t now_ns, std::uint64_t after_ns) {
    std::vector<std::string> texts;
    for (GatheredGradient& gradient : gradients_) {
        if (gradient.missing == 0 || now_ns - gradient.told_ns < after_ns) continue;
        gradient.told_ns = now_ns;
        texts.push_back(stall_text(gradient, now_ns));
    }
    return texts;
}

}  // namespace gradcoll
