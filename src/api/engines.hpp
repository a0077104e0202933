// api/engines.hpp - the engines of the process, for calls that end the use of their communicators.
#pragma once

namespace gradcoll {

/// Ends the sums of engines of which a rank is known to have died, and returns when no thread of
/// theirs calls MPI: agreements of Open MPI 5.0.11 go wrong otherwise (docs/gotchas.md).
void retire_engines_of_the_dead();

}  // namespace gradcoll
