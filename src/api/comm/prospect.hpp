// api/comm/prospect.hpp - a communicator of an unchanged program that is not attached: whether its
// calls so far would have paid for that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "api/edge/request.hpp"

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
    /// The highest of the ranks' AttachPrice::a_rank_ns().
    void agree_on_price(std::uint64_t a_rank_ns) {
        price_ns_ = rank_count_ * a_rank_ns;
        price_is_agreed_ = true;
    }
    bool is_paid() const { return gained_ns_ >= price_ns_; }
    /// The communicator is never attached by use.
    void give_up(PassReason why) { pass_reason_ = why; }
    int rank_count() const { return static_cast<int>(rank_count_); }
    /// Why its calls pass.
    PassReason pass_reason() const { return pass_reason_; }

    /// The short way for a call whose type and op are known: counts it and returns true if it
    /// passes; false, and nothing is counted, if it is not known or is the one to attach at.
    bool passes(const CallArguments& arguments);
    /// The same for a call that shared memory serves whatever its type and op.
    bool passes(std::uint64_t size_bytes);
    /// From now on its type and op are known, for vectors of less than `end_bytes`. Only of a shape
    /// that is lasting.
    void learn(const CallArguments& arguments, const CallShape& shape, std::uint64_t end_bytes);

  private:
    struct Kind {
        MPI_Datatype datatype = MPI_DATATYPE_NULL;
        MPI_Op op = MPI_OP_NULL;
        std::size_t item_bytes = 0;  ///< of one of the datatype
        std::uint64_t end_bytes = 0;
    };
    bool has_given_up() const { return pass_reason_ != PassReason::short_of_attaching; }
    std::uint64_t gain_ns(std::uint64_t size_bytes) const;
    /// Null if it is not known.
    const Kind* kind_of(const CallArguments& arguments) const;

    PassReason pass_reason_ = PassReason::short_of_attaching;
    std::uint64_t rank_count_;
    std::uint64_t price_ns_;
    bool price_is_agreed_ = false;
    std::uint64_t gained_ns_ = 0;
    std::array<Kind, 4> kinds_;
    std::size_t next_ = 0;
};

}  // namespace gradcoll
