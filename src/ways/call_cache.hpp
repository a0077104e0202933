// ways/call_cache.hpp - where exact allreduces of a communicator went, for the next ones like
// them: most programs repeat a few calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi/request.hpp"
#include "ways/tree/call_decision.hpp"
#include "ways/way.hpp"

namespace gradcoll {

class PlannedCall;

/// A CachedCall is where vectors of one type and op went, within bounds of their size.
struct CachedCall {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    std::uint64_t least_bytes = 0;
    std::uint64_t end_bytes = 0;  ///< vectors of so many bytes and more may go elsewhere
    PassReason pass_reason = PassReason::none;  ///< why they pass; none: they are served
    Way* way = nullptr;                         ///< the communicator's
    CallShape shape;                            ///< its count is that of the last call
    CallKey key;  ///< key of the call over the tree; its count and `in_place` are those of
                  ///< `planned`
    std::shared_ptr<PlannedCall> planned;  ///< the last call over the tree; null: none yet

    bool goes(const WayInfo& there) const { return &way->info() == &there; }
};

/// CallCache remembers the last few ways, for blocking calls, which are made one at a time on a
/// communicator.
class CallCache {
  public:
    void learn(const CachedCall& way) { ways_[next_++ % ways_.size()] = way; }
    void forget() { ways_ = {}; }
    /// Returns null unless a way is known and the buffers are plain: not null, apart (or in place),
    /// and in memory of the host. Whoever gets null has to look closer.
    CachedCall* find(const CallArguments& arguments);

  private:
    std::array<CachedCall, 4> ways_;
    std::size_t next_ = 0;
};

}  // namespace gradcoll
