// mover/program/program.cpp - see program.hpp.
#include "mover/program/program.hpp"

#include <fmt/format.h>

#include <array>

namespace gradcoll::mover {
namespace {

std::string of_micro_batch(std::int32_t micro_batch) {
    return micro_batch < 0 ? std::string() : fmt::format(", micro-batch {}", micro_batch);
}

std::string layer_name(const Program& program, std::int32_t layer) {
    return layer < 0 ? "all layers" : program.layer_names[static_cast<std::size_t>(layer)];
}

}  // namespace

std::string_view name_of(OperatorKind kind) {
    static constexpr std::array<std::string_view, 5> names = {"forward", "recompute", "backward",
                                                              "reduce", "update"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(MemoryKind kind) {
    static constexpr std::array<std::string_view, memory_kinds> names = {
        "parameters", "gradients", "optimizer", "activations",
        "recomputed", "buffers",   "workspace"};
    return names[static_cast<std::size_t>(kind)];
}

std::string label_of(const Program& program, const Operator& op) {
    return fmt::format("{} {}, part {}{}", name_of(op.kind), layer_name(program, op.layer), op.part,
                       of_micro_batch(op.micro_batch));
}

std::string label_of(const Program& program, const DeviceTensor& tensor) {
    return fmt::format("{} {}{}", layer_name(program, tensor.layer),
                       program.tensor_names[static_cast<std::size_t>(tensor.name)],
                       of_micro_batch(tensor.micro_batch));
}

}  // namespace gradcoll::mover
