// base/build_facts.hpp - what this build is, as it was configured. It has no times, so that equal
// sources give equal libraries.
#pragma once

namespace gradcoll::build_facts {

extern const char* const version;
extern const char* const revision;
extern const char* const build_type;
extern const char* const compiler;
extern const char* const sanitizers;
extern const bool has_cuda_kernels;

}  // namespace gradcoll::build_facts
