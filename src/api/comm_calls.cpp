// GC_Comm_attach, the settings of a communicator, GC_Step, GC_Comm_shrink.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "api/engines.hpp"
#include "attach/attachments.hpp"
#include "base/mpi/guarded_comms.hpp"
#include "base/mpi/ulfm.hpp"
#include "gradcoll/settings.h"
#include "mpi/boundary.hpp"
#include "mpi/request.hpp"
#include "settings/info_keys.hpp"

namespace gradcoll {
namespace {

using ContextPtr = std::shared_ptr<CommContext>;

/// Returns the context for a call that makes no sense on an intercommunicator.
Result<ContextPtr> intra_context(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return Status(Code::invalid_comm, "comm is MPI_COMM_NULL");
    auto context = context_of(comm);
    if (context.ok() && !*context)
        return Status(Code::invalid_comm,
                      "comm is an intercommunicator; its calls pass to the MPI library and have "
                      "no settings");
    return context;
}

/// Changes the settings if all ranks agree. `change` edits the proposed settings and returns what
/// is wrong with this rank's arguments.
template <class Change>
int change_settings(MPI_Comm comm, const char* call, Change&& change) {
    return at_boundary(comm, call, [&]() -> Status {
        const auto context = intra_context(comm);
        if (!context) return context.status();
        SettingsText proposed = (*context)->settings().text();
        const Status complaint = change(proposed);
        return (*context)->change_settings(proposed, complaint);
    });
}

/// Sets the codec without its parts.
Status set_codec(SettingsText& text, const char* codec) {
    if (codec == nullptr) return {Code::invalid_argument, "codec is null"};
    text.set(OptionId::codec, codec);
    return {};
}

/// An empty schedule is none: all is exact.
Status set_schedule(SettingsText& text, const char* schedule) {
    if (schedule == nullptr) return {Code::invalid_argument, "schedule is null"};
    const auto phases = CodecSchedule::parse(schedule);
    if (!phases) return phases.status();
    text.set(OptionId::codec, phases->empty() ? info_of(OptionId::codec).default_value : schedule);
    return {};
}

Status set_option(SettingsText& text, const char* key, const char* value) {
    if (key == nullptr) return {Code::invalid_argument, "key is null"};
    const auto id = option_of_key(key);
    if (!id) return id.status();
    if (value == nullptr) return {Code::invalid_argument, "value is null"};
    return text.say(*id, value);
}

Status get_option(MPI_Comm comm, const char* key, std::string& out) {
    if (key == nullptr) return {Code::invalid_argument, "key is null"};
    const auto id = option_of_key(key);
    if (!id) return id.status();
    const auto context = attached_context(comm);
    if (!context) return context.status();
    out = (*context ? (*context)->settings().text() : SettingsText::from_environment()).said(*id);
    return {};
}

/// Ends the use of a communicator of which ranks have died: those that still wait on it go on.
void revoke(MPI_Comm comm, const CommContext* context) {
    if (context != nullptr) {
        context->leave();
        ulfm().revoke(context->identity().private_comm());
    }
    ulfm().revoke(comm);
}

/// Gives the new communicator what programs set on one: its name and its error handler.
void take_after(MPI_Comm comm, MPI_Comm old) {
    PMPI_Comm_set_name(comm, comm_name(old).c_str());
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (PMPI_Comm_get_errhandler(old, &handler) != MPI_SUCCESS) return;
    PMPI_Comm_set_errhandler(comm, handler);
    PMPI_Errhandler_free(&handler);
}

/// Does what agree_as_survivors() does. Returns whether none of them has died, as far as any of
/// them was told: all return the same.
bool all_live_and_agree(MPI_Comm comm, int& flag) {
    int all_live = agree_as_survivors(comm, flag).ok() ? 1 : 0;
    (void)agree_as_survivors(comm, all_live);
    return all_live != 0;
}

/// Attaches a new communicator as the old one was, if that was on all of its ranks, and leaves in
/// `attached` whether all could. Returns false, on all that live, where a rank has died meanwhile.
/// Before anybody attaches, no rank is inside MPIX_Comm_shrink any more: Open MPI 5.0.11 crashes
/// there if another revokes what is made.
bool attach_or_lose_rank(MPI_Comm made, const CommContext* old, Status& attached) {
    int all_had_attached = old != nullptr ? 1 : 0;
    if (!all_live_and_agree(made, all_had_attached)) return false;
    if (all_had_attached == 0) return true;
    GuardedComms guarded(made);
    attached = attach_like(made, *old);
    if (!attached.ok() || knows_of_failures(made)) guarded.revoke();
    int all_could = attached.ok() ? 1 : 0;
    const bool all_live = all_live_and_agree(made, all_could);
    if (all_could == 0 && attached.ok())
        attached = {Code::peer_failed, "another rank could not attach what is left"};
    return all_live;
}

/// Makes a communicator of the ranks that live, attached as the old one was. Where one dies
/// meanwhile all others begin again.
Result<MPI_Comm> rest_of(MPI_Comm comm, const CommContext* old) {
    for (int may_die = rank_count_of(comm); may_die > 0; --may_die) {
        MPI_Comm made = MPI_COMM_NULL;
        GRADCOLL_TRY(from_mpi(ulfm().shrink(comm, &made), "MPIX_Comm_shrink"));
        PMPI_Comm_set_errhandler(made, errors_return());
        Status attached;
        const bool all_live = attach_or_lose_rank(made, old, attached);
        if (all_live && attached.ok()) return made;
        PMPI_Comm_free(&made);
        if (all_live) return attached;
    }
    return Status(Code::peer_died, "ranks die whenever a communicator of the others is made");
}

Status shrink(MPI_Comm comm, MPI_Comm* newcomm) {
    GRADCOLL_TRY(check_comm(comm));
    if (newcomm == nullptr) return {Code::invalid_argument, "newcomm is a null pointer"};
    *newcomm = MPI_COMM_NULL;
    if (rank_count_of(comm) == 0)
        return {Code::invalid_comm, "comm is an intercommunicator, which is not shrunk"};
    if (!ulfm().is_there())
        return {Code::unsupported,
                "the MPI library lacks MPIX_Comm_revoke, MPIX_Comm_shrink, MPIX_Comm_iagree or "
                "MPIX_Comm_get_failed (ULFM, as in Open MPI 5), without which ranks cannot go on "
                "when one has died"};
    const auto old = GRADCOLL_VALUE(attached_context(comm));
    retire_engines_of_the_dead();
    revoke(comm, old.get());
    MPI_Comm made = GRADCOLL_VALUE(rest_of(comm, old.get()));
    take_after(made, comm);
    *newcomm = made;
    return {};
}

Status copy_out(const std::string& text, char* value, int size, int* length) {
    if (length != nullptr) *length = static_cast<int>(text.size());
    if (size < 0 || (value == nullptr && size > 0))
        return {Code::invalid_argument,
                fmt::format("value = {} of {} bytes; allowed is a buffer of at least 0 bytes",
                            static_cast<void*>(value), size)};
    if (size == 0) return {};
    const std::size_t kept = std::min(text.size(), static_cast<std::size_t>(size) - 1);
    std::memcpy(value, text.data(), kept);
    value[kept] = '\0';
    return {};
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Comm_attach(MPI_Comm comm) {
    return at_boundary(comm, "GC_Comm_attach", [&]() -> Status {
        const ContextPtr context = GRADCOLL_VALUE(intra_context(comm));
        return context->measure_network();
    });
}

extern "C" int GC_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm) {
    return at_boundary(comm, "GC_Comm_shrink", [&] { return shrink(comm, newcomm); });
}

extern "C" int GC_Comm_set_codec(MPI_Comm comm, const char* codec) {
    return change_settings(comm, "GC_Comm_set_codec",
                           [&](SettingsText& text) { return set_codec(text, codec); });
}

extern "C" int GC_Comm_set_schedule(MPI_Comm comm, const char* schedule) {
    return change_settings(comm, "GC_Comm_set_schedule",
                           [&](SettingsText& text) { return set_schedule(text, schedule); });
}

extern "C" int GC_Step(MPI_Comm comm, long long step) {
    return at_boundary(comm, "GC_Step", [&]() -> Status {
        const auto context = intra_context(comm);
        if (!context) return context.status();
        if (step < 0)
            return {Code::invalid_argument, fmt::format("step is {}; allowed is 0 and more", step)};
        (*context)->set_step(step);
        return {};
    });
}

extern "C" int GC_Comm_set_option(MPI_Comm comm, const char* key, const char* value) {
    return change_settings(comm, "GC_Comm_set_option",
                           [&](SettingsText& text) { return set_option(text, key, value); });
}

extern "C" int GC_Comm_set_info(MPI_Comm comm, MPI_Info info) {
    return change_settings(comm, "GC_Comm_set_info",
                           [&](SettingsText& text) { return add_info(info, text); });
}

extern "C" int GC_Comm_set_stream(MPI_Comm comm, void* stream) {
    return at_boundary(comm, "GC_Comm_set_stream", [&]() -> Status {
        const auto context = intra_context(comm);
        if (!context) return context.status();
        Devices& devices = Devices::of_process();
        if (devices.look_for_plugin() == nullptr)
            return {Code::unsupported, fmt::format("stream = {}: no device is in use: {}", stream,
                                                   devices.why_inactive())};
        return (*context)->devices().set_user_stream(stream);
    });
}

extern "C" int GC_Comm_get_option(MPI_Comm comm, const char* key, char* value, int size,
                                  int* length) {
    return at_boundary(comm, "GC_Comm_get_option", [&]() -> Status {
        GRADCOLL_TRY(check_comm(comm));
        std::string text;
        GRADCOLL_TRY(get_option(comm, key, text));
        return copy_out(text, value, size, length);
    });
}
