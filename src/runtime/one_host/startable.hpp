// runtime/one_host/startable.hpp - what a kind of collective needs so that its calls can be waited
// for, or started and advanced.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "runtime/one_host/segment_group.hpp"
#include "runtime/one_host/steps.hpp"

namespace gradcoll {

/// A Startable call stops where one that is waited for waits. There is one call at a time, of all
/// that share the group. Used by one thread at a time.
class Startable {
  public:
    /// The group must outlive this object.
    explicit Startable(SegmentGroup& group) : group_(group) {}
    virtual ~Startable() = default;
    Startable(const Startable&) = delete;
    Startable& operator=(const Startable&) = delete;

    /// Continues a started call, until it is over and before the next call of any kind, as far as
    /// other ranks have come. Returns false if that is nowhere.
    bool advance();
    /// Waits until a started call that is not over can go on, as one that is waited for would.
    void wait();
    bool is_over() const { return has_begun_ && steps_.is_over(); }
    /// Returns how a call that is over ended; may be asked once. Errors: those of a call that is
    /// waited for.
    Status outcome();

    /// Drops a started call, which no other rank will end.
    void drop();

    /// Returns the memory of the calls' steps.
    StepsRoom& room() { return room_; }

  protected:
    /// Opening is what a call begins with (SegmentGroup::begin_call).
    struct Opening {
        std::uint64_t signature = 0;
        std::size_t inline_bytes = 0;
        Waits waits = Waits::for_all;
    };
    /// Starts the next call, which is not waited for. What it reads and writes must stay until it
    /// is over.
    Startable& start(const Opening& opening);
    /// Returns the steps of the call that was started, when it has begun.
    virtual Steps steps_of_started() = 0;

    /// An Until is for co_await: the call goes on once ranks have announced the step, or have read
    /// the blocks of calls before.
    struct Until {
        Startable& call;
        int rank;
        std::uint32_t step;

        bool await_ready() { return call.waited_for(*this); }
        void await_suspend(std::coroutine_handle<>) {
            call.awaited_rank_ = rank;
            call.awaited_step_ = step;
        }
        void await_resume() const {}
    };
    Until all_at(std::uint32_t step) { return {*this, all_others, step}; }
    Until rank_at(int rank, std::uint32_t step) { return {*this, rank, step}; }
    Until blocks_free() { return {*this, all_others, readers}; }

    SegmentGroup& group_;

  private:
    static constexpr int all_others = -1;
    static constexpr std::uint32_t readers =
        0;  ///< awaits readers of blocks; it is no step, as these count from 1

    void begin();
    bool waited_for(const Until& until);
    void wait_for(int rank, std::uint32_t step);
    bool has_come(int rank, std::uint32_t step);

    StepsRoom room_;
    Opening opening_;
    bool is_started_ = false;  ///< whether the call stops instead of waiting
    bool has_begun_ = false;   ///< whether it has begun for the other ranks
    int awaited_rank_ = all_others;
    std::uint32_t awaited_step_ = readers;
    Steps steps_;  ///< steps of the call that has begun; declared after its room, so destroyed
                   ///< before it
};

}  // namespace gradcoll
