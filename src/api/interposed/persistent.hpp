// api/interposed/persistent.hpp - MPI_Allreduce_init of unchanged programs, and the starts and the
// end of such requests.
#pragma once

#include "base/interposer_table.h"

namespace gradcoll {

int offer_allreduce_init(const GC_Reduce_call* call, GC_Handle info, void* request,
                         int* code) noexcept;
/// After MPI has started `count` requests.
void requests_started(int count, const void* handles) noexcept;
/// Before MPI frees the request.
void request_freeing(const void* handle) noexcept;

}  // namespace gradcoll
