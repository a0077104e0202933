#include "ways/tree/tree_way.hpp"

#include <utility>

namespace gradcoll {
namespace {

Status add_residual(Binding& binding, const PlannedCall& call, const BlockingExtras& extras) {
    if (extras.residual == nullptr) return {};
    GRADCOLL_TRY(extras.residual->check_fits(call));
    return take(binding.residual, extras.residual->data_for(extras.device));
}

Status run_leased(CommPlans& plans, Lease&& lease, Binding binding, const BlockingExtras& extras) {
    const Status fits = add_residual(binding, *lease.call, extras);
    binding.refusal = fits.ok() ? extras.refusal : &fits;
    return plans.run(std::move(lease), binding);
}

/// Runs the operation on host copies of vectors that are on the device; the other ranks see no
/// difference.
Status run_leased_on_copy(CommPlans& plans, Lease&& lease, Binding binding, BlockingExtras extras) {
    const CallKey& key = lease.call->key();
    const auto size_bytes = static_cast<std::size_t>(key.count) * key.elem_bytes;
    DeviceSide& side = *std::exchange(extras.device, nullptr);
    std::byte* const input = GRADCOLL_VALUE(side.staging(2 * size_bytes));
    GRADCOLL_TRY(copy_and_finish(side, input, binding.input, size_bytes));
    std::byte* const output = binding.input == binding.output ? input : input + size_bytes;
    void* const result = std::exchange(binding.output, output);
    binding.input = input;
    GRADCOLL_TRY(run_leased(plans, std::move(lease), binding, extras));
    return copy_and_finish(side, result, output, size_bytes);
}

}  // namespace

Status run_blocking(CommPlans& plans, CallKind kind, const CallKey& key, Binding binding,
                    const BlockingExtras& extras) {
    const ExecutorUse use{.waited = true, .data_device = extras.device, .host_will_do = true};
    auto lease = plans.begin(kind, key, use);
    if (!lease) return lease.status();
    const bool is_elsewhere = extras.device != nullptr && lease->executor->data_device() == nullptr;
    return is_elsewhere ? run_leased_on_copy(plans, std::move(*lease), binding, extras)
                        : run_leased(plans, std::move(*lease), binding, extras);
}

namespace {

class TreeWay final : public Way {
  public:
    explicit TreeWay(const WayParts& parts) : plans_(parts.plans) {}

    const WayInfo& info() const override { return tree_way(); }
    bool reads_devices() const override { return true; }

    Status run(const WayCall& call) override {
        Binding binding = binding_of(call.arguments, call.shape);
        binding.tolerance = call.tolerance;
        return run_blocking(plans_, CallKind::allreduce, call.key, binding,
                            {call.residual, call.device, call.refusal});
    }

  private:
    CommPlans& plans_;
};

}  // namespace

const WayInfo& tree_way() {
    static constexpr WayInfo info{.name = "tree",
                                  .says = "goes over the tree",
                                  .over_tree = true,
                                  .is_timed = true,
                                  .make = [](const WayParts& parts) -> std::unique_ptr<Way> {
                                      return std::make_unique<TreeWay>(parts);
                                  }};
    return info;
}

}  // namespace gradcoll
