#include "call/cached_blocks.hpp"
#include "call/anywhere/integer_reduction.hpp"

#include <algorithm>

#include "attach/attachments.hpp"
#include "attach/offered_comm.hpp"
#include "call/call_kinds.hpp"
#include "mpi/signature.hpp"
#include "ways/route.hpp"

namespace gradcoll {
namespace {

bool gathers(const Entry& entry) {
    return entry.collective == Collective::allgather;
}

/// Returns the shape of the whole vector, which for an allgather is one of bytes; it passes() if
/// the type is not known.
Classified shape_of_known_blocks(const Entry& entry, const CallArguments& a, int ranks) {
    const Classified unknown{{}, PassReason::unknown_datatype};
    if (a.count <= 0 || a.count > most_count / std::max(ranks, 1)) return unknown;
    if (!gathers(entry)) {
        const Classified known = classify(a.count * ranks, a.datatype, a.op);
        return known.shape.by_mpi() ? unknown : known;
    }
    const std::size_t bytes = bytes_of_named(a.datatype);
    const bool alike = is_in_place(a) || (a.sendtype == a.datatype && a.sendcount == a.count);
    if (bytes == 0 || !alike) return unknown;
    return {shape_of_bytes(static_cast<std::uint64_t>(a.count * ranks) * bytes), PassReason::none};
}

/// Returns whether the vector needs more than to be added.
bool may_be_lossy_or_kept(const Settings& settings, const Entry& entry, const CallShape& shape) {
    return !gathers(entry) && (may_be_lossy(settings, shape) || keeps_tolerance(settings, shape) ||
                               is_same_anywhere(settings, shape));
}

/// Returns whether the call passes, as it pays neither for shared memory nor for a tree.
bool passes_for_now(AttachAccount& account, const Entry& entry, const CallShape& shape) {
    const Settings& settings = process_settings();
    const bool for_tree = !entry.needs_one_host && (shape.size_bytes() >= settings.tree_min_bytes ||
                                                    may_be_lossy_or_kept(settings, entry, shape));
    return !for_tree && account.passes(shape.size_bytes());
}

Status run_on(CommContext& context, const Entry& entry, const CallArguments& a,
              const CallShape& shape) {
    const Binding binding = binding_of(a, shape);
    if (!gathers(entry)) return context.one_host().reduce_scatter(entry.kind, binding, shape);
    const auto ranks = static_cast<std::size_t>(context.identity().rank_count());
    return context.one_host().allgather(binding, shape.size_bytes() / ranks);
}

}  // namespace

Shortcut run_cached_blocks(const Entry& entry, const CallArguments& arguments, Status& status) {
    const SeenComm seen = comm_for_short_way(arguments.comm);
    if (seen.is_nothing()) return Shortcut::no;
    const auto [context, account] = seen;
    const int ranks = context != nullptr ? context->identity().rank_count() : account->rank_count();
    const Classified known = shape_of_known_blocks(entry, arguments, ranks);
    if (known.passes() || OneHost::is_slower(entry.collective, known.shape, ranks))
        return Shortcut::no;
    if (account != nullptr) {
        if (!passes_for_now(*account, entry, known.shape)) return Shortcut::no;
        const PassReason reason = account->pass_reason();
        count_passed(nullptr, entry, arguments,
                     entry.needs_one_host ? of_one_host(reason) : reason);
        return Shortcut::passes;
    }
    if (!context->one_host().is_open() || context->settings().checks_calls() ||
        may_be_lossy_or_kept(context->settings().current(), entry, known.shape) ||
        !are_plain_and_apart(arguments, known.shape.size_bytes()))
        return Shortcut::no;
    status = run_on(*context, entry, arguments, known.shape);
    return Shortcut::served;
}

}  // namespace gradcoll
