// api/comm/one_host.hpp - the shared memory of a communicator whose ranks are all on one host,
// and the allreduce through it.
#pragma once

#include <cstdint>
#include <memory>

#include "api/edge/request.hpp"
#include "base/mpi/mpi.hpp"
#include "collectives/predict/tuning.hpp"
#include "runtime/executor.hpp"
#include "runtime/one_host/host_allreduce.hpp"
#include "transport/shm/segment.hpp"

namespace gradcoll {

/// What the making of an engine needs.
struct HostEngineFacts {
    MPI_Comm comm =
        MPI_COMM_NULL;  ///< private; all its ranks are on this host; outlives the engine
    std::uint64_t bytes_a_rank = 0;  ///< of shared memory, at most (gc_shm_bytes)
    bool outnumbered = false;        ///< ranks outnumber cores
    SharedMemorySizes sizes;         ///< of the tuning; 0: the built-in choice
};

/// For blocking exact calls, one at a time. While it waits, messages of the MPI library and
/// operations that are started make progress.
class HostEngine {
  public:
    /// Collective. Errors, the same on every rank: those of SharedSegment.
    static Result<std::unique_ptr<HostEngine>> make(const HostEngineFacts& facts);

    /// Collective. Allocates nothing. Errors: invalid_argument, on every rank, if ranks made
    /// different calls.
    Status allreduce(const Binding& binding, const CallShape& shape);

    HostEngine(const HostEngine&) = delete;
    HostEngine& operator=(const HostEngine&) = delete;

  private:
    HostEngine(const HostEngineFacts& facts, std::unique_ptr<SharedSegment> segment, int rank,
               int rank_count, const HostChoices& choices);
    static bool go_on(void* engine);

    MPI_Comm comm_;
    std::unique_ptr<SharedSegment> segment_;
    HostGroup group_;
    HostAllreduce allreduce_;
};

}  // namespace gradcoll
