// tests/soak/call.hpp - one collective call, from its roll to the check of its result.
#pragma once

#include <gradcoll.h>

#include <cstdint>
#include <memory>
#include <string>

#include "soak/comms.hpp"
#include "soak/dice.hpp"
#include "soak/guarded_buffer.hpp"
#include "soak/kinds.hpp"

namespace gradcoll::soak {

enum class Form { blocking, counted_long, with_residual, scatter, gather, nonblocking, persistent };

/// A CallRoll is the same on all ranks.
struct CallRoll {
    std::uint64_t number = 0;
    Form form = Form::blocking;
    std::size_t slot = 0;
    std::size_t kind = 0;
    std::size_t count = 0;  ///< elements of a block, for scatter and gather
    bool in_place = false;
    bool lossy_codec = false;  ///< whether all communicators have a lossy codec
    std::uint64_t key = 0;

    static CallRoll make(std::uint64_t number, bool lossy_codec, const Kinds& kinds, Dice& dice);
};

class Call {
  public:
    /// `own` is rolled differently by every rank. `comm` and `kind` outlive the call.
    Call(const CallRoll& roll, const Comm& comm, const Kind& kind, Dice& own);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    const CallRoll& roll() const { return roll_; }
    std::string describe() const;

    /// Starts the call; blocking forms are complete on return.
    void start();
    bool is_started() const { return started_; }
    /// Finishes by a wait or, if `by_test`, by tests.
    void finish(bool by_test);
    /// Gives a persistent call other values under another number, to be started again.
    void renew(std::uint64_t number, std::uint64_t key);

    /// Returns a hash that is the same on all ranks of the communicator, if the call gives them the
    /// same result.
    std::uint64_t hash() const;
    /// Returns "" if result, input and surroundings are right. Every rank checks its own part, one
    /// of them what all share.
    std::string check() const;

  private:
    Section input_section() const;
    std::size_t input_count() const;
    std::size_t output_count() const;
    void fill();
    const void* send_buffer() const { return roll_.in_place ? MPI_IN_PLACE : input_.data(); }
    int run_blocking();
    int run_with_residual();
    void start_persistent();
    Loss loss() const;
    std::string check_output() const;

    CallRoll roll_;
    const Comm& comm_;
    const Kind& kind_;
    GuardedBuffer input_, output_;
    std::uint64_t input_hash_ = 0;
    bool started_ = false;
    int starts_ = 0;
    MPI_Request request_ = MPI_REQUEST_NULL;
    GC_Request persistent_ = GC_REQUEST_NULL;
};

}  // namespace gradcoll::soak
