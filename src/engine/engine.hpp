// engine/engine.hpp - sums of named gradients: handed in at any time and in any order, begun in one
// order on all ranks, run beside one another and beside the program.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "engine/compute_queue.hpp"
#include "engine/engine_watch.hpp"
#include "engine/gradient.hpp"
#include "engine/link_watch.hpp"
#include "engine/negotiation.hpp"
#include "engine/work.hpp"
#include "transport/channel.hpp"
#include "transport/peer_watch.hpp"

namespace gradcoll {

class GradientPacker;
class SumVotes;

struct EngineOptions {
    /// This many threads run local steps; with 0 whoever makes the turns does.
    int compute_threads = 1;
    /// If this is set a thread of the engine's own makes the turns, else those who submit, test and
    /// wait do.
    bool own_thread = true;
    bool yields = false;  ///< whether ranks outnumber cores
    /// While nothing goes on the engine's own thread sleeps between looks as long as that has been
    /// so already, within these bounds. If the most is 0 it looks all the time at first.
    std::chrono::microseconds least_pause{0};
    std::chrono::microseconds most_pause{0};
    /// While nothing is under way and the program hands in one gradient after another with less
    /// time than this in between, nobody is told of them before a thread waits, but ten times this
    /// time later at most: so those that are there at once begin together. 0: each is told of at
    /// once. It counts where the engine has a thread of its own.
    std::uint64_t settling_ns = 0;
    /// All sums that are under way at once may send this many bytes; two may be under way whatever
    /// their size.
    std::uint64_t most_bytes = 0;
    /// After a failure sums that some ranks have not begun never end: they are dropped when nothing
    /// has gone on for this long.
    std::uint64_t failure_patience_ns = 5'000'000'000;
    std::uint64_t stall_ns = 0;  ///< time after which it is told who has not handed in a gradient
    /// The packer makes one sum of several short gradients, which have at most this many bytes
    /// together. If it is null no gradient may be packed. It must outlive the engine.
    GradientPacker* packer = nullptr;
    std::uint64_t most_pack_bytes = 0;
    /// If this is set sums are compared with what they should take, and gradients planned anew for
    /// what links carry (Gradient::links_carry). It counts on rank 0, for sums in the order of all.
    bool watches_links = false;
    /// It knows of ranks that have died; null: nobody looks.
    std::shared_ptr<PeerWatch> peers = {};
    /// If it is not null all ranks that live get one answer on each sum that was begun in the order
    /// of all.
    std::shared_ptr<SumVotes> votes = {};
    bool checked = false;    ///< what ranks tell each other has checksums, on all ranks or none
    Circle circle{};         ///< whom this rank tells what it has; without members: rank 0
    Trace* trace = nullptr;  ///< null: none; it outlives the engine
};

/// A GradientPacker is used by the thread that makes the engine's turns.
class GradientPacker {
  public:
    GradientPacker() = default;
    virtual ~GradientPacker() = default;
    GradientPacker(const GradientPacker&) = delete;
    GradientPacker& operator=(const GradientPacker&) = delete;

    /// Returns the sum of these, which have begun and have one Submission::pack: it fills all their
    /// results. The engine starts it; it is free again when it is complete or abandoned.
    virtual Result<Work*> pack(std::span<Gradient* const> gradients) = 0;
};

/// SumVotes bring all ranks that live to one answer on each sum, whoever dies meanwhile. They are
/// used by the thread that makes the engine's turns.
class SumVotes {
  public:
    SumVotes() = default;
    virtual ~SumVotes() = default;
    SumVotes(const SumVotes&) = delete;
    SumVotes& operator=(const SumVotes&) = delete;

    /// Returns the number of the next sum; ranks begin sums in one order.
    virtual std::uint64_t take_number() = 0;
    /// Returns how the sum ended for all ranks, which ended with `mine` here; nothing while that is
    /// not known.
    virtual std::optional<Status> answer(std::uint64_t number, const Status& mine) = 0;
    /// Gives a vote against a sum in which this rank takes no part, when its turn comes.
    virtual void give_up(std::uint64_t number) = 0;
    /// Tells the others that this rank begins no more sums.
    virtual void close() = 0;
    /// Returns whether others wait for no vote of these last two kinds; votes go on meanwhile.
    virtual bool has_given_all_up() = 0;
};

/// Submission is what is handed in besides the gradient itself.
struct Submission {
    std::uint64_t shape = 0;  ///< hash of all that ranks must have alike
    std::string_view shape_text;
    std::uint64_t bytes = 0;    ///< size of what its sum sends
    ExpectedTime expected{};    ///< time that its sum should take; looked at where
                                ///< EngineOptions::watches_links
    std::int32_t priority = 0;  ///< higher goes first
    /// Gradients of the same number may be summed as one; 0: it may not. All ranks have it alike.
    std::uint32_t pack = 0;
    /// If this is set, its work has messages of its own, by Gradient::number(), and needs no order
    /// among others: once all ranks have begun it with this shape, each begins it by itself. All
    /// ranks have it alike.
    bool alone = false;
};

/// An Engine sums gradients. Thread safe. A warm sum (name and shape seen before) allocates nothing
/// per step.
///
/// Each turn of the transfer loop hears what ranks have ready, begins what all have, moves the
/// messages of all sums that are under way, hands their local steps to the compute threads and
/// takes them back. So messages of one gradient are on the wire while another is encoded or added.
class Engine {
  public:
    /// The channel carries what ranks tell each other; nobody else uses it, and it outlives the
    /// engine. Errors: those of Negotiation::make().
    static Result<std::unique_ptr<Engine>> make(Channel& channel, const EngineOptions& options);
    /// Drops sums that are under way.
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Returns the gradient of that name, a new one if there was none.
    Gradient& gradient(std::string_view name);
    /// Hands the gradient in; its work is set, and it is not busy. Never waits for other ranks.
    /// Errors: what ended the engine.
    Status submit(Gradient& gradient, const Submission& submission);
    /// Makes a turn if the engine has no thread for it; then is_complete() is up to date.
    void look_after();
    /// Waits until the gradient is complete.
    void wait(const Gradient& gradient);
    /// Waits until all that was handed in before is complete.
    void flush();
    /// Waits until other ranks know all that they wait to hear from this one; called before the
    /// engine ends.
    void settle();
    /// Ends all sums, as others do where a rank has died, and returns when they have ended and the
    /// engine makes no more turns, so that no thread of it calls MPI.
    void retire(const Status& why);
    /// Returns how a complete gradient ended, which may then be handed in again.
    Status take_outcome(Gradient& gradient);
    EngineFigures figures();
    /// Returns whether something has ended the engine, so that ranks cannot agree any more.
    bool has_failed() const { return !failure().ok(); }
    /// Returns how many gradients are handed in and not complete.
    std::size_t under_way() const { return under_way_.load(std::memory_order_acquire); }

