// runtime/operation.hpp - what all chunks of the running operation share.
#pragma once

#include <cstdint>
#include <utility>

#include "collectives/plan/plan.hpp"
#include "compress/codec.hpp"
#include "runtime/binding.hpp"
#include "runtime/codecs_in_use.hpp"
#include "runtime/notices.hpp"
#include "runtime/operation_numbers.hpp"
#include "runtime/progress.hpp"
#include "runtime/tags.hpp"
#include "runtime/trace.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

struct Operation {
    const Plan& plan;
    Lane& lane;
    TagLayout tags;
    CodecsInUse codecs;
    const PackersInUse& packers;
    bool timed = false;      ///< local steps are measured: for the statistics or the trace
    Trace* trace = nullptr;  ///< gets spans; null if nobody looks
    Binding binding = {};
    Status error = {};  ///< the first one; from then on local steps are skipped
    std::uint64_t local_ns =
        0;  ///< time in local steps, of all operations; measured only when `timed`
    RunStats stats = {};
    FailureNotice notice = {};  ///< says the error to others
    Code cause = Code::ok;      ///< what failed first, on whichever rank
    /// If this is set, the operation has failed for want of scratch memory: it takes messages
    /// without keeping them, and sends notices.
    bool lacks_memory = false;
    /// If this is set, the operation was given up: what is not here will not come, and receives end
    /// at once.
    bool given_up = false;
    /// If this is set, a message of the operation may be left that nobody takes.
    bool leaves_messages = false;
    SignatureChange change = SignatureChange::none;  ///< if there is any, its signature goes ahead
    SignatureNotice signature = {};

    bool failed() const { return !error.ok(); }
    /// Returns whether the operation failed by what came in place of what was expected: some ranks
    /// may expect messages that no other has in its plan.
    bool plans_may_differ() const {
        return failed() && (cause == Code::corrupt || cause == Code::invalid_argument);
    }
    void fail(Status status) {
        const Code code = status.code();
        fail(std::move(status), code == Code::peer_failed ? Failure() : Failure{plan.rank, code});
    }
    /// Fails the operation. `first` is the failure of the rank that failed first, if it was not
    /// this one.
    void fail(Status status, const Failure& first) {
        if (failed()) return;
        error = std::move(status);
        notice = FailureNotice(first);
        cause = first.code;
    }
    const Codec& codec(CodecId id) const { return codecs[id]; }
};

}  // namespace gradcoll
