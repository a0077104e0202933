// mover/input/any_form.cpp - see any_form.hpp.
#include "mover/input/any_form.hpp"

#include "mover/input/frameworks.hpp"
#include "mover/input/other_tools.hpp"

namespace gradcoll::mover {

Result<Model> model_of(const Document& document) {
    if (document.json.is_object() && document.json.contains("model_type"))
        return model_of_hugging_face(document);
    if (is_calculon_model(document.json)) return model_of_calculon(document);
    if (is_vtrain(document.json)) return model_of_vtrain(document);
    return own_model(document);
}

Result<Parallel> parallel_of(const Document& document) {
    if (is_calculon_parallel(document.json)) return parallel_of_calculon(document);
    if (is_vtrain(document.json)) return parallel_of_vtrain(document);
    if (is_deepspeed(document.json)) return parallel_of_deepspeed(document);
    if (is_megatron(document.json)) return parallel_of_megatron(document);
    return own_parallel(document);
}

Result<Cluster> cluster_of(const Document& document) {
    if (is_calculon_cluster(document.json)) return cluster_of_calculon(document);
    if (is_vtrain(document.json)) return cluster_of_vtrain(document);
    return own_cluster(document);
}

}  // namespace gradcoll::mover
