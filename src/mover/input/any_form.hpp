// mover/input/any_form.hpp - reads model, strategy and cluster in any known form; the keys of a
// document tell its form. Errors: invalid_argument with file, place, value and what is allowed.
#pragma once

#include "mover/input/cluster.hpp"
#include "mover/input/model.hpp"
#include "mover/input/parallel.hpp"

namespace gradcoll::mover {

Result<Model> model_of(const Document& document);
Result<Parallel> parallel_of(const Document& document);
Result<Cluster> cluster_of(const Document& document);

}  // namespace gradcoll::mover
