// GC_Comm_attach, the settings of a communicator, GC_Step.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "attach/attachments.hpp"
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
    return at_boundary(comm, "GC_Comm_attach", [&] { return intra_context(comm).status(); });
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
