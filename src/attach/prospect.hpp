// attach/prospect.hpp - a communicator of an unchanged program that is not attached: whether its
// calls so far would have paid for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/interposer_table.h"
#include "mpi/request.hpp"

namespace gradcoll {

/// What a process asks for attaching a communicator by use. Little at first, as most programs make
/// few communicators and keep them. Communicators that are freed before they have saved what
/// attaching really takes raise it, others lower it again. Thread safe. Ranks learn different
/// prices, so they agree on one for each communicator.
class AttachPrice {
  public:
    static std::uint64_t a_rank_ns();
    /// A communicator that was attached by use has ended, after `served_calls` with so many bytes.
    static void learn(int rank_count, std::uint64_t served_calls, std::uint64_t served_bytes);
};

/// What exact allreduces of one type and op have in common, on any communicator.
struct KindOfCall {
    std::size_t item_bytes = 0;   ///< of one of the datatype
    std::uint64_t end_bytes = 0;  ///< vectors of so many bytes and more attach the communicator
};
/// This thread knows the type and op from now on. Only of a shape that is lasting.
void learn_kind(const CallArguments& arguments, const KindOfCall& kind);
/// Null if this thread does not know it, or no more.
const KindOfCall* known_kind(const CallArguments& arguments);

/// Adds up what the shared memory of one host would have saved, call by call, and compares it with
/// what attaching costs. Both are reckoned from the size of the vector and the number of ranks, not
/// measured, so that all ranks come to the same answer at the same call (docs/benchmarks.md has the
/// figures that they rest on). Such calls are made one at a time.
class Prospect {
  public:
    explicit Prospect(int rank_count);

    /// A call that could be served comes: true if it is the one to attach at, unless the ranks
    /// agree on a higher price. Until then it passes.
    bool add(std::uint64_t size_bytes);
    /// A call comes that the settings want to be served: worth the first price, if not a higher.
    bool add_wanted(std::uint64_t size_bytes);
    bool price_is_agreed() const { return price_is_agreed_; }
    /// Whether, for an allreduce of the kind that does not pass, no more than the ranks' price is
    /// missing.
    bool lacks_price(MPI_Count count, const KindOfCall& kind) const {
        if (price_is_agreed_ || has_given_up() || count <= 0 || count > most_count) return false;
        return static_cast<std::uint64_t>(count) * kind.item_bytes < end_bytes(kind);
    }
    /// The highest of the ranks' AttachPrice::a_rank_ns().
    void agree_on_price(std::uint64_t a_rank_ns) {
        account_.price_ns = rank_count_ * a_rank_ns;
        price_is_agreed_ = true;
    }
    /// All ranks have the library and the same settings (roll_call.hpp).
    void note_met() { has_met_ = true; }
    bool has_met() const { return has_met_; }
    bool is_paid() const { return account_.gained_ns >= account_.price_ns; }
    /// The communicator is never attached by use.
    void give_up(PassReason why) {
        pass_reason_ = why;
        account_.price_ns = std::numeric_limits<std::uint64_t>::max();
    }
    int rank_count() const { return static_cast<int>(rank_count_); }
    /// Why its calls pass.
    PassReason pass_reason() const { return pass_reason_; }

    /// The short way for an allreduce: counts it and returns true if it passes; false, and nothing
    /// is counted, if it is the one to attach at.
    bool passes(MPI_Count count, const KindOfCall& kind) {
        if (count <= 0 || count > most_count) return false;
        const std::uint64_t size_bytes = static_cast<std::uint64_t>(count) * kind.item_bytes;
        return size_bytes < end_bytes(kind) && passes(size_bytes);
    }
    /// The same for a call that shared memory serves whatever its type and op.
    bool passes(std::uint64_t size_bytes) { return gc_passes(&account_, size_bytes) != 0; }

    /// Allreduces of the kind that are shorter pass as long as the account lets them.
    std::uint64_t end_bytes(const KindOfCall& kind) const {
        return is_never_attached() ? std::numeric_limits<std::uint64_t>::max() : kind.end_bytes;
    }
    GC_Attach_account& account() { return account_; }

    bool has_given_up() const { return pass_reason_ != PassReason::short_of_attaching; }

  private:
    /// Of the shortest vector.
    static constexpr std::uint64_t gain_ns_a_rank = 100;
    friend class AttachPrice;

    /// Long vectors still may.
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
    GC_Attach_account account_;
};

}  // namespace gradcoll
