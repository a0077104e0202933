// ways/known_way.hpp - where exact allreduces of a communicator went, for the next ones like
// them: most programs repeat a few calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi/request.hpp"
#include "ways/tree/call_decision.hpp"

namespace gradcoll {

class PlannedCall;

/// What vectors of one type and op have in common, within bounds of their size.
struct KnownWay {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    std::uint64_t least_bytes = 0;
    std::uint64_t end_bytes = 0;  ///< vectors of so many bytes and more may go elsewhere
    PassReason pass_reason = PassReason::none;  ///< none: served
    bool one_host = false;                      ///< through shared memory
    bool hosts = false;  ///< through the memory of each host; neither: over the tree
    CallShape shape;     ///< its count is that of the last call
    CallKey key;         ///< of the tree; its count and `in_place` are those of `planned`
    std::shared_ptr<PlannedCall> planned;  ///< the last call over the tree; null: none yet
};

/// The last few. For blocking calls, which are made one at a time on a communicator.
class KnownWays {
  public:
    void learn(const KnownWay& way) { ways_[next_++ % ways_.size()] = way; }
    void forget() { ways_ = {}; }
    /// Null unless a way is known and the buffers are plain: not null, apart (or in place), and in
    /// memory of the host. Whoever gets null has to look closer.
    KnownWay* find(const CallArguments& arguments);

  private:
    std::array<KnownWay, 4> ways_;
    std::size_t next_ = 0;
};

}  // namespace gradcoll
