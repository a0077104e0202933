// attach/attach_account.hpp - a communicator of an unchanged program that is not attached: whether
// its calls so far would have paid for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "base/interposer_table.h"
#include "mpi/request.hpp"

namespace gradcoll {

/// AttachPrice is what a process asks for attaching a communicator by use. It is low at first, as
/// most programs make few communicators and keep them. Communicators that are freed before they
/// have saved what attaching really takes raise it, others lower it again. Thread safe. Ranks learn
/// different prices, so they agree on one for each communicator.
class AttachPrice {
  public:
    static std::uint64_t a_rank_ns();
    /// Learns from a communicator that was attached by use and has ended, after `served_calls` with
    /// so many bytes.
    static void learn(int rank_count, std::uint64_t served_calls, std::uint64_t served_bytes);
};

/// A KindOfCall is what exact allreduces of one type and op have in common, on any communicator.
struct KindOfCall {
    std::size_t item_bytes = 0;   ///< bytes of one of the datatype
    std::uint64_t end_bytes = 0;  ///< vectors of so many bytes and more attach the communicator
};
/// Makes this thread know the type and op from now on. Only for a shape that is lasting.
void learn_kind(const CallArguments& arguments, const KindOfCall& kind);
/// Returns null if this thread does not know the type and op, or no longer.
const KindOfCall* known_kind(const CallArguments& arguments);

class WaitMeeting;

/// A AttachAccount adds up what the shared memory of one host would have saved, call by call, and
/// compares it with what attaching costs. Both are reckoned from the size of the vector and the
/// number of ranks, not measured, so that all ranks come to the same answer at the same call
/// (docs/benchmarks.md has the figures that they rest on). Such calls are made one at a time.
class AttachAccount {
  public:
    explicit AttachAccount(int rank_count);

    /// Adds a call that could be served. Returns true if it is the one to attach at, unless the
    /// ranks agree on a higher price. Until then calls pass.
    bool add(std::uint64_t size_bytes);
    /// Adds a call that the settings want to be served. It is worth the first price, if not a
    /// higher one.
    bool add_wanted(std::uint64_t size_bytes);
    bool price_is_agreed() const { return price_is_agreed_; }
    /// Returns whether, for an allreduce of the kind that does not pass, nothing more than the
    /// ranks' price is missing.
    bool lacks_price(MPI_Count count, const KindOfCall& kind) const {
        if (price_is_agreed_ || has_given_up() || count <= 0 || count > most_count) return false;
        return static_cast<std::uint64_t>(count) * kind.item_bytes < end_bytes(kind);
    }
    /// Sets the price that the ranks agreed on: the highest of their AttachPrice::a_rank_ns().
    void agree_on_price(std::uint64_t a_rank_ns) {
        account_.price_ns = rank_count_ * a_rank_ns;
        price_is_agreed_ = true;
    }
    /// Remembers that all ranks have the library and the same settings (presence.hpp).
    void note_met() { has_met_ = true; }
    bool has_met() const { return has_met_; }
    bool is_paid() const { return account_.gained_ns >= account_.price_ns; }
    /// Remembers that the communicator is never attached by use, and why.
    void give_up(PassReason why) {
        pass_reason_ = why;
        account_.price_ns = std::numeric_limits<std::uint64_t>::max();
    }
    int rank_count() const { return static_cast<int>(rank_count_); }
    /// Returns why its calls pass.
    PassReason pass_reason() const { return pass_reason_; }

    /// Takes the short way for an allreduce: counts it and returns true if it passes. Returns
    /// false, and counts nothing, if it is the one to attach at.
    bool passes(MPI_Count count, const KindOfCall& kind) {
        if (count <= 0 || count > most_count) return false;
        const std::uint64_t size_bytes = static_cast<std::uint64_t>(count) * kind.item_bytes;
        return size_bytes < end_bytes(kind) && passes(size_bytes);
    }
    /// Does the same for a call that shared memory serves whatever its type and op.
    bool passes(std::uint64_t size_bytes) { return gc_passes(&account_, size_bytes) != 0; }

    /// Counts an allreduce of the kind that must not wait for other ranks, and so passes. Returns
    /// false, and counts nothing, if it is long.
    bool counts_started(MPI_Count count, const KindOfCall& kind) {
        if (count <= 0 || count > most_count) return false;
        const std::uint64_t size_bytes = static_cast<std::uint64_t>(count) * kind.item_bytes;
        if (size_bytes >= end_bytes(kind)) return false;
        add(size_bytes);
        return true;
    }

    /// Keeps the meeting at which the ranks will attach, if they come to it.
    void want_meeting(std::shared_ptr<WaitMeeting> meeting) {
        meeting_ = std::move(meeting);
        meeting_is_settled_ = true;
        calls_of_meeting_ = 0;
    }
    /// Returns whether there has been a meeting, or none can be.
    bool meeting_is_settled() const { return meeting_is_settled_; }
    /// Lets there be another, once the account is paid again.
    void end_meeting() {
        meeting_.reset();
        meeting_is_settled_ = false;
    }
    /// Counts a call of any kind. From the beginning of a meeting on ranks that have made the same
    /// calls have the same number.
    void count_for_meeting() { ++calls_of_meeting_; }
    std::uint64_t calls_of_meeting() const { return calls_of_meeting_; }

    /// Returns the size below which allreduces of the kind pass as long as the account lets them.
    std::uint64_t end_bytes(const KindOfCall& kind) const {
        return is_never_attached() ? std::numeric_limits<std::uint64_t>::max() : kind.end_bytes;
    }
    GC_Attach_account& account() { return account_; }

    bool has_given_up() const { return pass_reason_ != PassReason::short_of_attaching; }

  private:
    /// The shortest vector saves so much for each rank.
    static constexpr std::uint64_t gain_ns_a_rank = 100;
    friend class AttachPrice;

    /// Returns whether it is never attached; after short_vector long vectors may still attach it.
    bool is_never_attached() const {
        return has_given_up() && pass_reason_ != PassReason::short_vector;
    }
    static constexpr std::uint64_t gain_of(std::uint64_t calls, std::uint64_t ranks,
                                           std::uint64_t bytes) {
        return calls * ranks * gain_ns_a_rank + bytes / 16 * GC_GAIN_NS_OF_16_BYTES;
    }

    PassReason pass_reason_ = PassReason::short_of_attaching;
    std::uint64_t rank_count_;
    bool price_is_agreed_ = false;
    bool has_met_ = false;
    std::shared_ptr<WaitMeeting> meeting_;
    bool meeting_is_settled_ = false;
    std::uint64_t calls_of_meeting_ = 0;
    GC_Attach_account account_;
};

}  // namespace gradcoll
