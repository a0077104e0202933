// MPI_Allreduce_init of unchanged programs, and the starts and the end of such requests.
#include <mutex>
#include <unordered_map>

#include "api/interposed/entries.hpp"
#include "api/interposed/gate.hpp"
#include "api/interposed/offer.hpp"
#include "base/log.hpp"
#include "call/anywhere/integer_reduction.hpp"
#include "call/self_message_request.hpp"
#include "mpi/lifetime.hpp"
#include "settings/info_keys.hpp"

namespace gradcoll {
namespace {

constexpr const char* call_name = row_of(CallKind::allreduce_init).offered_name;

/// Requests holds the requests that are served here, by MPI's handles.
class Requests {
  public:
    void add(GC_Mpi_handle handle, std::shared_ptr<SelfMessageRequest> request) {
        const std::scoped_lock lock(mutex_);
        requests_[handle] = std::move(request);
        offer_starts(true);
    }
    std::shared_ptr<SelfMessageRequest> find(GC_Mpi_handle handle) {
        const std::scoped_lock lock(mutex_);
        const auto found = requests_.find(handle);
        return found != requests_.end() ? found->second : nullptr;
    }
    void forget(GC_Mpi_handle handle) {
        std::shared_ptr<SelfMessageRequest> last;  // destroyed after the lock is gone
        const std::scoped_lock lock(mutex_);
        const auto found = requests_.find(handle);
        if (found == requests_.end()) return;
        last = std::move(found->second);
        requests_.erase(found);
        offer_starts(!requests_.empty());
    }
    void forget(const SelfMessageRequest& request) {
        const std::scoped_lock lock(mutex_);
        std::erase_if(requests_, [&](const auto& entry) { return entry.second.get() == &request; });
        offer_starts(!requests_.empty());
    }
    void forget_all() {
        std::unordered_map<GC_Mpi_handle, std::shared_ptr<SelfMessageRequest>> last;
        const std::scoped_lock lock(mutex_);
        last.swap(requests_);
        offer_starts(false);
    }
    /// Frees in MPI_Finalize the requests that a program never frees: they keep their
    /// communicators' contexts, which must go before MPI.
    Status end_with_mpi() {
        const std::scoped_lock lock(mutex_);
        if (!ends_) GRADCOLL_TRY(at_finalize([this] { forget_all(); }));
        ends_ = true;
        return {};
    }

  private:
    std::mutex mutex_;
    std::unordered_map<GC_Mpi_handle, std::shared_ptr<SelfMessageRequest>> requests_;
    bool ends_ = false;
};

/// Returns the requests of the process. They are never destroyed, as a program may end without
/// MPI_Finalize.
Requests& requests() {
    static auto& all = *new Requests;
    return all;
}

GC_Mpi_handle handle_at(const void* handles, int index) {
    return bits_of(static_cast<const MPI_Request*>(handles)[index]);
}

/// Returns the communicator's settings, and over them those of the request. If the latter, which
/// may limit loss, are not valid, warns and returns the communicator's with exact sums. Collective.
Settings settings_for(const CommContext& context, MPI_Info info) {
    SettingsText proposed = context.settings().text();
    const Status complaint = add_info(info, proposed);
    auto settings = context.settings().agree(proposed, complaint);
    if (settings) return std::move(settings).value();
    log(context.identity().rank() == 0 ? LogLevel::warn : LogLevel::debug,
        "{}: the gc_* keys of info are ignored, and its sums are exact: {}", call_name,
        settings.status().message());
    Settings exact = context.settings().current();
    exact.stay_exact();
    return exact;
}

/// Decides whether the request is one of the calls that gc_compress_calls allows. All ranks make
/// requests in one order, but may start them in different ones, so this is decided here. Returns
/// none, or a reason to pass the request.
PassReason fix_route(CommContext& context, const CallArguments& arguments, const CallShape& shape,
                     Settings& settings) {
    RouteQuestion question{
        .in_place = is_in_place(arguments),
        .sums = shape.sums(),
        .comm_may_be_lossy = settings.compress_comms.allows(context.identity().name())};
    question.step = first_compressible_step(settings, shape, question).value_or(0);
    const Route route = context.route(settings, shape, question);
    settings.compress_calls = CallFilter::parse(route.key.compress ? "all" : "!0-").value();
    return route.pass_reason;
}

/// Says once that survivors do not agree on such requests, as ranks may start them in different
/// orders.
void tell_of_no_verdicts(const CommContext& context, const Settings& settings) {
    static std::once_flag once;
    if (settings.fault == Fault::report) return;
    std::call_once(once, [&] {
        log(context.identity().rank() == 0 ? LogLevel::warn : LogLevel::debug,
            "gc_fault=survive: survivors do not agree on the sums of {}", call_name);
    });
}

/// Forgets a failed request. If MPI frees it when it fails, its handle may soon be that of another.
void on_failure(const SelfMessageRequest& request) {
    if (mpi_frees_failed_requests) requests().forget(request);
}

Status make(SelfMessageRequest::Facts facts, MPI_Request* request) {
    GRADCOLL_TRY(requests().end_with_mpi());
    auto made = SelfMessageRequest::make(std::move(facts), request);
    if (!made) return made.status();
    requests().add(bits_of(*request), std::move(made).value());
    return {};
}

/// Serves the call, or sets a reason to pass it.
Status serve(Call& call, MPI_Info info, MPI_Request* request) {
    GRADCOLL_TRY(agree_on_arguments(call, {}));
    SelfMessageRequest::Facts facts;
    facts.settings = settings_for(*call.context, info);
    if (is_same_anywhere(facts.settings, call.shape))
        GRADCOLL_TRY(check_same_anywhere(call.shape, call.pass_reason, call.arguments.op,
                                         call.context->identity().rank_count()));
    else
        call.pass_reason = fix_route(*call.context, call.arguments, call.shape, facts.settings);
    if (call.passes()) return {};
    tell_of_no_verdicts(*call.context, facts.settings);
    facts.call = std::move(call);
    facts.on_failure = on_failure;
    return make(std::move(facts), request);
}

constexpr Entry offered_init = offered_entry(CallKind::allreduce_init);

}  // namespace

template <>
int offer_call<CallKind::allreduce_init>(const GC_Call* call, int* code) noexcept {
    const CallArguments arguments = arguments_of(CallKind::allreduce_init, *call);
    meet_before(arguments.comm, arguments.count);
    return at_offer(offered_init, arguments, check_request(call->request), code,
                    [&](Call& admitted) {
                        return serve(admitted, handle_of<MPI_Info>(call->info),
                                     static_cast<MPI_Request*>(call->request));
                    });
}

void requests_started(int count, const void* handles) noexcept try {
    for (int index = 0; index < count; ++index)
        if (const auto request = requests().find(handle_at(handles, index))) request->start();
} catch (...) {
    log(LogLevel::error, "{}: {}", call_name, status_of_current_exception().message());
}

void request_freeing(const void* handle) noexcept {
    if (handle != nullptr) requests().forget(handle_at(handle, 0));
}

}  // namespace gradcoll
