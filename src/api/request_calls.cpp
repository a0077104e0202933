// GC_Allreduce_init and the calls on a persistent request.
#include "gradcoll/persistent.h"

#include <fmt/format.h>
#include <sched.h>

#include <span>

#include "call/anywhere/integer_reduction.hpp"
#include "call/persistent_call.hpp"
#include "mpi/boundary.hpp"
#include "settings/info_keys.hpp"

/// GC_Request_s is what the opaque handle of the C API points to.
struct GC_Request_s {
    std::unique_ptr<gradcoll::PersistentCall> call;
    GC_Residual_s residual;  ///< its `residual` is null if the request has none
};

namespace gradcoll {
namespace {

MPI_Comm comm_of(GC_Request request) {
    return request != nullptr ? request->call->comm() : MPI_COMM_NULL;
}

MPI_Comm comm_of_first(int count, const GC_Request requests[]) {
    return count > 0 && requests != nullptr ? comm_of(requests[0]) : MPI_COMM_NULL;
}

Outcome check_handle(GC_Request request) {
    if (request == nullptr) return Outcome::bad_request("request is GC_REQUEST_NULL");
    return Status();
}

/// Returns what `info` alone asks for; the defaults are exact.
Result<Settings> settings_in(MPI_Info info) {
    SettingsText text = SettingsText::defaults();
    GRADCOLL_TRY(add_info(info, text));
    return Settings::parse(text);
}

/// Checks that the codec settings of one request, given in its own info, fit its type and op. Those
/// of the communicator are not checked: they do not apply if they do not fit. Errors:
/// invalid_argument, invalid_op.
Status check_codecs_fit(const Settings& settings, const Call& call) {
    if (!settings.ever_lossy()) return {};
    if (call.passes())
        return {Code::invalid_argument,
                fmt::format("info asks for a lossy codec, but {}", text_of(call.pass_reason))};
    if (!is_floating(call.shape.type))
        return {
            Code::invalid_argument,
            fmt::format(
                "info asks for a lossy codec, but datatype is {}; allowed are floating-point types",
                name_of(call.shape.type))};
    if (!call.shape.sums())
        return {Code::invalid_op,
                fmt::format("info asks for a lossy codec, but op is {}; allowed is MPI_SUM",
                            name_of(call.shape.op))};
    return {};
}

/// Returns the communicator's settings, and over them those of the request. A rank that refuses the
/// call says so to the others. Collective.
Result<Settings> request_settings(const Call& call, MPI_Info info) {
    SettingsText proposed = call.context->settings().text();
    Status complaint = call.refusal;
    if (complaint.ok()) complaint = add_info(info, proposed);
    auto settings = call.context->settings().agree(proposed, complaint, request_claims(call));
    if (!call.refusal.ok()) return call.refusal;
    if (!settings) return settings;
    auto own = settings_in(info);
    if (!own) return own;
    GRADCOLL_TRY(check_codecs_fit(*own, call));
    if (own->fault == Fault::survive && call.context->settings().current().fault != Fault::survive)
        return Status(Code::invalid_argument,
                      "info asks for gc_fault=survive, which a request has if its communicator "
                      "has it; without that it can only be told gc_fault=report");
    if (settings->anywhere)
        GRADCOLL_TRY(check_same_anywhere(call.shape, call.pass_reason, call.arguments.op,
                                         call.context->identity().rank_count()));
    return settings;
}

constexpr Entry init_entry{
    .kind = CallKind::persistent, .name = "GC_Allreduce_init", .reach = Reach::host_and_devices};

Status init(const CallArguments& arguments, MPI_Info info, GC_Request* request) {
    const Call call =
        admit(init_entry, arguments,
              request != nullptr ? Status()
                                 : Status(Code::invalid_argument, "request is a null pointer"));
    Settings settings;
    if (call.refusal.ok()) GRADCOLL_TRY(call.error);
    if (call.context != nullptr) GRADCOLL_TRY(take(settings, request_settings(call, info)));
    std::unique_ptr<GC_Request_s> made;
    const auto make = [&] {
        auto persistent = GRADCOLL_VALUE(PersistentCall::make(call, settings));
        const auto residual = persistent->residual();
        const auto plan = persistent->residual_plan();
        made.reset(new GC_Request_s{std::move(persistent),
                                    {call.context, residual, "GC_Request_free", plan}});
        return Status();
    };
    if (call.context != nullptr && call.context->identity().rank_count() > 1)
        // A rank that starts a request which another rank does not have would wait for that rank.
        GRADCOLL_TRY(
            done_on_all(call.context->identity().private_comm(), "set up the request", make));
    else
        GRADCOLL_TRY(make());
    *request = made.release();
    return {};
}

/// Adds the time of a call on the request to its communicator's statistics.
template <class Body>
auto timed(GC_Request request, Body&& body) {
    CommContext* const context = request->call->context();
    if (context == nullptr) return body();
    const CallTimer timer(context->statistics());
    return body();
}

Outcome start(GC_Request request) {
    if (Outcome checked = check_handle(request); !checked.status.ok()) return checked;
    if (request->call->is_started())
        return Outcome::bad_request("request is started already and not completed");
    return timed(request, [&] { return request->call->start(); });
}

Outcome test(GC_Request request, int* flag) {
    if (Outcome checked = check_handle(request); !checked.status.ok()) return checked;
    if (flag == nullptr) return Status(Code::invalid_argument, "flag is null");
    Outcome outcome{Status()};
    *flag = timed(request, [&] { return request->call->test(outcome); }) ? 1 : 0;
    return outcome;
}

Outcome wait_request(GC_Request request) {
    if (Outcome checked = check_handle(request); !checked.status.ok()) return checked;
    return timed(request, [&] {
        Outcome outcome{Status()};
        while (!request->call->test(outcome)) sched_yield();
        return outcome;
    });
}

Status check_array(int count, const GC_Request requests[]) {
    if (count < 0)
        return {Code::invalid_count, fmt::format("count is {}; allowed is 0 and more", count)};
    if (count > 0 && requests == nullptr) return {Code::invalid_argument, "requests is null"};
    return {};
}

/// Calls `each` for every request, and returns the first failure.
template <class Each>
Outcome for_all(int count, GC_Request requests[], Each&& each) {
    GRADCOLL_TRY(check_array(count, requests));
    Outcome first{Status()};
    for (GC_Request request : std::span(requests, static_cast<std::size_t>(count))) {
        Outcome outcome = each(request);
        if (first.mpi_code == MPI_SUCCESS) first = std::move(outcome);
    }
    return first;
}

Outcome free_request(GC_Request& request) {
    if (Outcome checked = check_handle(request); !checked.status.ok()) return checked;
    Outcome outcome = wait_request(request);
    delete request;
    request = GC_REQUEST_NULL;
    return outcome;
}

/// Runs `body` on the request that the handle refers to.
template <class Body>
int at_request(GC_Request* request, const char* call, Body&& body) {
    const MPI_Comm comm = request != nullptr ? comm_of(*request) : MPI_COMM_NULL;
    return at_boundary(comm, call, [&] {
        return request != nullptr ? body(*request)
                                  : Outcome::bad_request("request is a null pointer");
    });
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                 GC_Request* request) {
    return at_boundary(comm, "GC_Allreduce_init", [&] {
        return init({sendbuf, recvbuf, count, datatype, op, comm}, info, request);
    });
}

extern "C" int GC_Start(GC_Request* request) {
    return at_request(request, "GC_Start", start);
}

extern "C" int GC_Startall(int count, GC_Request requests[]) {
    return at_boundary(comm_of_first(count, requests), "GC_Startall",
                       [&] { return for_all(count, requests, start); });
}

extern "C" int GC_Test(GC_Request* request, int* flag) {
    return at_request(request, "GC_Test", [&](GC_Request r) { return test(r, flag); });
}

extern "C" int GC_Wait(GC_Request* request) {
    return at_request(request, "GC_Wait", wait_request);
}

extern "C" int GC_Waitall(int count, GC_Request requests[]) {
    return at_boundary(comm_of_first(count, requests), "GC_Waitall",
                       [&] { return for_all(count, requests, wait_request); });
}

extern "C" int GC_Request_get_residual(GC_Request request, GC_Residual* residual) {
    return at_boundary(comm_of(request), "GC_Request_get_residual", [&]() -> Outcome {
        if (Outcome checked = check_handle(request); !checked.status.ok()) return checked;
        if (residual == nullptr)
            return Status(Code::invalid_argument, "residual is a null pointer");
        *residual = request->residual.residual != nullptr ? &request->residual : GC_RESIDUAL_NULL;
        return Status();
    });
}

extern "C" int GC_Request_set_step(GC_Request request, long long step) {
    return at_boundary(comm_of(request), "GC_Request_set_step", [&]() -> Outcome {
        if (Outcome checked = check_handle(request); !checked.status.ok()) return checked;
        if (step < 0)
            return Status(Code::invalid_argument,
                          fmt::format("step is {}; allowed is 0 and more", step));
        request->call->set_step(step);
        return Status();
    });
}

extern "C" int GC_Request_free(GC_Request* request) {
    return at_request(request, "GC_Request_free", free_request);
}
