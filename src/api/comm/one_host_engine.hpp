// api/comm/one_host_engine.hpp - the memory that ranks of one host share, and the collectives in
// it. Communicators of the same processes share one (engine_pool.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "api/comm/comm_identity.hpp"
#include "api/edge/request.hpp"
#include "base/mpi/mpi.hpp"
#include "runtime/one_host/allgather.hpp"
#include "runtime/one_host/allreduce.hpp"
#include "runtime/one_host/bcast.hpp"
#include "runtime/one_host/reduce.hpp"
#include "runtime/one_host/reduce_scatter.hpp"
#include "transport/shm/segment.hpp"

namespace gradcoll {

struct Settings;

/// How the memory is cut, and which way is taken when, as the settings have it.
OneHostChoices one_host_choices(int rank_count, const Settings& settings);
/// The largest elements that there is room for then.
std::size_t one_host_element_bytes(int rank_count, const Settings& settings);

/// One of the communicators whose calls go through an engine.
struct EngineComm {
    std::uint64_t number = 0;  ///< the same on all ranks
    MPI_Comm private_comm = MPI_COMM_NULL;
};

/// While it waits, messages of the MPI library and operations that are started make progress. One
/// call at a time, and all ranks make the same calls in the same order, those of all communicators
/// together. Errors of calls: invalid_argument, on every rank, if ranks made different ones, or on
/// different communicators; more is said at OneHostAllreduce and its kin.
class OneHostEngine {
  public:
    /// Collective over the communicator. Errors, the same on every rank: those of SharedSegment.
    static Result<std::unique_ptr<OneHostEngine>> make(const CommIdentity& comm,
                                                       const OneHostChoices& choices);
    OneHostEngine(const CommIdentity& comm, std::unique_ptr<SharedSegment> segment,
                  const OneHostChoices& choices);
    OneHostEngine(const OneHostEngine&) = delete;
    OneHostEngine& operator=(const OneHostEngine&) = delete;

    /// One more, whose ranks are those of the first. All ranks add theirs in the same order.
    EngineComm add(const CommIdentity& comm) { return {++comms_, comm.private_comm()}; }

    Status allreduce(const EngineComm& comm, const Binding& binding, const CallShape& shape);
    Status barrier(const EngineComm& comm);
    /// Only the root's memory is used.
    Status bcast(const EngineComm& comm, void* data, std::size_t size_bytes, int root);
    Status reduce(const EngineComm& comm, const Binding& binding, const CallShape& shape, int root);
    Status allgather(const EngineComm& comm, const Binding& binding, std::size_t block_bytes);
    /// `shape`: of all blocks.
    Status reduce_scatter(const EngineComm& comm, const Binding& binding, const CallShape& shape);

  private:
    /// Of calls whose pieces go through all of the blocks (SegmentGroup::piece_slot).
    static constexpr std::size_t whole_blocks = std::numeric_limits<std::size_t>::max() / 2;

    std::uint64_t begin(const EngineComm& comm, std::uint64_t signature);
    std::uint64_t with_blocks_of(std::size_t bytes, std::uint64_t signature);
    Status allocate_blocks(std::size_t bytes);
    static bool go_on(void* engine);

    std::unique_ptr<SharedSegment> segment_;
    SegmentGroup group_;
    OneHostAllreduce allreduce_;
    OneHostReduce reduce_;
    OneHostBcast bcast_;
    OneHostAllgather allgather_;
    OneHostReduceScatter reduce_scatter_;
    std::size_t allocated_block_bytes_ = 0;  ///< vectors of so many bytes have all they need
    std::uint64_t comms_ = 0;
    MPI_Comm private_comm_ = MPI_COMM_NULL;  ///< of the current call
};

}  // namespace gradcoll
