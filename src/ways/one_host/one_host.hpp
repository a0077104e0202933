// ways/one_host/one_host.hpp - the way of exact collectives through the memory that all ranks
// of a communicator share, if they are on one host: no tree, no plan.
#pragma once

#include <cstddef>
#include <memory>

#include "collectives/plan/plan.hpp"
#include "comm/comm_identity.hpp"
#include "comm/comm_settings.hpp"
#include "mpi/request.hpp"
#include "observe/comm_statistics.hpp"
#include "runtime/binding.hpp"
#include "ways/one_host/host_memory_pool.hpp"
#include "ways/one_host/host_turns.hpp"
#include "ways/way.hpp"

namespace gradcoll {

/// Returns whether the settings leave it to the library how ranks of one host reduce exact vectors:
/// the tree is discovered, and nobody chose exchanges, builder or chunks. Then no tree is needed
/// where all ranks share memory.
bool allows_one_host(const SettingsText& text, const Settings& settings);

/// OneHost runs calls in turns: a blocking one waits for those that were begun before.
class OneHost final : public Way {
  public:
    explicit OneHost(const WayParts& parts);
    ~OneHost() override;

    const WayInfo& info() const override { return one_host_way(); }
    WayOffer offers(const WayQuestion& question) override;
    WayOffer foreseen(const WayQuestion& question) const override;
    Status run(const WayCall& call) override;

    /// Gives the memory back, which may have another size next time. Until open() has been asked
    /// again, the new settings alone say whether the way is there.
    void settings_changed(const std::shared_ptr<const DiscoveredTree>& tree) override;

    /// Returns whether the next exact call that is waited for will go this way, as far as can be
    /// foreseen. Makes nothing.
    bool may_open() const { return may_open_; }
    /// Returns whether calls go this way from now on. Makes nothing.
    bool is_open() const { return engine_ != nullptr; }
    /// Returns whether exact calls that are waited for go this way. The first such question makes
    /// the memory, if the settings allow the way, and is collective; so every rank asks in the same
    /// order.
    bool open();

    /// Returns whether there is room for the elements of the call. The answer is the same on all
    /// ranks.
    bool takes(const CallShape& shape) const { return shape.elem_bytes <= most_element_bytes_; }
    /// Returns the same for elements that are combined together by such a reducer, if there is one.
    bool takes(const Reducer& reducer) const {
        return reducer && reducer.together_elems * reducer.element_bytes <= most_element_bytes_;
    }

    /// Returns whether the vectors of all ranks are in memory of devices; counts nothing. It may be
    /// called only if open(). A rank whose vector is on a device asks first, and calls allreduce()
    /// with `asked` if the answer is no. It is collective with the other ranks' allreduce() of that
    /// shape, which says that theirs are in memory of the host. Where no rank uses devices hardly
    /// anything is asked. Errors: invalid_argument, on every rank, if ranks made different calls.
    Result<bool> all_on_devices(const CallShape& shape, bool mine);
    /// Answers all_on_devices() for a rank that cannot take part in the call: if the others ask,
    /// they get `reason`, with peer_failed. Returns whether they ask.
    bool answers_with_refusal(const CallShape& shape, Code reason);
    /// Runs and counts a call, if open() and takes(); HostMemory::run() says what it needs. `asked`
    /// says that all_on_devices() has been called for an allreduce. Collective, and all calls have
    /// one order. Allocates nothing. Errors: those of all_on_devices(); OneHostAllreduce and its
    /// kin say who gets one, and what is alike on all ranks.
    Status allreduce(const Binding& binding, const CallShape& shape, bool asked = false);
    Status run(CallKind kind, const Binding& binding, const CallShape& shape, int root = 0);
    /// Refuses a call that this rank cannot take part in: the others' call ends with peer_failed,
    /// naming the reason. `shape` is that of the whole vector, `asked` as in allreduce().
    void refuse(CallKind kind, const CallShape& shape, Code reason, bool asked = false);
    /// An Operation is an allreduce that nobody waits for here. The thread whose turn it is to make
    /// calls begins it; then any thread advances it, as a StartedCall. All ranks begin them in the
    /// same order.
    struct Operation {
        Binding binding;
        CallShape shape;
        std::uint64_t turn = 0;
        Code refusal = Code::ok;  ///< why this rank takes no part, as in refuse(); ok: it does
    };
    /// Begins an operation, which is counted as `kind`.
    Operation begin_allreduce(const Binding& binding, const CallShape& shape,
                              CallKind kind = CallKind::iallreduce);
    /// Begins the operation of a rank that cannot take part, which is advanced like that of the
    /// others.
    Operation begin_refusal(const CallShape& shape, Code reason);
    /// Advances an operation; it is idle also while it is not its turn. Errors end it: those of
    /// allreduce().
    Result<Progress> advance(const Operation& operation);
    /// Returns whether this way takes an exact allreduce that cannot wait for other ranks: the
    /// memory must be there already. All ranks get the same answer.
    bool may_start(const CallShape& shape) const;

  private:
    /// Told holds what is counted and told of one call.
    struct Told {
        CallKind kind;
        const CallShape& shape;
        std::uint64_t bytes_sent = 0;
        bool in_place = false;  ///< whether an allreduce is in place
    };
    /// Runs the call, and counts it unless it failed.
    template <class Run>
    Status counted(const Told& call, Run&& run);
    /// Does the same, with times, for a report or a trace.
    template <class Run>
    Status observed(const Told& call, Run& run);
    double predicted_us(const Told& call) const;
    std::uint64_t bytes_given(CallKind kind, const CallShape& shape, int root) const;
    void wait_for_turn();
    bool asks_where(const CallShape& shape);
    void count_begun(const CallShape& shape, CallKind kind);

    const CommIdentity& comm_;
    const CommSettings& settings_;
    CommStatistics& statistics_;
    bool may_open_ = false;
    bool devices_are_used_ = false;      ///< whether some rank's program uses devices
    std::uint64_t calls_to_ask_of_ = 0;  ///< number of calls so far that asks_where() could ask of
    std::size_t most_element_bytes_ = 0;
    PooledHostMemory engine_;
    HostTurns turns_;  ///< turns of operations that nobody waits for here
};

}  // namespace gradcoll
