// GC_Engine_create, GC_Engine_reconfigure, GC_Submit and the calls on handles.
#include "gradcoll/engine.h"

#include <fmt/format.h>
#include <sched.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "api/engines.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "call/call_kinds.hpp"
#include "call/gradients/engine_state.hpp"
#include "call/gradients/gradient_sums.hpp"
#include "mpi/boundary.hpp"
#include "mpi/lifetime.hpp"
#include "mpi/request.hpp"

namespace gradcoll {
namespace {

// ---- engines of the process, which end before MPI does

std::mutex engines_mutex;
std::vector<GC_Engine> engines;  // guarded by engines_mutex

/// Stops all engines, whose threads call MPI. One that the program has not freed stays a handle,
/// but does nothing any more.
void stop_engines() {
    const std::scoped_lock lock(engines_mutex);
    for (GC_Engine engine : engines) {
        if (engine->engine == nullptr) continue;
        report_engine(*engine);
        engine->engine.reset();
    }
    engines.clear();
}

Status keep(GC_Engine engine) {
    static const Status registered = at_finalize(stop_engines);
    const std::scoped_lock lock(engines_mutex);
    if (registered.ok()) engines.push_back(engine);
    return registered;
}

void forget(GC_Engine engine) {
    const std::scoped_lock lock(engines_mutex);
    std::erase(engines, engine);
}

}  // namespace

void retire_engines_of_the_dead() {
    std::vector<GC_Engine> all;
    {
        const std::scoped_lock lock(engines_mutex);
        all = engines;
    }
    for (GC_Engine engine : all) {
        const auto& watch = engine->context->identity().watch();
        if (engine->engine == nullptr || watch == nullptr) continue;
        watch->look();
        if (watch->has_fault()) engine->engine->retire(watch->fault());
    }
}

namespace {

// ---- making one

Status create(MPI_Comm comm, MPI_Info info, GC_Engine* engine) {
    GRADCOLL_TRY(check_intracomm(comm));
    auto made = make_engine(
        comm, info,
        engine != nullptr ? Status() : Status(Code::invalid_argument, "engine is a null pointer"));
    if (!made) return made.status();
    GRADCOLL_TRY(keep(made->get()));
    *engine = made->release();
    return {};
}

// ---- handing in

Status check_name(const char* name) {
    if (name == nullptr) return {Code::invalid_argument, "name is a null pointer"};
    const std::size_t size = strnlen(name, most_name_bytes + 1);
    if (size == 0 || size > most_name_bytes)
        return {Code::invalid_argument,
                fmt::format("name has {} bytes; allowed are 1 to {}",
                            size == 0 ? "no" : fmt::format("more than {}", most_name_bytes),
                            most_name_bytes)};
    return {};
}

/// Returns where the buffers are.
Result<CallMemory> check_buffers(const CallArguments& arguments, const Classified& classified) {
    BufferPair buffers;
    GRADCOLL_TRY(find_buffers(CallKind::submitted, arguments, 1,
                              classified.passes() ? 0 : classified.shape.item_bytes(), buffers));
    CallMemory memory;
    GRADCOLL_TRY(locate(buffers.receive, Reach::host_and_devices, memory.receive));
    memory.send = memory.receive;
    if (!is_in_place(arguments))
        GRADCOLL_TRY(locate(buffers.send, Reach::host_and_devices, memory.send));
    GRADCOLL_TRY(check_disjoint(buffers));
    return classified.passes() ? memory_of(arguments) : memory;
}

/// Returns the arguments with copies in place of what is on a device; `copy` is then what holds
/// them.
Result<CallArguments> on_host(GC_Engine_s& engine, const Gradient& gradient,
                              const CallArguments& arguments, const CallMemory& memory,
                              const HostTwin*& copy) {
    if (!memory.any_device()) return arguments;
    CopyOfDevice& kept = engine.copies[&gradient];
    kept.twin = GRADCOLL_VALUE(twin_of(engine.context.get(), arguments, memory, kept.room));
    copy = &*kept.twin;
    return copy->arguments();
}

Status check_idle(const Gradient& gradient) {
    if (!gradient.is_busy()) return {};
    return {Code::invalid_argument,
            fmt::format("name is \"{}\", which is handed in; wait for its handle first",
                        gradient.name())};
}

/// Writes what ranks must have alike of the gradient, unless it is as in the work's last sum.
void describe(GradientSum& work, const Given& given) {
    const CallShape& before = work.shape();
    if (!work.shape_text.empty() && !given.way.passes() && before.kind == given.shape.kind &&
        before.count == given.shape.count)
        return;
    work.shape_text = given.shape_text();
    work.shape_hash = Hash().value(given.shape.kind).text(work.shape_text).digest();
}

struct SubmitCall {
    const char* name;
    CallArguments arguments;
    int priority;
};

Result<GC_Handle> submit(GC_Engine_s& engine, const SubmitCall& call) {
    GRADCOLL_TRY(check_name(call.name));
    GRADCOLL_TRY(check_handles(CallKind::submitted, call.arguments));
    const Classified classified = classify(CallKind::submitted, call.arguments, 1);
    const CallMemory memory = GRADCOLL_VALUE(check_buffers(call.arguments, classified));

    const std::scoped_lock lock(engine.submits);
    Gradient& gradient = engine.engine->gradient(call.name);
    GRADCOLL_TRY(check_idle(gradient));
    const bool is_new = gradient.work == nullptr;
    const HostTwin* copy = nullptr;
    const CallArguments mine =
        GRADCOLL_VALUE(on_host(engine, gradient, call.arguments, memory, copy));
    const CallArguments arguments =
        GRADCOLL_VALUE(with_what_was_dropped(engine, gradient, mine, classified));
    const Given given = GRADCOLL_VALUE(given_again(engine, gradient, arguments, classified));
    GradientSum* const work = GRADCOLL_VALUE(work_for(engine, gradient, given.way));
    if (is_new) engine.gradients.push_back(&gradient);
    describe(*work, given);
    work->bind(arguments, given.shape, copy);
    GRADCOLL_TRY(engine.engine->submit(gradient, {.shape = work->shape_hash,
                                                  .shape_text = work->shape_text,
                                                  .bytes = work->sent_bytes(),
                                                  .expected = work->expected,
                                                  .priority = call.priority,
                                                  .pack = pack_of(engine, gradient.name(), given),
                                                  .alone = begins_alone(engine, given)}));
    return &work->handle;
}

// ---- what was dropped

Result<GC_Residual> get_residual(GC_Engine_s& engine, const char* name, MPI_Count count,
                                 MPI_Datatype datatype) {
    GRADCOLL_TRY(check_name(name));
    GRADCOLL_TRY(check_count("count", count));
    GRADCOLL_TRY(check_datatype("datatype", datatype));
    const CallArguments arguments{MPI_IN_PLACE, nullptr, count, datatype, MPI_SUM, MPI_COMM_NULL};
    const std::scoped_lock lock(engine.submits);
    const Gradient& gradient = engine.engine->gradient(name);
    GRADCOLL_TRY(check_idle(gradient));
    const Classified classified = classify(CallKind::submitted, arguments, 1);
    const auto kept = engine.residuals.find(name);
    if (kept != engine.residuals.end() && gradient.work == nullptr &&
        is_kept_by_element(*kept->second.residual, classified))
        return &kept->second;
    const Given given = GRADCOLL_VALUE(given_to(engine, gradient, arguments, classified));
    if (engine.context->identity().rank_count() == 1) return GC_RESIDUAL_NULL;
    const auto identity = GRADCOLL_VALUE(residual_identity_of(engine, given.way));
    if (!identity) return GC_RESIDUAL_NULL;
    if (kept != engine.residuals.end()) GRADCOLL_TRY(kept->second.residual->check_fits(*identity));
    residual_for(engine, name, *identity);
    return &engine.residuals.at(name);
}

// ---- the calls

Status check_engine(GC_Engine engine) {
    if (engine == GC_ENGINE_NULL) return {Code::invalid_argument, "engine is GC_ENGINE_NULL"};
    if (engine->engine == nullptr)
        return {Code::invalid_argument,
                "engine has ended, with MPI_Finalize or in a GC_Engine_reconfigure that failed"};
    return {};
}

MPI_Comm comm_of(GC_Engine engine) {
    return engine != GC_ENGINE_NULL ? engine->context->identity().user_comm() : MPI_COMM_NULL;
}

MPI_Comm comm_of(const GC_Handle* handle) {
    return handle != nullptr && *handle != GC_HANDLE_NULL ? comm_of((*handle)->engine)
                                                          : MPI_COMM_NULL;
}

/// Frees the handle of a complete sum and returns its outcome.
Status end(GC_Handle& handle) {
    GC_Handle_s& ended = *std::exchange(handle, GC_HANDLE_NULL);
    return ended.engine->engine->take_outcome(*ended.gradient);
}

Status wait_for(GC_Handle& handle) {
    if (handle == GC_HANDLE_NULL) return {};
    GRADCOLL_TRY(check_engine(handle->engine));
    handle->engine->engine->wait(*handle->gradient);
    return end(handle);
}

Status test(GC_Handle* handle, int* flag) {
    if (handle == nullptr) return {Code::invalid_argument, "handle is a null pointer"};
    if (flag == nullptr) return {Code::invalid_argument, "flag is a null pointer"};
    *flag = 1;
    if (*handle == GC_HANDLE_NULL) return {};
    GRADCOLL_TRY(check_engine((*handle)->engine));
    (*handle)->engine->engine->look_after();
    if ((*handle)->gradient->is_complete()) return end(*handle);
    *flag = 0;
    return {};
}

Status wait_all(int count, GC_Handle handles[]) {
    if (count < 0)
        return {Code::invalid_count, fmt::format("count is {}; allowed is 0 and more", count)};
    if (count > 0 && handles == nullptr)
        return {Code::invalid_argument, "handles is a null pointer"};
    Status first;
    for (GC_Handle& handle : std::span(handles, static_cast<std::size_t>(count))) {
        Status status = wait_for(handle);
        if (first.ok()) first = std::move(status);
    }
    return first;
}

/// An UnderWayCount is what ranks compare when they free an engine.
struct UnderWayCount {
    std::uint64_t mine = 0;
    std::uint64_t most = 0;
    MPI_Request request = MPI_REQUEST_NULL;
};

/// Returns, on all ranks alike, how many gradients the rank that has most has under way. Once ranks
/// cannot agree any more, that is none on any rank: what is under way is waited for, and ends with
/// an error. Collective. This rank goes on to take part in sums of others meanwhile. Errors:
/// transport, peer_died.
Result<std::uint64_t> most_under_way(GC_Engine_s& engine) {
    Engine& sums = *engine.engine;
    const auto none_after_failure = [&] {
        sums.flush();
        return std::uint64_t{0};
    };
    if (sums.has_failed()) return none_after_failure();
    auto count = std::make_unique<UnderWayCount>();
    count->mine = sums.under_way();
    GRADCOLL_TRY(from_mpi(PMPI_Iallreduce(&count->mine, &count->most, 1, MPI_UINT64_T, MPI_MAX,
                                          engine.control->comm(), &count->request),
                          "MPI_Iallreduce"));
    Status status;
    for (int done = 0; done == 0 && status.ok() && !sums.has_failed();) {
        sums.look_after();
        status = from_mpi(PMPI_Test(&count->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) return count->most;
        sched_yield();
    }
    // MPI cannot take the call back, and may write to this memory whenever others come to it.
    static_cast<void>(count.release());
    return status.ok() ? Result<std::uint64_t>(none_after_failure()) : status;
}

Status free_engine(GC_Engine* engine) {
    if (engine == nullptr) return {Code::invalid_argument, "engine is a null pointer"};
    if (*engine == GC_ENGINE_NULL) return {Code::invalid_argument, "engine is GC_ENGINE_NULL"};
    if ((*engine)->engine != nullptr) {
        if (const std::uint64_t count = GRADCOLL_VALUE(most_under_way(**engine)); count > 0)
            return {Code::invalid_argument,
                    fmt::format("engine has {} gradients under way on some rank; wait for them "
                                "first",
                                count)};
        (*engine)->engine->settle();
        report_engine(**engine);
        if (const Status written = write_plan(**engine); !written.ok())
            log(LogLevel::warn, "gc_engine_plan_to: {}", written.message());
    }
    forget(*engine);
    delete *engine;
    *engine = GC_ENGINE_NULL;
    return {};
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Engine_create(MPI_Comm comm, MPI_Info info, GC_Engine* engine) {
    return at_boundary(comm, "GC_Engine_create", [&] { return create(comm, info, engine); });
}

extern "C" int GC_Submit(GC_Engine engine, const char* name, const void* sendbuf, void* recvbuf,
                         MPI_Count count, MPI_Datatype datatype, MPI_Op op, int priority,
                         GC_Handle* handle) {
    return at_boundary(comm_of(engine), "GC_Submit", [&]() -> Status {
        GRADCOLL_TRY(check_engine(engine));
        if (handle == nullptr) return {Code::invalid_argument, "handle is a null pointer"};
        const CallArguments arguments{sendbuf, recvbuf, count, datatype, op, comm_of(engine)};
        return take(*handle, submit(*engine, {name, arguments, priority}));
    });
}

extern "C" int GC_Engine_get_residual(GC_Engine engine, const char* name, MPI_Count count,
                                      MPI_Datatype datatype, GC_Residual* residual) {
    return at_boundary(comm_of(engine), "GC_Engine_get_residual", [&]() -> Status {
        GRADCOLL_TRY(check_engine(engine));
        if (residual == nullptr) return {Code::invalid_argument, "residual is a null pointer"};
        return take(*residual, get_residual(*engine, name, count, datatype));
    });
}

extern "C" int GC_Handle_wait(GC_Handle* handle) {
    return at_boundary(comm_of(handle), "GC_Handle_wait", [&] {
        return handle != nullptr ? wait_for(*handle)
                                 : Status(Code::invalid_argument, "handle is a null pointer");
    });
}

extern "C" int GC_Handle_test(GC_Handle* handle, int* flag) {
    return at_boundary(comm_of(handle), "GC_Handle_test", [&] { return test(handle, flag); });
}

extern "C" int GC_Handle_waitall(int count, GC_Handle handles[]) {
    const MPI_Comm comm = count > 0 ? comm_of(handles) : MPI_COMM_NULL;
    return at_boundary(comm, "GC_Handle_waitall", [&] { return wait_all(count, handles); });
}

extern "C" int GC_Engine_flush(GC_Engine engine) {
    return at_boundary(comm_of(engine), "GC_Engine_flush", [&]() -> Status {
        GRADCOLL_TRY(check_engine(engine));
        engine->engine->flush();
        return {};
    });
}

extern "C" int GC_Engine_get_stats(GC_Engine engine, GC_Stats* stats) {
    return at_boundary(comm_of(engine), "GC_Engine_get_stats", [&]() -> Status {
        GRADCOLL_TRY(check_engine(engine));
        if (stats == nullptr) return {Code::invalid_argument, "stats is a null pointer"};
        *stats = engine->stats_before;
        add_stats(engine->context->statistics().read(), *stats);
        return {};
    });
}

extern "C" int GC_Engine_reconfigure(GC_Engine engine, MPI_Comm newcomm) {
    return at_boundary(newcomm, "GC_Engine_reconfigure", [&]() -> Status {
        GRADCOLL_TRY(check_intracomm(newcomm));
        if (engine == GC_ENGINE_NULL) return {Code::invalid_argument, "engine is GC_ENGINE_NULL"};
        return move_engine(*engine, newcomm);
    });
}

extern "C" int GC_Engine_free(GC_Engine* engine) {
    const MPI_Comm comm = engine != nullptr ? comm_of(*engine) : MPI_COMM_NULL;
    return at_boundary(comm, "GC_Engine_free", [&] { return free_engine(engine); });
}
