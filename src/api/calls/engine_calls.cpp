// GC_Engine_create, GC_Submit and the calls on handles.
#include "gradcoll/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/calls/call_kinds.hpp"
#include "api/calls/engine_packs.hpp"
#include "api/edge/boundary.hpp"
#include "api/edge/lifetime.hpp"
#include "api/settings/info_keys.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "engine/gradient_plan.hpp"
#include "topology/files.hpp"

/// What the opaque handle of the C API points to. What refers to others comes after them.
struct GC_Engine_s {
    std::shared_ptr<gradcoll::CommContext> context;
    gradcoll::Settings settings;
    std::unique_ptr<gradcoll::EngineChoice> choice;
    std::unique_ptr<gradcoll::NumberedChannel> control;
    std::mutex submits;                          ///< one at a time
    std::vector<gradcoll::Gradient*> gradients;  ///< in the order of their first submit
    std::unordered_map<std::string, GC_Residual_s> residuals;  ///< by the gradient's name
    std::unique_ptr<gradcoll::EnginePacks> packs;              ///< null: every gradient by itself
    std::unique_ptr<gradcoll::Engine> engine;
};

namespace gradcoll {
namespace {

// ---- engines of the process, which end before MPI does

std::mutex engines_mutex;
std::vector<GC_Engine> engines;  // guarded by engines_mutex

/// Their threads call MPI. What a program has not freed stays a handle, but does nothing any more.
void stop_engines() {
    const std::scoped_lock lock(engines_mutex);
    for (GC_Engine engine : engines) engine->engine.reset();
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

// ---- how a gradient is summed

/// Why the MPI library sums it; none: a plan of ours does.
PassReason reason_to_pass_of(const Classified& classified) {
    if (classified.passes()) return classified.pass_reason;
    if (classified.shape.by_mpi()) return classified.shape.mpi_reason;
    return classified.shape.has_gaps ? PassReason::scattered_elements : PassReason::none;
}

/// One gradient as it was handed in.
struct Given {
    const CallArguments& arguments;
    CallShape shape;
    EngineWay way;

    std::string shape_text() const {
        if (way.passes()) return fmt::format("{} elements, summed by MPI", arguments.count);
        return fmt::format("{} elements of {}, {}, {}", shape.count, name_of(shape.type),
                           name_of(shape.op), way.key.compress ? "compressed" : "exact");
    }
};

Result<Given> given_to(GC_Engine_s& engine, const std::string& name, const CallArguments& arguments,
                       const Classified& classified) {
    const PassReason pass_reason = reason_to_pass_of(classified);
    Given given{arguments, classified.shape, {.pass_reason = pass_reason}};
    if (pass_reason == PassReason::none)
        GRADCOLL_TRY(take(given.way, engine.choice->way_of(name, arguments, given.shape)));
    return given;
}

Result<std::shared_ptr<PlannedCall>> planned(const GC_Engine_s& engine, EnginePlanner& planner,
                                             const CallKey& key) {
    for (const auto& call : planner.plans)
        if (call->key() == key) return call;
    auto call = engine.context->plans().plan_apart(planner.tree, planner.settings, key);
    if (call) planner.plans.push_back(*call);
    return call;
}

/// With feedback only where something is dropped. The codecs of an engine stay what they are.
Result<std::shared_ptr<PlannedCall>> planned_with_feedback_if_lossy(const GC_Engine_s& engine,
                                                                    const EngineWay& way) {
    CallKey key = way.key;
    auto call = planned(engine, *way.planner, key);
    if (!key.feedback || !call || (*call)->lossy()) return call;
    key.feedback = false;
    return planned(engine, *way.planner, key);
}

/// What the name's earlier sums dropped; zeros if it had none of this plan's layout.
std::shared_ptr<Residual> residual_for(GC_Engine_s& engine, const std::string& name,
                                       const Tree& tree, const PlannedCall& call) {
    if (!call.key().feedback) return nullptr;
    GC_Residual_s& kept =
        engine.residuals.try_emplace(name, GC_Residual_s{engine.context, nullptr, "GC_Engine_free"})
            .first->second;
    if (kept.residual == nullptr || !kept.residual->check_fits(call).ok())
        kept.residual =
            std::make_shared<Residual>(identity_of(call, tree, engine.context->identity().rank()));
    return kept.residual;
}

Result<std::unique_ptr<EngineWork>> planned_work(CommContext& context,
                                                 std::shared_ptr<PlannedCall> call,
                                                 std::shared_ptr<Residual> residual) {
    auto executor = call->take_executor({});
    if (!executor) return executor.status();
    return std::unique_ptr<EngineWork>(std::make_unique<PlannedWork>(
        context, std::move(call), std::move(executor).value(), std::move(residual)));
}

Result<std::unique_ptr<EngineWork>> new_work(GC_Engine_s& engine, const Gradient& gradient,
                                             const EngineWay& way) {
    CommContext& context = *engine.context;
    std::unique_ptr<EngineWork> work;
    if (way.passes())
        work = std::make_unique<PassedWork>(context);
    else if (context.identity().rank_count() == 1)
        work = std::make_unique<AloneWork>(context);
    else if (way.one_host)
        work = std::make_unique<HostWork>(context);
    if (work != nullptr) return work;
    auto call = planned_with_feedback_if_lossy(engine, way);
    if (!call) return call.status();
    auto residual = residual_for(engine, gradient.name(), way.planner->tree, **call);
    return planned_work(context, std::move(call).value(), std::move(residual));
}

/// Nothing is chosen anew for the same shape.
std::optional<Given> given_as_before(const Gradient& gradient, const CallArguments& arguments,
                                     const Classified& classified) {
    const auto* const before = static_cast<const EngineWork*>(gradient.work.get());
    const CallShape& shape = classified.shape;
    const bool same =
        before != nullptr && before->way.pass_reason == reason_to_pass_of(classified) &&
        !before->way.passes() && before->shape().kind == shape.kind &&
        before->shape().count == shape.count && before->way.key.in_place == is_in_place(arguments);
    return same ? std::optional(Given{arguments, shape, before->way}) : std::nullopt;
}

/// That of the gradient before, if it goes the same way. All work of these engines is EngineWork.
Result<EngineWork*> work_for(GC_Engine_s& engine, Gradient& gradient, const EngineWay& way) {
    auto* const before = static_cast<EngineWork*>(gradient.work.get());
    if (before != nullptr && before->way == way) return before;
    auto made = new_work(engine, gradient, way);
    if (!made) return made.status();
    EngineWork* const work = made->get();
    work->handle = {&engine, &gradient};
    work->way = way;
    gradient.work = std::move(made).value();
    return work;
}

// ---- packs

bool packs_gradients(const GC_Engine_s& engine) {
    return engine.settings.engine.pack_bytes > 0 && !engine.settings.reproducible &&
           engine.context->identity().rank_count() > 1;
}

/// Of a pack of such gradients. Its plan is apart from those of gradients, which other threads add
/// to.
Result<std::unique_ptr<EngineWork>> pack_work(const GC_Engine_s& engine, const CallShape& shape) {
    CommContext& context = *engine.context;
    const EngineWay way = engine.choice->base_way(shape);
    if (way.one_host) return std::unique_ptr<EngineWork>(std::make_unique<HostWork>(context));
    auto call = context.plans().plan_apart(way.planner->tree, way.planner->settings, way.key);
    if (!call) return call.status();
    return planned_work(context, std::move(call).value(), nullptr);
}

/// Short ones that are exact: codecs see whole gradients.
std::uint32_t pack_of(const GC_Engine_s& engine, const Given& given) {
    const std::uint64_t most_bytes = engine.settings.engine.pack_bytes / 4;
    if (engine.packs == nullptr || given.way.passes() || given.way.key.compress ||
        given.shape.size_bytes() > most_bytes)
        return 0;
    return static_cast<std::uint32_t>(
               Hash().value(given.shape.kind).value(given.way.one_host).digest()) |
           1U;
}

// ---- making one

Status check_fits_engines(const Settings& settings) {
    if (settings.tolerance)
        return {Code::invalid_argument,
                "gc_tolerance is not kept by engines, which cannot look at all inputs first; "
                "allowed: per-hop"};
    if (!settings.schedule.empty())
        return {Code::invalid_argument,
                "gc_schedule is not for engines, which have no steps; allowed: none"};
    return {};
}

int compute_threads(const EngineSettings& settings, const CommIdentity& identity) {
    constexpr int most = 4;
    if (settings.threads) return *settings.threads;
    if (identity.yields()) return 0;
    const long cores = this_host().processors / identity.most_ranks_on_host();
    return static_cast<int>(std::clamp<long>(cores - 1, 1, most));
}

EngineOptions options_of(const GC_Engine_s& engine) {
    const CommIdentity& identity = engine.context->identity();
    const EngineSettings& settings = engine.settings.engine;
    return {.compute_threads = compute_threads(settings, identity),
            .own_thread = identity.all_ranks_have_threads(),
            .yields = identity.yields(),
            .most_bytes = settings.most_bytes,
            .stall_ns = static_cast<std::uint64_t>(settings.stall_seconds) * 1'000'000'000,
            .packer = engine.packs.get(),
            .most_pack_bytes = settings.pack_bytes};
}

/// As rank 0 reads it. Collective. Errors: those of read_file() and GradientPlan::parse(), the same
/// on all ranks.
Result<GradientPlan> plan_of_rank_0(const std::string& path, const CommIdentity& identity) {
    constexpr std::size_t most_bytes = std::size_t{1} << 26;
    const auto read = identity.rank() == 0 && !path.empty() ? read_file(path) : std::string();
    std::string text = read ? *read : read.status().message();
    if (text.size() > most_bytes) text.resize(most_bytes);
    std::uint64_t facts[2] = {text.size(), read ? 1U : 0U};
    const MPI_Comm comm = identity.private_comm();
    GRADCOLL_TRY(from_mpi(PMPI_Bcast(facts, 2, MPI_UINT64_T, 0, comm), "MPI_Bcast"));
    text.resize(std::min<std::uint64_t>(facts[0], most_bytes));
    GRADCOLL_TRY(from_mpi(PMPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_BYTE, 0, comm),
                          "MPI_Bcast"));
    if (facts[1] == 0)
        return Status(Code::invalid_argument, fmt::format("gc_engine_plan: {}", printable(text)));
    if (text.empty()) return GradientPlan();
    return GradientPlan::parse(text, fmt::format("gc_engine_plan: {}", printable(path)));
}

Result<std::unique_ptr<GC_Engine_s>> make_engine(MPI_Comm comm, MPI_Info info, Status complaint) {
    SettingsWish wish{SettingsText::from_environment(), std::move(complaint)};
    if (wish.complaint.ok()) wish.complaint = add_info(info, wish.text);
    if (const auto settings = Settings::parse(wish.text); wish.complaint.ok() && settings.ok())
        wish.complaint = check_fits_engines(*settings);
    auto made = std::make_unique<GC_Engine_s>();
    GRADCOLL_TRY(take(made->context, CommContext::make(comm, wish)));
    GRADCOLL_TRY(made->context->prepare_tree());
    made->context->keep_plans();
    made->settings = made->context->settings().current();
    auto plan = plan_of_rank_0(made->settings.engine.plan_file, made->context->identity());
    if (!plan) return plan.status();
    GRADCOLL_TRY(take(made->choice,
                      EngineChoice::make(*made->context, made->settings, std::move(plan).value())));
    GRADCOLL_TRY(
        take(made->control, NumberedChannel::make(made->context->identity().private_comm())));
    if (packs_gradients(*made))
        made->packs = std::make_unique<EnginePacks>(
            [engine = made.get()](const CallShape& shape) { return pack_work(*engine, shape); });
    GRADCOLL_TRY(take(made->engine, Engine::make(made->control->channel(), options_of(*made))));
    return made;
}

Status check_intracomm(MPI_Comm comm) {
    GRADCOLL_TRY(check_comm(comm));
    int is_inter = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter"));
    return is_inter == 0 ? Status()
                         : Status(Code::invalid_comm,
                                  "comm is an intercommunicator; allowed is an intracommunicator");
}

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

Status check_buffers(const CallArguments& arguments, const Classified& classified) {
    BufferPair buffers;
    GRADCOLL_TRY(find_buffers(Collective::allreduce, arguments, 1,
                              classified.passes() ? 0 : classified.shape.item_bytes(), buffers));
    int memory = host_memory;
    GRADCOLL_TRY(locate(buffers.receive, Reach::host, memory));
    if (!is_in_place(arguments)) GRADCOLL_TRY(locate(buffers.send, Reach::host, memory));
    return check_disjoint(buffers);
}

Status check_idle(const Gradient& gradient) {
    if (!gradient.is_busy()) return {};
    return {Code::invalid_argument,
            fmt::format("name is \"{}\", which is handed in; wait for its handle first",
                        gradient.name())};
}

struct SubmitCall {
    const char* name;
    CallArguments arguments;
    int priority;
};

Result<GC_Handle> submit(GC_Engine_s& engine, const SubmitCall& call) {
    GRADCOLL_TRY(check_name(call.name));
    GRADCOLL_TRY(check_handles(Collective::allreduce, call.arguments));
    const Classified classified = classify(Collective::allreduce, call.arguments, 1);
    GRADCOLL_TRY(check_buffers(call.arguments, classified));

    const std::scoped_lock lock(engine.submits);
    Gradient& gradient = engine.engine->gradient(call.name);
    GRADCOLL_TRY(check_idle(gradient));
    if (gradient.work == nullptr) engine.gradients.push_back(&gradient);
    const auto known = given_as_before(gradient, call.arguments, classified);
    const Given given =
        known ? *known
              : GRADCOLL_VALUE(given_to(engine, gradient.name(), call.arguments, classified));
    EngineWork* const work = GRADCOLL_VALUE(work_for(engine, gradient, given.way));
    work->bind(call.arguments, given.shape);
    const std::string text = given.shape_text();
    GRADCOLL_TRY(engine.engine->submit(gradient,
                                       {.shape = Hash().value(given.shape.kind).text(text).digest(),
                                        .shape_text = text,
                                        .bytes = work->sent_bytes(),
                                        .priority = call.priority,
                                        .pack = pack_of(engine, given)}));
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
    GRADCOLL_TRY(check_idle(engine.engine->gradient(name)));
    const Given given = GRADCOLL_VALUE(
        given_to(engine, name, arguments, classify(Collective::allreduce, arguments, 1)));
    if (given.way.passes() || !given.way.key.feedback ||
        engine.context->identity().rank_count() == 1)
        return GC_RESIDUAL_NULL;
    const auto call = planned_with_feedback_if_lossy(engine, given.way);
    if (!call) return call.status();
    if (!(*call)->key().feedback) return GC_RESIDUAL_NULL;
    const auto kept = engine.residuals.find(name);
    if (kept != engine.residuals.end()) GRADCOLL_TRY(kept->second.residual->check_fits(**call));
    residual_for(engine, name, given.way.planner->tree, **call);
    return &engine.residuals.at(name);
}

// ---- the calls

Status check_engine(GC_Engine engine) {
    if (engine == GC_ENGINE_NULL) return {Code::invalid_argument, "engine is GC_ENGINE_NULL"};
    if (engine->engine == nullptr)
        return {Code::invalid_argument, "engine has ended with MPI_Finalize"};
    return {};
}

MPI_Comm comm_of(GC_Engine engine) {
    return engine != GC_ENGINE_NULL ? engine->context->identity().user_comm() : MPI_COMM_NULL;
}

MPI_Comm comm_of(const GC_Handle* handle) {
    return handle != nullptr && *handle != GC_HANDLE_NULL ? comm_of((*handle)->engine)
                                                          : MPI_COMM_NULL;
}

/// Of a complete one.
Status end(GC_Handle& handle) {
    GC_Handle_s& ended = *std::exchange(handle, GC_HANDLE_NULL);
    return ended.engine->engine->take_outcome(*ended.gradient);
}

Status wait(GC_Handle& handle) {
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
        Status status = wait(handle);
        if (first.ok()) first = std::move(status);
    }
    return first;
}

// ---- what was planned

std::string codec_text(const EngineWay& way) {
    if (!way.key.compress) return "exact";
    if (!way.planner->codec.empty()) return way.planner->codec;
    std::string text;
    const Settings& settings = way.planner->settings;
    return settings.level_codecs.empty() ? std::string(name_of(settings.codec))
                                         : settings.level_codecs.text();
}

PlannedGradient planned_gradient(const GC_Engine_s& engine, const Gradient& gradient) {
    const auto& work = static_cast<const EngineWork&>(*gradient.work);
    PlannedGradient row;
    row.name = gradient.name();
    row.bytes = work.shape().size_bytes();
    row.predicted_us = engine.choice->predicted_us(work.way);
    row.measured_us = static_cast<double>(gradient.took_ns()) * 1e-3;
    if (work.way.passes()) return row;
    row.strategy = name_of(work.way.planner->strategy);
    row.codec = codec_text(work.way);
    row.parts = work.parts();
    return row;
}

/// By rank 0. Local.
Status write_plan(const GC_Engine_s& engine) {
    const std::string& path = engine.settings.engine.plan_to;
    if (path.empty() || engine.context->identity().rank() != 0) return {};
    std::vector<PlannedGradient> rows;
    for (const Gradient* gradient : engine.gradients)
        rows.push_back(planned_gradient(engine, *gradient));
    return replace_file(path, plan_text(rows));
}

Status free_engine(GC_Engine* engine) {
    if (engine == nullptr) return {Code::invalid_argument, "engine is a null pointer"};
    if (*engine == GC_ENGINE_NULL) return {Code::invalid_argument, "engine is GC_ENGINE_NULL"};
    if ((*engine)->engine != nullptr) {
        if (const std::size_t count = (*engine)->engine->under_way(); count > 0)
            return {Code::invalid_argument,
                    fmt::format("engine has {} gradients under way; wait for them first", count)};
        (*engine)->engine->settle();
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
        return handle != nullptr ? wait(*handle)
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
        *stats = engine->context->statistics().read();
        return {};
    });
}

extern "C" int GC_Engine_free(GC_Engine* engine) {
    const MPI_Comm comm = engine != nullptr ? comm_of(*engine) : MPI_COMM_NULL;
    return at_boundary(comm, "GC_Engine_free", [&] { return free_engine(engine); });
}