  private:
    Engine(int rank, std::unique_ptr<Negotiation> negotiation, const EngineOptions& options);
    void run();
    struct Idle {
        int turns = 0;
        std::uint64_t since_ns = 0;
    };
    void tell_now();
    bool rest_before_telling();
    void rest(Idle& idle);
    bool turn();
    bool has_settled(std::uint64_t now_ns) const;
    bool is_over(std::uint64_t now_ns) const;
    bool has_voted() const;
    Status announce(std::uint64_t now_ns);
    static bool begins_alone(const Gradient& gradient);
    Status tell(Gradient& gradient, std::uint64_t now_ns);
    Status hear_verdicts();
    Result<Gradient*> found(const Verdict& verdict);
    /// Sum is a sum that is under way: of one gradient, or of a pack.
    struct Sum {
        Work* work = nullptr;
        std::vector<Gradient*> gradients;
        std::int32_t priority = 0;
        std::uint64_t bytes = 0;
        std::uint64_t begin_ns = 0;
        bool alone = false;            ///< begun without the coordinator
        std::uint64_t number = 0;      ///< that of SumVotes
        std::optional<Status> mine{};  ///< how it ended here, once it has
        std::uint64_t told_ns = 0;     ///< when it was last told that it waits; if it is alone
    };
    Status check_pack() const;
    enum class Order : std::uint8_t { of_all, of_this_rank };
    void begin(std::span<Gradient* const> gradients, Order order);
    Result<Work*> work_of(std::span<Gradient* const> gradients);
    std::unique_ptr<Sum> take_sum();
    bool advance_running();
    bool advance(std::size_t index);
    bool is_answered(Sum& sum);
    static Status deliver(std::span<Gradient* const> gradients);
    bool hand_out(Sum& sum);
    bool help();
    void run_here(const LocalStep& step);
    static void finish(const LocalStep& step, LocalResult result);
    bool tells_of_links(const Sum& sum) const;
    void watch_begin(const Sum& sum);
    void take_links_carry(Gradient& gradient, double links_carry);
    bool take_back();
    void complete(std::span<Gradient* const> gradients, const Status& outcome);
    Result<bool> agree(std::uint64_t now_ns);
    void drop_stuck(std::uint64_t now_ns);
    std::uint64_t failure_patience_ns() const;
    void fail(const Status& found);
    Status failure() const;
    bool waits_in_vain();
    std::string awaited() const;
    void tell_stalls(std::uint64_t now_ns);
    void tell_who_waits_alone(std::uint64_t now_ns);
    std::uint64_t room_bytes() const;

    const int rank_;
    EngineOptions options_;
    EngineWatch watch_;
    std::unique_ptr<Negotiation> negotiation_;
    ComputeQueue compute_;

    std::mutex turn_mutex_;  ///< whoever makes a turn has it
    // These belong to the turns:
    std::vector<Gradient*> announced_;           ///< gradients of this turn
    std::vector<Gradient*> beginning_;           ///< gradients that begin together
    std::vector<std::unique_ptr<Sum>> running_;  ///< those of higher priority first
    std::vector<std::unique_ptr<Sum>> idle_;     ///< sums to be used again
    std::vector<Gradient*> by_number_;
    std::vector<ComputeQueue::Returned> returned_;
    std::size_t steps_out_ = 0;  ///< steps that were handed out and not taken back
    std::size_t ordered_ = 0;    ///< how many of those that run were begun in the order of all
    std::uint64_t ordered_bytes_ = 0;  ///< size of what they send
    LinkWatch links_;
    double links_carry_ = 1;            ///< what some gradient was told last
    std::uint64_t worked_here_ns_ = 0;  ///< time in local steps, by whoever makes the turns
    SlowWait slow_;                     ///< wait of the turns for other ranks
    std::uint64_t looked_ns_ = 0;       ///< time of the last look for stalls
    std::uint64_t went_on_ns_ = 0;      ///< when a sum last went on, after a failure

    mutable std::mutex mutex_;
    std::condition_variable submitted_now_;
    std::condition_variable completed_now_;
    // These are guarded by mutex_:
    std::unordered_map<std::string, std::unique_ptr<Gradient>> gradients_;
    std::vector<Gradient*> submitted_;   ///< gradients handed in that nobody was told of
    std::uint64_t first_submit_ns_ = 0;  ///< time of the first of these
    std::uint64_t last_submit_ns_ = 0;
    bool is_waited_for_ = false;  ///< whether a thread waits since they were handed in
    Status failure_;              ///< why nothing goes on
    bool stopping_ = false;

    std::atomic<std::size_t> under_way_{0};
    std::thread thread_;
};

}  // namespace gradcoll
