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

/// A started call stops where one that is waited for waits. One call at a time, of all that share
/// the group. Used by one thread at a time.
class Startable {
  public:
    /// The group must outlive it.
    explicit Startable(SegmentGroup& group) : group_(group) {}
    virtual ~Startable() = default;
    Startable(const Startable&) = delete;
    Startable& operator=(const Startable&) = delete;

    /// Of a call that was started, until it is over, before the next call of any kind: goes on as
    /// far as other ranks have come; false if that is nowhere.
    bool advance();
    bool is_over() const { return has_begun_ && steps_.is_over(); }
    /// Of a call that is over, once. Errors: those of one that is waited for.
    Status outcome();

    /// Of the calls' steps.
    StepsRoom& room() { return room_; }

  protected:
    /// With which a call begins (SegmentGroup::begin_call).
    struct Opening {
        std::uint64_t signature = 0;
        std::size_t inline_bytes = 0;
        Waits waits = Waits::for_all;
    };
    /// The next call is not waited for. What it reads and writes must stay until it is over.
    Startable& start(const Opening& opening);
    /// Of the call that was started, when it has begun.
    virtual Steps steps_of_started() = 0;

    /// For co_await: until ranks have announced the step, or have read the blocks of calls before.
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
    static constexpr std::uint32_t readers = 0;  ///< of blocks; no step: these count from 1

    bool waited_for(const Until& until);
    bool has_come(int rank, std::uint32_t step);

    StepsRoom room_;
    Opening opening_;
    bool is_started_ = false;  ///< it stops instead of waiting
    bool has_begun_ = false;   ///< for the other ranks
    int awaited_rank_ = all_others;
    std::uint32_t awaited_step_ = readers;
    Steps steps_;  ///< of the call that has begun; goes before its room
};

}  // namespace gradcoll
