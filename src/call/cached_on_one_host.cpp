#include "attach/offered_comm.hpp"
#include "call/anywhere/integer_reduction.hpp"
#include "call/cached_call.hpp"
#include "call/call_kinds.hpp"
#include "ways/route.hpp"

namespace gradcoll {
namespace {

/// Returns whether the vector needs more than to be added.
bool may_be_lossy_or_kept(const Settings& settings, CallKind kind, const CallShape& shape) {
    return has(kind, CallTrait::in_blocks) && !gathers(kind) &&
           (may_be_lossy(settings, shape) || keeps_tolerance(settings, shape) ||
            is_same_anywhere(settings, shape));
}

/// Returns whether the call passes, as it pays neither for shared memory nor for a tree.
bool passes_for_now(AttachAccount& account, const Entry& entry, const CallShape& shape) {
    const Settings& settings = process_settings();
    const bool for_tree =
        !entry.needs_one_host && (shape.size_bytes() >= settings.tree_min_bytes ||
                                  may_be_lossy_or_kept(settings, entry.kind, shape));
    return !for_tree && account.passes(shape.size_bytes());
}

/// Returns why the MPI library does the call whoever its communicator is, by its size alone.
PassReason reason_by_size(CallKind kind, const CallShape& shape, int ranks) {
    if (shape.count == 0 && !has(kind, CallTrait::no_buffers)) return PassReason::empty_vector;
    return HostMemory::is_slower(kind, shape, ranks) ? PassReason::slower_on_one_host
                                                     : PassReason::none;
}

/// Returns whether nothing about this rank's buffers needs a closer look.
bool has_plain_buffers(CallKind kind, const CallArguments& a, bool is_root,
                       std::uint64_t size_bytes) {
    if (has(kind, CallTrait::no_buffers)) return true;
    if (has(kind, CallTrait::from_root)) return is_plain_host_memory(a.recvbuf);
    if (has(kind, CallTrait::to_root) && !is_root) return is_plain_host_memory(a.sendbuf);
    return are_plain_and_apart(a, size_bytes);
}

}  // namespace

Shortcut run_cached_on_one_host(const Entry& entry, const CallArguments& a, Status& status) {
    const SeenComm seen = comm_for_short_way(a.comm);
    if (seen.is_nothing() || process_settings().check == CheckLevel::collective)
        return Shortcut::no;
    const auto [context, account] = seen;
    const int ranks = context != nullptr ? context->identity().rank_count() : account->rank_count();
    const bool only_here = has(entry.kind, CallTrait::only_one_host);
    const auto pass = [&, to = context](PassReason reason) {
        count_passed(to, entry, a, reason);
        return Shortcut::passes;
    };
    const bool is_compared = context != nullptr && context->settings().checks_calls();
    const auto [shape, reason] =
        classify_known(entry.kind, a, has(entry.kind, CallTrait::in_blocks) ? ranks : 1);
    if (shape.by_mpi() && only_here && !is_compared) return pass(reason);
    const PassReason by_size = reason_by_size(entry.kind, shape, ranks);
    if (reason != PassReason::none || (by_size != PassReason::none && !only_here))
        return Shortcut::no;
    if (account != nullptr) {
        if (by_size != PassReason::none) return pass(by_size);
        if (!passes_for_now(*account, entry, shape)) return Shortcut::no;
        const PassReason why = account->pass_reason();
        return pass(entry.needs_one_host ? of_one_host(why) : why);
    }
    if (is_compared || context->identity().has_dead_rank()) return Shortcut::no;
    OneHost& host = context->one_host();
    if (only_here && !host.may_open()) return pass(PassReason::needs_one_host);
    if (by_size != PassReason::none) return pass(by_size);
    const bool is_root = a.root == context->identity().rank();
    if (!host.is_open() || a.root < 0 || a.root >= ranks ||
        may_be_lossy_or_kept(context->settings().current(), entry.kind, shape) ||
        !has_plain_buffers(entry.kind, a, is_root, shape.size_bytes()))
        return Shortcut::no;
    status = host.run(entry.kind, binding_of(a, shape), shape, a.root);
    return Shortcut::served;
}

}  // namespace gradcoll
