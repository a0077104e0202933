#include "call/host_call.hpp"

#include "attach/attachments.hpp"
#include "attach/offered_comm.hpp"
#include "call/host_buffer.hpp"

namespace gradcoll {
namespace {

/// Returns whether nothing about the buffers needs a closer look.
bool has_plain_buffers(const HostCall& call, bool is_root, std::uint64_t size_bytes) {
    const CallArguments& a = call.arguments;
    if (call.entry->kind == CallKind::barrier) return true;
    if (call.entry->kind == CallKind::bcast) return is_plain_host_memory(a.recvbuf);
    if (!is_root) return is_plain_host_memory(a.sendbuf);
    return are_plain_and_apart(a, size_bytes);
}

Status run_plain(CommContext& context, const HostCall& call, const CallShape& shape, bool is_root) {
    const CallArguments& a = call.arguments;
    if (call.entry->kind == CallKind::barrier) return context.one_host().barrier();
    if (call.entry->kind == CallKind::bcast)
        return context.one_host().bcast(a.recvbuf, shape.size_bytes(), call.root);
    Binding binding;
    binding.input = is_in_place(a) ? a.recvbuf : a.sendbuf;
    binding.output = is_root ? a.recvbuf : nullptr;
    return context.one_host().reduce(binding, shape, call.root);
}

/// Takes the short way if this thread knows the communicator and the types, and the buffers are
/// plain.
Shortcut run_cached_host_call(const HostCall& call, Status& status) {
    const SeenComm seen = comm_for_short_way(call.arguments.comm);
    if (seen.is_nothing()) return Shortcut::no;
    CommContext* const context = seen.context;
    AttachAccount* const account = seen.account;
    const Classified known = shape_of_known(call);
    const std::uint64_t size_bytes = known.shape.size_bytes();
    const auto pass = [&](PassReason reason) {
        count_passed(context, *call.entry, call.arguments, reason);
        return Shortcut::passes;
    };
    if (process_settings().check == CheckLevel::collective) return Shortcut::no;
    if (known.shape.by_mpi() && (context == nullptr || !context->settings().checks_calls()))
        return pass(known.pass_reason);
    if (known.passes()) return Shortcut::no;
    if (account != nullptr) {
        const PassReason by_size = reason_by_size(call, size_bytes, account->rank_count());
        if (by_size != PassReason::none) return pass(by_size);
        return account->passes(size_bytes) ? pass(of_one_host(account->pass_reason()))
                                           : Shortcut::no;
    }
    if (context->settings().checks_calls()) return Shortcut::no;
    OneHost& host = context->one_host();
    if (!host.may_open()) return pass(PassReason::needs_one_host);
    const CommIdentity& comm = context->identity();
    const PassReason by_size = reason_by_size(call, size_bytes, comm.rank_count());
    if (by_size != PassReason::none) return pass(by_size);
    const bool is_root = call.root == comm.rank();
    if (!host.is_open() || call.root < 0 || call.root >= comm.rank_count() ||
        !has_plain_buffers(call, is_root, size_bytes))
        return Shortcut::no;
    status = run_plain(*context, call, known.shape, is_root);
    return Shortcut::served;
}

/// PlainBuffers are those of a call, or copies of them that are plain.
struct PlainBuffers {
    HostBuffer input, output;

    /// Fills what this rank gives, and names it in `call`. Errors: those of HostBuffer::fill().
    Status fill(CommContext& context, bool is_root, HostCall& call) {
        CallArguments& a = call.arguments;
        const bool is_bcast = call.entry->kind == CallKind::bcast;
        if (!is_in_place(a)) {
            input = HostBuffer(context, a.sendbuf, a.count, a.datatype);
            GRADCOLL_TRY(input.fill());
            a.sendbuf = input.data();
        }
        if (!is_in_place(a) && !is_root) return {};
        output = HostBuffer(context, a.recvbuf, a.count, a.datatype);
        if (is_in_place(a) && (is_root || !is_bcast)) GRADCOLL_TRY(output.fill());
        a.recvbuf = output.data();
        return {};
    }
};

/// Runs an admitted call, with copies of buffers that are not plain.
Status run_admitted(const AdmittedHostCall& admitted, const HostCall& call) {
    CommContext& context = *admitted.context;
    const bool is_root = call.root == context.identity().rank();
    if (call.entry->kind == CallKind::barrier) return context.one_host().barrier();
    PlainBuffers buffers;
    HostCall plain = call;
    if (const Status filled = buffers.fill(context, is_root, plain); !filled.ok()) {
        context.one_host().refuse(call.entry->kind, admitted.shape, filled.code());
        return filled;
    }
    GRADCOLL_TRY(run_plain(context, plain, admitted.shape, is_root));
    const bool receives = (call.entry->kind == CallKind::bcast) != is_root;
    return receives ? buffers.output.drain() : Status();
}

}  // namespace

Shortcut run_host_call(const HostCall& call, Status& status) {
    if (const Shortcut known = run_cached_host_call(call, status); known != Shortcut::no)
        return known;
    AdmittedHostCall admitted = admit_host_call(call);
    if (!admitted.refusal.ok())
        admitted.context->one_host().refuse(call.entry->kind, admitted.shape,
                                            admitted.refusal.code());
    if (!admitted.error.ok()) {
        status = std::move(admitted.error);
        return Shortcut::served;
    }
    if (admitted.pass_reason != PassReason::none) {
        count_passed(admitted.context.get(), *call.entry, call.arguments, admitted.pass_reason);
        return Shortcut::passes;
    }
    status = run_admitted(admitted, call);
    return Shortcut::served;
}

}  // namespace gradcoll
