// rivals.hpp - SimGrid's own allreduce algorithms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradcoll::simulate {

/// Returns the algorithms of SMPI 3.32 that serve any number of ranks or report that they do not;
/// "ompi", "mpich" and "mvapich2" choose among algorithms as those libraries do.
const std::vector<std::string>& rival_names();

/// Does MPI_Allreduce of `count` 32-bit integers (sum) with the named algorithm, as
/// --cfg=smpi/allreduce:NAME would. All ranks share both buffers: times do not depend on their
/// content, and a thousand ranks need no memory of their own. Algorithms throw for rank counts that
/// they cannot serve.
void run_rival(const std::string& name, const std::int32_t* input, std::int32_t* output,
               std::size_t count);

}  // namespace gradcoll::simulate
