// agreement.cpp - runs the negotiation of an engine over SMPI.
#include "agreement.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "engine/negotiation.hpp"
#include "models.hpp"
#include "smpi_lane.hpp"

namespace gradcoll::simulate {

/// A Member is what one rank keeps from step to step.
struct Agreement::Member {
    SmpiChannel channel;
    std::unique_ptr<Negotiation> negotiation;
    std::unordered_map<std::string, std::uint32_t> numbers;  ///< by name
};

namespace {

const std::vector<Parameter>& gradients() {
    static const std::vector<Parameter> all = resnet50();
    return all;
}

/// Makes a record as an engine does: it sends the shape's text once, the name until there is a
/// number, and the number alone from then on.
Ready ready_of(const Parameter& gradient, int rank,
               const std::unordered_map<std::string, std::uint32_t>& numbers) {
    Ready ready;
    ready.rank = rank;
    ready.bytes = gradient.count * 4;
    ready.shape = gradient.count;
    if (const auto known = numbers.find(gradient.name); known != numbers.end()) {
        ready.number = known->second;
        ready.as_before = true;
    } else {
        ready.name = gradient.name;
        ready.shape_text = fmt::format("{} elements of fp32, sum, exact", gradient.count);
    }
    return ready;
}

Result<std::size_t> hear_all(Negotiation& negotiation,
                             std::unordered_map<std::string, std::uint32_t>& numbers) {
    std::size_t heard = 0;
    Verdict verdict;
    while (GRADCOLL_VALUE(negotiation.hear(verdict))) {
        if (!verdict.error.empty()) return Status(Code::internal, verdict.error);
        if (!verdict.name.empty()) numbers.emplace(verdict.name, verdict.number);
        ++heard;
    }
    return heard;
}

}  // namespace

const std::vector<std::string>& agreement_names() {
    static const std::vector<std::string> names{"agree", "agree-hosts"};
    return names;
}

Agreement::Agreement(const Tree& tree, const std::string& name)
    : tree_(tree),
      by_hosts_(name == agreement_names()[1]),
      members_(static_cast<std::size_t>(tree.rank_count())) {}

Agreement::~Agreement() = default;

std::string Agreement::run_step(int rank) {
    auto& member = members_[static_cast<std::size_t>(rank)];
    const bool is_first = member == nullptr;
    const auto run = [&]() -> Status {
        if (is_first) {
            member = std::make_unique<Member>();
            Circle circle =
                by_hosts_ ? circle_of_hosts(tree_, rank) : flat_circle(rank, tree_.rank_count());
            GRADCOLL_TRY(take(member->negotiation,
                              Negotiation::make(member->channel, std::move(circle), 0, false)));
        }
        Negotiation& negotiation = *member->negotiation;
        const std::uint64_t told_before = negotiation.bytes_sent();
        for (const Parameter& gradient : gradients())
            GRADCOLL_TRY(negotiation.say(ready_of(gradient, rank, member->numbers), 0));
        for (std::size_t heard = 0; heard < gradients().size() || !negotiation.is_settled();) {
            for (std::size_t i = 0; i < gradients().size(); ++i) negotiation.release(UINT64_MAX);
            const bool went_on = GRADCOLL_VALUE(negotiation.advance(0));
            const std::size_t now = GRADCOLL_VALUE(hear_all(negotiation, member->numbers));
            heard += now;
            if (!went_on && now == 0) member->channel.block();
        }
        if (!is_first) bytes_told_ += negotiation.bytes_sent() - told_before;
        return {};
    };
    const Status status = run();
    return status.ok() ? std::string() : fmt::format("rank {}: {}", rank, status.message());
}

void Agreement::end(int rank) {
    members_[static_cast<std::size_t>(rank)].reset();
}

}  // namespace gradcoll::simulate
