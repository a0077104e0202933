// mover/input/deepspeed.cpp - see frameworks.hpp. Facts of the format: DeepSpeed 0.19's
// runtime/config.py, runtime/zero/config.py and the types that runtime/engine.py chooses.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mover/input/frameworks.hpp"
#include "mover/input/other_tools.hpp"

namespace gradcoll::mover {
namespace {

constexpr std::string_view batch_key = "train_batch_size";
constexpr std::string_view micro_key = "train_micro_batch_size_per_gpu";
constexpr std::string_view steps_key = "gradient_accumulation_steps";
constexpr std::string_view devices_key = "world_size";

/// Section reads an inner object; if it is missing, it reads an empty one.
class Section {
  public:
    Section(Fields& outer, std::string_view key)
        : outer_(outer), in_(json_at(outer, key), outer.origin(), outer.pointer_to(key)) {}
    ~Section() { outer_.fault(in_.done_ignoring_others()); }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

    Fields& fields() { return in_; }

  private:
    static const nlohmann::json& json_at(Fields& outer, std::string_view key) {
        static const nlohmann::json none = nlohmann::json::object();
        const nlohmann::json* found = outer.inner(key);
        return found != nullptr ? *found : none;
    }

    Fields& outer_;
    Fields in_;
};

bool is_enabled(Fields& outer, std::string_view key) {
    bool enabled = false;
    Section section(outer, key);
    section.fields().flag("enabled", enabled);
    return enabled;
}

void refuse_enabled(Fields& outer, std::string_view key, std::string_view why) {
    Section section(outer, key);
    refuse_other(section.fields(), {"enabled", "false", why});
}

void read_deepspeed_offload(Fields& zero, std::string_view key) {
    Section section(zero, key);
    bool known = true;
    section.fields().word<bool>("device", {{"none", true}, {"cpu", true}}, known);
}

void read_deepspeed_zero(Fields& outer, Parallel& out) {
    Section section(outer, "zero_optimization");
    Fields& in = section.fields();
    in.integer("stage", 0, 3, out.zero);
    read_deepspeed_offload(in, "offload_optimizer");
    read_deepspeed_offload(in, "offload_param");
    static constexpr std::array refused = {
        RefusedKey{"zero_hpz_partition_size", "1", "allowed is 1: there is one copy of shards"},
        RefusedKey{"mics_shard_size", "-1", "allowed is -1: all data-parallel ranks share states"},
        RefusedKey{"zenflow", "null", "allowed is null: updates follow the step's last backward"}};
    for (const RefusedKey& key : refused) refuse_other(in, key);
}

/// Reads what an optimizer keeps for a parameter, in 32-bit numbers.
std::int64_t states_of_optimizer(Fields& outer) {
    std::int64_t states = 2;  // that of a program is taken for Adam
    Section section(outer, "optimizer");
    // DeepSpeed compares these words in lower case.
    std::string type;
    section.fields().text("type", type);
    std::transform(type.begin(), type.end(), type.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (type == "lion" || type == "adagrad")
        states = 1;
    else if (!type.empty() && type != "adam" && type != "adamw" && type != "lamb" &&
             type != "fusedadam" && type != "cpuadam" && type != "onebitadam" &&
             type != "onebitlamb" && type != "zerooneadam")
        section.fields().wrong("type",
                               "allowed are Adam, AdamW, Lamb, Lion, Adagrad, OneBitAdam, "
                               "OneBitLamb, ZeroOneAdam");
    return states;
}

void read_deepspeed_types(Fields& in, Parallel& out) {
    const bool half = is_enabled(in, "fp16"), brain = is_enabled(in, "bf16");
    if (half && brain) in.wrong("bf16", "allowed is one of fp16 and bf16");
    for (const char* section : {"fp16", "bf16"}) {
        Section inner(in, section);
        for (const char* key : {"fp16_master_weights_and_grads", "bf16_master_weights_and_grads",
                                "bf16_optimizer_states"})
            refuse_other(inner.fields(), {key, "false", "allowed is false: copies have 32 bits"});
    }
    refuse_enabled(in, "amp", "allowed is false: types are those of fp16 and bf16");
    refuse_enabled(in, "torch_autocast", "allowed is false: types are those of fp16 and bf16");
    const bool sixteen_bits = half || brain;
    out.parameter_bytes = sixteen_bits ? 2 : 4;
    out.gradient_bytes = out.parameter_bytes;
    Section types(in, "data_types");
    types.fields().word<std::int64_t>("grad_accum_dtype", {{"fp32", 4}, {"fp16", 2}, {"bf16", 2}},
                                      out.gradient_bytes);
    out.optimizer_bytes = 4 * states_of_optimizer(in) + (sixteen_bits ? 4 : 0);
}

/// Reads the three sizes, of which DeepSpeed finds two or one by the number of devices.
void read_deepspeed_batches(Fields& in, Parallel& out) {
    constexpr std::int64_t most_samples = std::int64_t{1} << 32;
    std::int64_t batch = 0, micro = 0, steps = 0, devices = 0;
    in.integer(batch_key, 1, most_samples, batch);
    in.integer(micro_key, 1, most_micro_batches, micro);
    in.integer(steps_key, 1, most_micro_batches, steps);
    in.integer(devices_key, 1, 1 << 20, devices);
    if (!in.done_ignoring_others().ok()) return;
    if (batch == 0 && micro == 0) return in.require({micro_key});
    if (devices > 0) {
        const std::int64_t of_a_sample = out.tensor * out.context;
        out.data = devices / of_a_sample;
        if (devices % of_a_sample != 0)
            return in.wrong(devices_key, fmt::format("allowed are multiples of autotp_size and "
                                                     "sequence_parallel_size, {}",
                                                     of_a_sample));
    } else if (batch > 0 && micro > 0 && steps > 0) {
        out.data = batch / (micro * steps);
        if (batch % (micro * steps) != 0)
            return in.wrong(batch_key, fmt::format("allowed are multiples of {} * {}, {}",
                                                   micro_key, steps_key, micro * steps));
    } else {
        return in.wrong(devices_key, fmt::format("allowed is the number of devices, which has to "
                                                 "be added, or all of {}, {} and {}",
                                                 batch_key, micro_key, steps_key));
    }
    if (steps == 0)
        steps = micro > 0 && batch > 0 ? std::max<std::int64_t>(1, batch / (micro * out.data)) : 1;
    if (micro == 0)
        micro = std::clamp<std::int64_t>(batch / (steps * out.data), 1, most_micro_batches);
    out.micro_batch_size = micro;
    out.micro_batches = steps;
    if (batch > 0 && batch != micro * steps * out.data)
        in.wrong(batch_key, fmt::format("allowed is {}: {} * {} * {} data-parallel ranks",
                                        micro * steps * out.data, micro, steps, out.data));
}

}  // namespace

void refuse_other(Fields& in, const RefusedKey& refused) {
    const nlohmann::json* found = in.inner(refused.key);
    if (found != nullptr && *found != nlohmann::json::parse(refused.followed))
        in.wrong(refused.key, std::string(refused.allowed));
}

bool is_deepspeed(const nlohmann::json& json) {
    return json.is_object() && (json.contains(batch_key) || json.contains(micro_key) ||
                                json.contains("zero_optimization"));
}

Result<Parallel> parallel_of_deepspeed(const Document& document) {
    Parallel out;
    Fields in(document.json, document.origin);
    {
        Section tensor(in, "tensor_parallel");
        tensor.fields().integer("autotp_size", 1, 1 << 16, out.tensor);
    }
    read_deepspeed_zero(in, out);
    read_deepspeed_types(in, out);
    if (in.has("activation_checkpointing")) {
        out.recompute = Recompute::full;
        Section checkpoints(in, "activation_checkpointing");
        if (out.tensor > 1)
            refuse_other(checkpoints.fields(),
                         {"partition_activations", "false",
                          "allowed is false: tensor-parallel ranks have whole inputs of layers"});
    }
    refuse_enabled(in, "elasticity", "allowed is false: it chooses batches for devices it finds");
    refuse_enabled(in, "autotuning", "allowed is false: it chooses the other settings");
    in.integer("sequence_parallel_size", 1, 1 << 16, out.context);
    out.context_by_heads = out.context > 1;
    read_deepspeed_batches(in, out);
    GRADCOLL_TRY(in.done_ignoring_others());
    check_parallel(in, {devices_key, devices_key, steps_key, devices_key}, out);
    GRADCOLL_TRY(in.done_ignoring_others());
    return out;
}

}  // namespace gradcoll::mover
