// mover/files/inputs.cpp - see inputs.hpp.
#include "mover/files/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mover/input/any_form.hpp"

namespace gradcoll::mover {

namespace {

Status broken(const char* what) {
    return {Code::invalid_argument, fmt::format("measured: {}", what)};
}

Status apply(const Measured& measured, Scene& scene) {
    const std::size_t ranks = scene.program.ranks.size();
    if (measured.durations.empty()) return {};
    if (measured.durations.size() != ranks || measured.bytes_per_second.size() != ranks)
        return broken("it has not as many ranks as the strategy");
    for (std::size_t r = 0; r < ranks; ++r) {
        auto& operators = scene.program.ranks[r].operators;
        if (measured.durations[r].size() != operators.size())
            return broken("it has not as many operators as the step");
        for (std::size_t n = 0; n < operators.size(); ++n)
            operators[n].duration = measured.durations[r][n];
        auto& rate = scene.rooms.ranks[r].lane.bytes_per_second;
        rate = std::min(rate, measured.bytes_per_second[r]);
    }
    return check_longest_move(scene.program, scene.rooms);
}

}  // namespace

Result<Scene> scene_of(const Inputs& inputs) {
    Scene scene;
    scene.description.model = GRADCOLL_VALUE(model_of(inputs.model));
    scene.description.parallel = GRADCOLL_VALUE(parallel_of(inputs.parallel));
    scene.description.cluster = GRADCOLL_VALUE(cluster_of(inputs.cluster));
    scene.program = GRADCOLL_VALUE(program_of(scene.description));
    scene.rooms = GRADCOLL_VALUE(rooms_of(scene.description, scene.program, inputs.device_bytes));
    for (const RankRoom& room : scene.rooms.ranks) scene.links.push_back(room.lane);
    GRADCOLL_TRY(apply(inputs.measured, scene));
    return scene;
}

}  // namespace gradcoll::mover
