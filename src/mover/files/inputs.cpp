// mover/files/inputs.cpp - see inputs.hpp.
#include "mover/files/inputs.hpp"

#include "mover/input/any_form.hpp"

namespace gradcoll::mover {

Result<Scene> scene_of(const Inputs& inputs) {
    Scene scene;
    scene.description.model = GRADCOLL_VALUE(model_of(inputs.model));
    scene.description.parallel = GRADCOLL_VALUE(parallel_of(inputs.parallel));
    scene.description.cluster = GRADCOLL_VALUE(cluster_of(inputs.cluster));
    scene.program = GRADCOLL_VALUE(program_of(scene.description));
    scene.rooms = GRADCOLL_VALUE(rooms_of(scene.description, scene.program, inputs.device_bytes));
    return scene;
}

}  // namespace gradcoll::mover
