// mover/analysis/rank_builder.cpp - see rank_builder.hpp.
#include "mover/analysis/rank_builder.hpp"

#include <algorithm>

namespace gradcoll::mover {
namespace {

/// The tensor of a layer's input has this number instead of that of a part.
constexpr std::int32_t of_input = -1;

}  // namespace

RankBuilder::RankBuilder(const StepParts& parts, std::vector<std::string>& tensor_names,
                         std::int32_t rank)
    : parts_(parts), tensor_names_(tensor_names), rank_(rank) {
    for (std::size_t n = 0; n < tensor_names_.size(); ++n)
        names_.emplace(tensor_names_[n], static_cast<std::int32_t>(n));
    for (std::int64_t chunk = 0; chunk < parts_.parallel.virtual_stages; ++chunk) {
        const auto& stage =
            parts_.stages[static_cast<std::size_t>(chunk * parts_.parallel.pipeline + rank)];
        own_layers_.insert(own_layers_.end(), stage.begin(), stage.end());
    }
}

RankProgram RankBuilder::build() {
    add_states();
    add_buffers();
    for (const Pass& pass : passes_of(parts_.parallel, rank_)) add_pass(pass);
    if (replicas(parts_.parallel) > 1) add_reduces();
    add_updates();
    return std::move(out_);
}

std::int32_t RankBuilder::last_of(const Pass& pass) const {
    return last_.at({pass.forward, pass.chunk, pass.micro_batch});
}

const DeviceLayer& RankBuilder::layer_at(std::int32_t layer) const {
    return parts_.layers[static_cast<std::size_t>(layer)];
}

std::vector<std::int32_t>& RankBuilder::kept_of(std::int32_t layer, std::int32_t micro_batch,
                                                std::int32_t part) {
    return kept_[{layer, micro_batch, part}];
}

bool RankBuilder::is_recomputed(const DeviceLayer& layer) const {
    return parts_.parallel.recompute == Recompute::full && layer.recomputable;
}

bool RankBuilder::is_kept(const KeptPart& kept) const {
    return kept.bytes > 0 && !(kept.core && parts_.parallel.recompute == Recompute::selective);
}

std::int32_t RankBuilder::name_of_tensor(const std::string& name) {
    const auto [known, fresh] =
        names_.emplace(name, static_cast<std::int32_t>(tensor_names_.size()));
    if (fresh) tensor_names_.push_back(name);
    return known->second;
}

std::int32_t RankBuilder::add_operator(Operator op) {
    out_.operators.push_back(op);
    return static_cast<std::int32_t>(out_.operators.size()) - 1;
}

std::int32_t RankBuilder::add_tensor(DeviceTensor tensor) {
    out_.tensors.push_back(std::move(tensor));
    return static_cast<std::int32_t>(out_.tensors.size()) - 1;
}

/// Adds the operator to the tensor's uses. A layer with several parts uses its parameters again
/// and again, also for each micro-batch; an operator counts once.
void RankBuilder::use(std::int32_t tensor, std::int32_t op) {
    if (tensor < 0) return;
    auto& uses = out_.tensors[static_cast<std::size_t>(tensor)].uses;
    if (uses.empty() || uses.back() != op) uses.push_back(op);
}

std::int64_t RankBuilder::shared(const DeviceLayer& layer, std::int64_t number_bytes,
                                 int from_stage) const {
    const Parallel& parallel = parts_.parallel;
    if (parallel.zero < from_stage) return layer.parameters * number_bytes;
    const std::int64_t dense = layer.parameters - layer.of_experts;
    return divided_up(dense * number_bytes, replicas(parallel)) +
           divided_up(layer.of_experts * number_bytes, replicas(parallel) / parallel.expert);
}

double RankBuilder::summed_bytes(const DeviceLayer& layer, std::int64_t number_bytes) const {
    const auto of_group = [&](std::int64_t numbers, std::int64_t ranks) {
        return 2 * static_cast<double>(numbers * number_bytes) * static_cast<double>(ranks - 1) /
               static_cast<double>(ranks);
    };
    const std::int64_t ranks = replicas(parts_.parallel);
    return of_group(layer.parameters - layer.of_experts, ranks) +
           of_group(layer.of_experts, ranks / parts_.parallel.expert);
}

std::int32_t RankBuilder::add_state(MemoryKind kind, std::int32_t layer, std::int64_t bytes) {
    if (bytes == 0) return -1;
    return add_tensor({.kind = kind,
                       .stays = true,
                       .layer = layer,
                       .name = name_of_tensor(std::string(name_of(kind))),
                       .bytes = bytes});
}

void RankBuilder::add_states() {
    const Parallel& parallel = parts_.parallel;
    for (const std::int32_t layer : own_layers_) {
        const DeviceLayer& described = layer_at(layer);
        State& state = states_[layer];
        state.parameters = add_state(MemoryKind::parameters, layer,
                                     shared(described, parallel.parameter_bytes, 3));
        state.gradients =
            add_state(MemoryKind::gradients, layer, shared(described, parallel.gradient_bytes, 2));
        state.optimizer =
            add_state(MemoryKind::optimizer, layer, shared(described, parallel.optimizer_bytes, 1));
    }
}

void RankBuilder::add_buffers() {
    const Parallel& parallel = parts_.parallel;
    add_state(MemoryKind::buffers, -1, parallel.collective_buffer_bytes);
    // Each neighbour's messages have a buffer.
    if (parallel.pipeline > 1) add_state(MemoryKind::buffers, -1, 2 * parts_.boundary_bytes);
    // The next layer is gathered while this one is at work.
    std::int64_t largest = 0;
    for (const std::int32_t layer : own_layers_)
        largest = std::max(largest, gathered_bytes(layer_at(layer), false));
    add_state(MemoryKind::buffers, -1, largest);
}

std::int64_t RankBuilder::gathered_bytes(const DeviceLayer& layer, bool backward) const {
    const Parallel& parallel = parts_.parallel;
    const std::int64_t ranks = replicas(parallel);
    const std::int64_t numbers = (ranks > 1 ? layer.parameters - layer.of_experts : 0) +
                                 (ranks > parallel.expert ? layer.of_experts : 0);
    std::int64_t bytes = 0;
    if (parallel.zero >= 3) bytes += numbers * parallel.parameter_bytes;
    if (parallel.zero >= 2 && backward) bytes += numbers * parallel.gradient_bytes;
    return bytes;
}

/// Returns the longer of `duration` and the time to gather the next layer meanwhile.
Tick RankBuilder::with_gather(const DeviceLayer& layer, Tick duration) const {
    const Parallel& parallel = parts_.parallel;
    if (parallel.zero < 3 || replicas(parallel) == 1) return duration;
    const double bytes = summed_bytes(layer, parallel.parameter_bytes) / 2;
    double rate = parts_.cluster.network_gbytes_per_s * 1e9;
    if (gathers_over_link(parallel, parts_.cluster))
        rate = std::min(rate, both_ways_rate(moving_lane(parallel, parts_.cluster)));
    const double seconds = bytes / rate / static_cast<double>(layer.parts.size());
    return std::max(duration, ticks_of_seconds(seconds));
}

/// Returns at how many bytes a second a collective sends while it receives as many.
double RankBuilder::both_ways_rate(const Lane& lane) const {
    return static_cast<double>(lane.bytes_per_second) / (parts_.cluster.link_both_ways ? 1 : 2);
}

void RankBuilder::add_pass(const Pass& pass) {
    const auto stage = pass.chunk * static_cast<std::int32_t>(parts_.parallel.pipeline) + rank_;
    std::vector<std::int32_t> layers = parts_.stages[static_cast<std::size_t>(stage)];
    const auto first = static_cast<std::int32_t>(out_.operators.size());
    if (!pass.forward) std::reverse(layers.begin(), layers.end());
    for (const std::int32_t layer : layers) {
        if (pass.forward) {
            forward(layer, pass.micro_batch);
            continue;
        }
        if (is_recomputed(layer_at(layer))) recompute(layer, pass.micro_batch);
        backward(layer, pass.micro_batch);
    }
    const auto last = static_cast<std::int32_t>(out_.operators.size()) - 1;
    passes_.push_back({pass, first});
    last_[{pass.forward, pass.chunk, pass.micro_batch}] = last;
}

/// Adds what a part keeps: activations, or, if the layer is recomputed, what is made again just
/// before backward.
void RankBuilder::make_kept(std::int32_t layer, std::int32_t micro_batch, std::int32_t part,
                            std::int32_t op) {
    const DeviceLayer& described = layer_at(layer);
    const LayerPart& from = described.parts[static_cast<std::size_t>(part)];
    const MemoryKind kind =
        is_recomputed(described) ? MemoryKind::recomputed : MemoryKind::activations;
    for (const KeptPart& kept : from.kept)
        if (is_kept(kept))
            kept_of(layer, micro_batch, part)
                .push_back(add_tensor({.kind = kind,
                                       .layer = layer,
                                       .micro_batch = micro_batch,
                                       .name = name_of_tensor(from.name + "." + kept.name),
                                       .bytes = kept.bytes,
                                       .uses = {op}}));
}

/// Adds a part's forward operator with what it uses, also when forward is done again.
std::int32_t RankBuilder::add_forward_of_part(OperatorKind kind, std::int32_t layer,
                                              std::int32_t micro_batch, std::int32_t part) {
    const DeviceLayer& described = layer_at(layer);
    const LayerPart& from = described.parts[static_cast<std::size_t>(part)];
    const std::int32_t op =
        add_operator({.kind = kind,
                      .layer = layer,
                      .part = part,
                      .micro_batch = micro_batch,
                      .duration = with_gather(described, from.forward),
                      .workspace_bytes = from.workspace_bytes + gathered_bytes(described, false)});
    use(states_[layer].parameters, op);
    return op;
}

void RankBuilder::forward(std::int32_t layer, std::int32_t micro_batch) {
    const DeviceLayer& described = layer_at(layer);
    for (std::size_t p = 0; p < described.parts.size(); ++p) {
        const auto number = static_cast<std::int32_t>(p);
        const std::int32_t op =
            add_forward_of_part(OperatorKind::forward, layer, micro_batch, number);
        if (!is_recomputed(described)) make_kept(layer, micro_batch, number, op);
        if (is_recomputed(described) && p == 0 && described.input_bytes > 0)
            kept_of(layer, micro_batch, of_input)
                .push_back(add_tensor({.kind = MemoryKind::activations,
                                       .layer = layer,
                                       .micro_batch = micro_batch,
                                       .name = name_of_tensor("input"),
                                       .bytes = described.input_bytes,
                                       .uses = {op}}));
    }
}

void RankBuilder::recompute(std::int32_t layer, std::int32_t micro_batch) {
    const DeviceLayer& described = layer_at(layer);
    for (std::size_t p = 0; p < described.parts.size(); ++p) {
        const auto number = static_cast<std::int32_t>(p);
        const std::int32_t op =
            add_forward_of_part(OperatorKind::recompute, layer, micro_batch, number);
        if (p == 0)
            for (const std::int32_t input : kept_of(layer, micro_batch, of_input)) use(input, op);
        make_kept(layer, micro_batch, number, op);
    }
}

void RankBuilder::backward(std::int32_t layer, std::int32_t micro_batch) {
    const DeviceLayer& described = layer_at(layer);
    const bool selective = parts_.parallel.recompute == Recompute::selective;
    for (std::size_t p = described.parts.size(); p-- > 0;) {
        const LayerPart& part = described.parts[p];
        std::int64_t workspace = part.backward_workspace_bytes + gathered_bytes(described, true);
        bool again = false;
        for (const KeptPart& kept : part.kept)
            if (selective && kept.core) {
                workspace += kept.bytes;
                again = true;
            }
        const std::int32_t op = add_operator(
            {.kind = OperatorKind::backward,
             .layer = layer,
             .part = static_cast<std::int32_t>(p),
             .micro_batch = micro_batch,
             .duration = with_gather(described, part.backward + (again ? part.core_forward : 0)),
             .workspace_bytes = workspace});
        use(states_[layer].parameters, op);
        use(states_[layer].gradients, op);
        for (const std::int32_t kept : kept_of(layer, micro_batch, static_cast<std::int32_t>(p)))
            use(kept, op);
    }
}

/// Adds the operators that sum gradients, or scatter sums and gather parameters, which takes the
/// same bytes. They follow the order in which backward ends; the latency of their messages is
/// counted once for all.
void RankBuilder::add_reduces() {
    const Parallel& parallel = parts_.parallel;
    const Cluster& cluster = parts_.cluster;
    const bool holds_lane =
        parallel.reduce_in_host ? cluster.host_memory_gbytes_per_s > 0 : cluster.network_over_link;
    double rate = cluster.network_gbytes_per_s * 1e9;
    if (holds_lane) rate = std::min(rate, both_ways_rate(lane_of(cluster)));
    const auto ranks = static_cast<double>(replicas(parallel));
    double latency = 2 * (ranks - 1) * cluster.network_latency_us * 1e-6;
    for (auto layer = own_layers_.rbegin(); layer != own_layers_.rend(); ++layer) {
        const double bytes = summed_bytes(layer_at(*layer), parallel.gradient_bytes);
        if (bytes == 0) continue;
        const double seconds = bytes / rate;
        const std::int32_t op = add_operator({.kind = OperatorKind::reduce,
                                              .layer = *layer,
                                              .micro_batch = -1,
                                              .duration = ticks_of_seconds(seconds + latency),
                                              .holds_lane = holds_lane});
        latency = 0;
        const std::int32_t gradients = states_[*layer].gradients;
        if (parallel.reduce_in_host)
            out_.tensors[static_cast<std::size_t>(gradients)].host_use = op;
        else
            use(gradients, op);
    }
}

/// Adds the optimizer's operators: each reads and writes all numbers of a layer's state.
void RankBuilder::add_updates() {
    for (const std::int32_t layer : own_layers_) {
        const State& state = states_[layer];
        double bytes = 0;
        for (const std::int32_t tensor : {state.parameters, state.gradients, state.optimizer})
            if (tensor >= 0)
                bytes +=
                    2.0 * static_cast<double>(out_.tensors[static_cast<std::size_t>(tensor)].bytes);
        if (bytes == 0) continue;
        const std::int32_t op =
            add_operator({.kind = OperatorKind::update,
                          .layer = layer,
                          .micro_batch = -1,
                          .duration = roofline_ticks(parts_.cluster, 0, bytes)});
        for (const std::int32_t tensor : {state.parameters, state.gradients, state.optimizer})
            use(tensor, op);
    }
}

}  // namespace gradcoll::mover
