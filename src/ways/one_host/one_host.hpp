// ways/one_host/one_host.hpp - the way of exact collectives through the memory that all ranks
// of a communicator share, if they are on one host: no tree, no plan.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>

#include "collectives/plan/plan.hpp"
#include "comm/comm_identity.hpp"
#include "comm/comm_settings.hpp"
#include "mpi/request.hpp"
#include "observe/comm_statistics.hpp"
#include "runtime/binding.hpp"
#include "ways/one_host/engine_pool.hpp"
#include "ways/one_host/host_turns.hpp"

namespace gradcoll {

/// Whether the settings leave it to the library how ranks of one host reduce exact vectors: the
/// tree is discovered, and nobody chose exchanges, builder or chunks. Then no tree is needed where
/// all ranks share memory.
bool allows_one_host(const SettingsText& text, const Settings& settings);

/// Calls take turns: a blocking one waits for those that were begun before.
class OneHost {
  public:
    /// The references must outlive it.
    OneHost(const CommIdentity& comm, const CommSettings& settings, CommStatistics& statistics);
    ~OneHost();

    /// The memory is given back, and may have another size next time. Until open() has been asked
    /// again, the new settings alone say whether the way is there.
    void settings_changed();

    /// Whether the next such call will go this way, as far as can be foreseen. Makes nothing.
    bool may_open() const { return may_open_; }
    /// The same for calls from now on; nothing is made.
    bool is_open() const { return engine_ != nullptr; }
    /// Whether exact calls that are waited for go this way. The first such question makes the
    /// memory, if the settings allow the way, and is collective; so every rank asks in the same
    /// order.
    bool open();

    /// Whether there is room for those of the call. The same on all ranks.
    bool takes(const CallShape& shape) const { return shape.elem_bytes <= most_element_bytes_; }

    /// Whether the vectors of all ranks are in memory of devices; nothing is counted. Only if
    /// open(). Collective with the other ranks' allreduce() of that shape, which says that a vector
    /// is in the host's: so rank by rank who has his on a device asks first, and calls allreduce()
    /// with `asked` if the answer is no. Where no rank uses devices hardly anything is asked.
    /// Errors: invalid_argument, on every rank, if ranks made different calls.
    Result<bool> all_on_devices(const CallShape& shape, bool mine);
    /// By a rank that cannot take part in the call: if the others ask, they get that, with
    /// peer_failed. Whether they do.
    bool answers_with_refusal(const CallShape& shape, Code reason);
    /// Only if open() and it takes the call. Collective; counts the call. Allocates nothing.
    /// `asked`: all_on_devices() has been, for this call. Errors: as all_on_devices().
    Status allreduce(const Binding& binding, const CallShape& shape, bool asked = false);
    /// By a rank that cannot take part in one (`shape`: of the whole vector): the others' call ends
    /// with peer_failed, naming the reason. `asked`: as of allreduce().
    void refuse(Collective collective, const CallShape& shape, Code reason, bool asked = false);
    /// The same of a broadcast or reduction: those that wait for this rank get the error.
    void refuse(CallKind kind, const CallShape& shape, Code reason);
    /// One that nobody waits for here. Begun by the thread whose turn it is to make calls; then
    /// advanced, from anywhere, as a StartedCall. The same order on all ranks.
    struct Operation {
        Binding binding;
        CallShape shape;
        std::uint64_t turn = 0;
        Code refusal = Code::ok;  ///< as in refuse(), of a rank that takes no part
    };
    /// `kind`: what it is counted as.
    Operation begin_allreduce(const Binding& binding, const CallShape& shape,
                              CallKind kind = CallKind::iallreduce);
    /// By a rank that cannot take part in one: advanced as the others'.
    Operation begin_refusal(const CallShape& shape, Code reason);
    /// Idle also while it is not its turn. Errors end it: those of allreduce().
    Result<Progress> advance(const Operation& operation);
    /// The same for other calls, which all have one order. Whoever gets an error, and what is alike
    /// on all ranks, is said at OneHostBcast and its kin.
    Status barrier();
    /// Whether bcast() and reduce() were measured faster than the MPI library's own, which for long
    /// vectors copies once from process to process, and whose tree of short messages keeps fewer of
    /// many ranks waiting (docs/decisions/018-more-collectives.md).
    static constexpr bool is_good_for_bcast(std::size_t size_bytes, int rank_count) {
        if (rank_count == 2) return size_bytes <= (std::size_t{8} << 10);
        return size_bytes >= 512 && size_bytes <= (std::size_t{64} << 10);
    }
    static constexpr bool is_good_for_reduce(std::size_t size_bytes, int rank_count) {
        return rank_count == 2 || (size_bytes >= 128 && size_bytes <= (std::size_t{16} << 10));
    }
    /// Of a block of an allgather. More than two ranks copy into caches that are shared.
    static constexpr std::size_t most_allgather_bytes(int rank_count) {
        return rank_count == 2 ? std::size_t{32} << 10 : std::numeric_limits<std::size_t>::max();
    }
    Status bcast(void* data, std::size_t size_bytes, int root);
    /// The output matters on the root alone, and is null elsewhere.
    Status reduce(const Binding& binding, const CallShape& shape, int root);
    /// In place: input and output are the same vector of all blocks.
    Status allgather(const Binding& binding, std::size_t block_bytes);
    /// `shape`: of all blocks. `kind`: what it is counted as.
    Status reduce_scatter(CallKind kind, const Binding& binding, const CallShape& shape);

  private:
    /// What is counted and told of one call.
    struct Told {
        CallKind kind;
        const CallShape& shape;
        std::uint64_t bytes_sent = 0;
        bool in_place = false;  ///< of an allreduce
    };
    /// Runs it; counts it unless that failed.
    template <class Run>
    Status counted(const Told& call, Run&& run);
    /// The same for a report or a trace.
    template <class Run>
    Status observed(const Told& call, Run& run);
    double predicted_us(const Told& call) const;
    void wait_for_turn();
    bool asks_where(const CallShape& shape);
    void count_begun(const CallShape& shape, CallKind kind);

    const CommIdentity& comm_;
    const CommSettings& settings_;
    CommStatistics& statistics_;
    bool may_open_ = false;
    bool devices_are_used_ = false;      ///< by some rank's program
    std::uint64_t calls_to_ask_of_ = 0;  ///< so far
    std::size_t most_element_bytes_ = 0;
    PooledEngine engine_;
    HostTurns turns_;  ///< of operations that nobody waits for here
};

}  // namespace gradcoll
