#include "ways/codec_use.hpp"

#include <algorithm>

#include "collectives/build/planner.hpp"
#include "collectives/choose/chunk_choice.hpp"
#include "collectives/predict/forecast.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_known = 64;
/// Where all ranks of a host send at a time, messages inside it take about twice as long as the
/// model says (docs/benchmarks.md, "Codecs on one host").
constexpr double messages_inside_take = 2;

/// Returns the time of the vector through the memory of one host. An allreduce goes over it up and
/// down, other calls go one way.
double memory_us_of(const CodecQuestion& question) {
    const CallKey& key = question.key;
    const double allreduce_us =
        forecast_shared_memory(*question.settings.tuning, question.memory_ranks,
                               key.count * static_cast<std::int64_t>(key.elem_bytes))
            .total_us;
    return key.collective == Collective::allreduce ? allreduce_us : allreduce_us / 2;
}

/// Returns why a decision of the library leaves out all codecs of a call.
ExactReason reason_of_decision(const CodecQuestion& question, const PlanSpec& spec,
                               const std::vector<CodecVerdict>& levels) {
    if (!is_long_enough_for_codecs(question.tree, spec)) return ExactReason::blocks_too_short;
    return levels.empty() ? ExactReason::no_lossy_level : ExactReason::does_not_pay;
}

}  // namespace

CodecUse codec_use(const CodecQuestion& question) {
    Decision decision = decision_for(question.tree, question.settings, question.key);
    CodecUse use;
    use.levels = std::move(decision.codecs);
    use.loss_parts = loss_parts_of(question.tree, decision.spec);
    if (!is_lossy(decision.spec))
        use.left_out = reason_of_decision(question, decision.spec, use.levels);
    const bool compares = question.memory_ranks > 0 && use.left_out == ExactReason::none &&
                          question.settings.compress_if == CompressIf::pays &&
                          is_predicted(decision.spec);
    if (!compares) return use;
    use.compressed_us = messages_inside_take * decision.predicted_us;
    use.memory_us = memory_us_of(question);
    if (use.memory_us <= use.compressed_us) use.left_out = ExactReason::does_not_pay;
    return use;
}

const CodecUse* CodecUses::find(const CallKey& key) const {
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [&](const auto& one) { return one.first == key; });
    return found != known_.end() ? &found->second : nullptr;
}

const CodecUse& CodecUses::add(const CallKey& key, CodecUse use) {
    if (known_.size() < most_known) return known_.emplace_back(key, std::move(use)).second;
    auto& oldest = known_[next_++ % most_known];
    oldest = {key, std::move(use)};
    return oldest.second;
}

}  // namespace gradcoll
