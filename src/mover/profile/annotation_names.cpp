// mover/profile/annotation_names.cpp - see aside.hpp. The names are those of PyTorch
// 1.13 to 2.15 and of Lightning 1.5 to 2.5. Accelerate has none of its own, DeepSpeed and
// Megatron-LM mark ranges for NVTX, which are not in these traces.
#include "mover/profile/aside.hpp"

#include <algorithm>
#include <array>

namespace gradcoll::mover {
namespace {

struct KnownStart {
    std::string_view start;
    Annotator annotator;
};

using enum Annotator;

/// The first start that fits counts.
constexpr std::array known_starts = {
    KnownStart{"ProfilerStep#", tool},
    KnownStart{"Optimizer.", aside},  // step#, zero_grad#
    KnownStart{"enumerate(", aside},  // DataLoader, data pipes
    // What these three make of a layer's inputs and outputs is kept for backward.
    KnownStart{"FSDP::inputs_to_device", tool},
    KnownStart{"FSDP::cast_forward_inputs", tool},
    KnownStart{"FSDP::cast_forward_outputs", tool},
    KnownStart{"FSDP::", aside},
    KnownStart{"FullyShardedDataParallel.forward", tool},
    KnownStart{"FullyShardedDataParallel.", aside},
    KnownStart{"DistributedDataParallel.", tool},
    KnownStart{"DataParallel.", tool},
    KnownStart{"torch.distributed.", tool},  // the reducer, RPC
    KnownStart{"PP:", tool},                 // an action of a pipeline schedule
    KnownStart{"[pl][profile]", tool},       // Lightning's hooks; [pl][module] are layers
    KnownStart{"Torch-Compiled Region", tool},
    KnownStart{"TorchDynamo", tool},
    KnownStart{"TORCHDYNAMO", tool},
    KnownStart{"Pregraph bytecode", tool},
    KnownStart{"AOTDispatcher ", tool},
    KnownStart{"CompiledFunction", tool},
    KnownStart{"## ", tool},  // graphs of FX and Inductor
    KnownStart{"fused_all_gather_", tool},
    KnownStart{"fused_matmul_reduce_scatter", tool},
    KnownStart{"fused_scaled_matmul_reduce_scatter", tool},
};

constexpr std::array known_ends = {std::string_view(" (dynamo_timed)"),
                                   std::string_view("_inductor_wrapper_call")};

constexpr std::array libraries = {std::string_view("c10d"), std::string_view("gloo"),
                                  std::string_view("hccl"), std::string_view("mpi"),
                                  std::string_view("nccl"), std::string_view("ucc"),
                                  std::string_view("xccl")};

/// Returns whether it is a collective or message as "gloo:all_reduce".
bool is_communication(std::string_view name) {
    const std::size_t colon = name.find(':');
    return colon != std::string_view::npos &&
           std::find(libraries.begin(), libraries.end(), name.substr(0, colon)) != libraries.end();
}

/// Returns whether it is a micro-batch of torch.distributed.pipelining, as "Forward 3".
bool is_micro_batch(std::string_view name) {
    for (const std::string_view start :
         {std::string_view("Forward "), std::string_view("Backward ")})
        if (name.starts_with(start) && name.size() > start.size())
            return name.find_first_not_of("0123456789", start.size()) == std::string_view::npos;
    return false;
}

}  // namespace

Annotator annotator_of(std::string_view name) {
    for (const KnownStart& known : known_starts)
        if (name.starts_with(known.start)) return known.annotator;
    for (const std::string_view end : known_ends)
        if (name.ends_with(end)) return tool;
    return is_communication(name) || is_micro_batch(name) ? tool : program;
}

}  // namespace gradcoll::mover
