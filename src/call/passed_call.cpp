// call/passed_call.cpp - calls that pass to the MPI library are counted, and told of where that
// breaks a promise.
#include <atomic>

#include "base/log.hpp"
#include "call/call.hpp"
#include "ways/route.hpp"

namespace gradcoll {

void count_passed(CommContext* context, const Entry& entry, const CallArguments& arguments,
                  PassReason reason) {
    if (context == nullptr && !unattached_calls_are_told()) return;
    const bool makes_sense = reason != PassReason::wrong_arguments && arguments.count >= 0 &&
                             arguments.datatype != MPI_DATATYPE_NULL;
    const MPI_Count count = entry.whole_count.value_or(arguments.count);
    std::uint64_t bytes = makes_sense ? observed_bytes(count, arguments.datatype) : 0;
    if (bytes != 0 && has(entry.kind, CallTrait::in_blocks) && !entry.whole_count) {
        const int blocks = comm_size(arguments.comm);
        bytes *= static_cast<std::uint64_t>(blocks);
    }
    if (context != nullptr)
        context->statistics().count_passed(entry.counted_as, bytes, reason);
    else
        count_unattached(arguments.comm, entry.counted_as, bytes, reason);
}

namespace {

/// Warns once in each process that is rank 0 of a communicator on which it happens.
void tell_that_tolerance_is_not_kept(const Call& call) {
    static std::atomic_flag is_told;
    const bool has_context = call.context != nullptr;
    const Settings& settings =
        has_context ? call.context->settings().current() : process_settings();
    if (moves_data(call.entry->kind) || has(call.entry->kind, CallTrait::only_one_host) ||
        call.pass_reason == PassReason::wrong_arguments ||
        call.pass_reason == PassReason::single_rank || !keeps_tolerance(settings, call.shape))
        return;
    const int rank = comm_rank(call.arguments.comm);
    if (rank != 0 || is_told.test_and_set()) return;
    log(LogLevel::warn,
        "{}: {} bytes pass to the MPI library ({}), whose additions are not held to gc_tolerance; "
        "other such calls are not told of",
        call.entry->name, call.shape.size_bytes(), text_of(call.pass_reason));
}

/// Says once in each process that is rank 0 of a communicator on which it happens.
void tell_that_survivors_do_not_agree(const Call& call) {
    static std::atomic_flag is_told;
    if (call.context == nullptr || call.context->verdicts() == nullptr ||
        collective_of(call.entry->kind) != Collective::allreduce ||
        call.pass_reason == PassReason::wrong_arguments)
        return;
    if (comm_rank(call.arguments.comm) != 0 || is_told.test_and_set()) return;
    log(LogLevel::warn,
        "{}: {} bytes pass to the MPI library ({}), on whose sums survivors do not agree "
        "(gc_fault=survive); other such calls are not told of",
        call.entry->name, call.shape.size_bytes(), text_of(call.pass_reason));
}

}  // namespace

void count_passed(const Call& call) {
    if (call.arguments.comm == MPI_COMM_NULL) return;
    tell_that_tolerance_is_not_kept(call);
    tell_that_survivors_do_not_agree(call);
    count_passed(call.context.get(), *call.entry, call.arguments, call.pass_reason);
}

}  // namespace gradcoll
