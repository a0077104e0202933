// call/gradients/engine_making.hpp - how an engine is made, and what it writes of itself at the
// end.
#pragma once

#include <memory>

#include "call/gradients/engine_state.hpp"

namespace gradcoll {

/// Makes an engine. `complaint` is what this rank already knows to be wrong. Collective. Errors:
/// those of CommContext::make(), those of gc_engine_plan, and out_of_memory.
Result<std::unique_ptr<GC_Engine_s>> make_engine(MPI_Comm comm, MPI_Info info, Status complaint);

/// Tells the report what the engine did.
void report_engine(const GC_Engine_s& engine);

/// Writes how rank 0's gradients were summed, if gc_engine_plan_to names a file; other ranks write
/// nothing. Local. Errors: io.
Status write_plan(const GC_Engine_s& engine);

}  // namespace gradcoll
