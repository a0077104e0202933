// ways/agents/agent_sums.cpp - the way of allreduces whose vectors the NIC agents add
// (GC_NIC=on+sum).
#include <optional>

#include "base/clock.hpp"
#include "compress/codec.hpp"
#include "runtime/codecs_in_use.hpp"
#include "transport/vector_sums.hpp"
#include "ways/tree/call_traffic.hpp"
#include "ways/tree/comm_plans.hpp"
#include "ways/way.hpp"

namespace gradcoll {
namespace {

/// AgentSums runs allreduces in which all ranks hand their vectors to the agents of their hosts;
/// what the agents can no longer do goes over the tree. One thread at a time may use it, and every
/// rank asks and calls in the same order.
class AgentSums final : public Way {
  public:
    explicit AgentSums(const WayParts& parts)
        : settings_(parts.settings), plans_(parts.plans), statistics_(parts.statistics) {}

    const WayInfo& info() const override { return agents_way(); }
    WayOffer foreseen(const WayQuestion& question) const override;
    /// Errors: transport; peer_failed on all ranks if one refuses; those of the plan.
    Status run(const WayCall& call) override;
    void know_tree(const std::shared_ptr<const DiscoveredTree>& tree) override { tree_ = tree; }

  private:
    Result<std::optional<Codec>> codec_of(const CallKey& key);
    Status run_over_tree(const Binding& binding, const CallKey& key);

    const CommSettings& settings_;
    CommPlans& plans_;
    CommStatistics& statistics_;
    std::shared_ptr<const DiscoveredTree> tree_;  ///< the tree that the rest goes over
};

WayOffer AgentSums::foreseen(const WayQuestion& question) const {
    if (question.kind != CallKind::allreduce) return {};
    const CallShape& shape = question.shape;
    Channel* const channel = plans_.channel();
    const VectorSums* const sums = channel != nullptr ? channel->vector_sums() : nullptr;
    const Settings& settings = settings_.current();
    if (sums == nullptr || settings.check_sums || shape.by_mpi() ||
        !sums->takes(shape.type, shape.size_bytes()))
        return {};
    return {!settings.reproducible, sums->takes_codecs()};
}

Status AgentSums::run(const WayCall& call) {
    const CallShape& shape = call.shape;
    const Status* const refusal = call.refusal;
    const std::uint64_t begin_ns = statistics_.is_observed() ? now_ns() : 0;
    Binding binding = binding_of(call.arguments, shape);
    binding.refusal = refusal;
    binding.tolerance = call.tolerance;
    VectorSums& sums = *plans_.channel()->vector_sums();
    std::optional<Codec> codec = GRADCOLL_VALUE(codec_of(call.key));
    if (codec) tell_tolerance(*codec, call.tolerance / sums.encodings());
    const SumOutcome outcome =
        GRADCOLL_VALUE(sums.sum({.input = static_cast<const std::byte*>(binding.input),
                                 .output = static_cast<std::byte*>(binding.output),
                                 .count = static_cast<std::size_t>(shape.count),
                                 .type = shape.type,
                                 .op = shape.op,
                                 .codec = codec ? &*codec : nullptr,
                                 .refusal = refusal != nullptr ? refusal->code() : Code::ok}));
    if (refusal != nullptr) return *refusal;
    if (outcome.refusal) return told(*outcome.refusal);
    if (outcome.done < static_cast<std::size_t>(shape.count)) {
        const std::size_t done_bytes = outcome.done * shape.elem_bytes;
        CallKey rest = call.key;
        rest.count -= static_cast<std::int64_t>(outcome.done);
        rest.in_place = binding.input == binding.output;
        binding.input = static_cast<const std::byte*>(binding.input) + done_bytes;
        binding.output = static_cast<std::byte*>(binding.output) + done_bytes;
        return run_over_tree(binding, rest);
    }
    CallRecord record;
    record.bytes = shape.size_bytes();
    record.bytes_sent = outcome.sent_bytes;
    record.bytes_sent_exact = outcome.sent_exact_bytes;
    record.lossy = codec.has_value();
    record.agents = codec ? "added and encoded" : "added";
    if (begin_ns != 0) record.total_ns = record.wire_ns = now_ns() - begin_ns;
    statistics_.count_served(record);
    return {};
}

/// Returns the codec of the plan of such calls, which is kept; nothing if the plan is exact.
Result<std::optional<Codec>> AgentSums::codec_of(const CallKey& key) {
    if (!key.compress) return std::optional<Codec>();
    const auto planned = GRADCOLL_VALUE(plans_.planned(key));
    const CodecId id = lossy_codec_of(tree_->tree, planned->plan().spec);
    if (id == CodecId::exact) return std::optional<Codec>();
    return std::optional<Codec>(GRADCOLL_VALUE(codec_for(id, key.type)));
}

/// Runs over the tree what the agents did not do, and counts it as a call of its own.
Status AgentSums::run_over_tree(const Binding& binding, const CallKey& key) {
    Lease lease = GRADCOLL_VALUE(plans_.begin(CallKind::allreduce, key, {.waited = true}));
    return plans_.run(std::move(lease), binding);
}

}  // namespace

const WayInfo& agents_way() {
    static constexpr WayInfo info{.name = "agents",
                                  .says = "is added by the NIC agents of the hosts",
                                  .over_tree = true,
                                  .is_timed = false,
                                  .make = [](const WayParts& parts) -> std::unique_ptr<Way> {
                                      return std::make_unique<AgentSums>(parts);
                                  }};
    return info;
}

}  // namespace gradcoll
