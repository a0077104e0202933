// GC_Explain_allreduce, GC_Comm_get_plan, and their like for ranks that need not be there:
// GC_Predict_allreduce, GC_Predict_plan.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "api/inspect/explain.hpp"
#include "api/inspect/text_out.hpp"
#include "attach/attachments.hpp"
#include "call/call_kinds.hpp"
#include "collectives/choose/short_vectors.hpp"
#include "collectives/draw/plan_picture.hpp"
#include "collectives/predict/model.hpp"
#include "gradcoll/inspect.h"
#include "mpi/boundary.hpp"
#include "settings/info_keys.hpp"
#include "settings/process_tuning.hpp"
#include "topology/sources/job/foreseen.hpp"
#include "ways/codec_use.hpp"
#include "ways/one_host/one_host.hpp"

namespace gradcoll {
namespace {

/// ForeseenComm is an assumed communicator, of ranks with this process's settings and foreseen
/// tree.
struct ForeseenComm {
    DiscoveredTree tree;
    SettingsText text;
    Settings settings;

    /// Returns where its first compressible call goes; its name is MPI_COMM_WORLD.
    Route route_of(const CallShape& shape) const {
        const bool one_host =
            allows_one_host(text, settings) && !connects_hosts(tree.tree, tree.tree.root()) &&
            shape.elem_bytes <= one_host_element_bytes(tree.tree.rank_count(), settings);
        const int memory_ranks = one_host ? tree.tree.rank_count() : 0;
        WayOffers offers;
        offers.add(one_host_way(), {.exact = one_host});
        return route_unless_left_out(
            settings, shape,
            {.sums = shape.sums(),
             .comm_may_be_lossy = settings.compress_comms.allows("MPI_COMM_WORLD"),
             .offers = offers},
            [&](const Route& route) {
                return codec_use({tree.tree, settings, route.key, memory_ranks}).left_out;
            });
    }
};

/// Makes it; `info` may be MPI_INFO_NULL. Errors: what its keys, the settings and foreseen_tree()
/// say.
Result<ForeseenComm> foreseen_comm(int ranks, MPI_Info info) {
    SettingsText text = SettingsText::from_environment();
    GRADCOLL_TRY(add_info(info, text));
    auto settings = Settings::parse(text);
    if (!settings) return settings.status();
    settings->tuning = tuning_of_process();
    if (!text.doubt().empty()) settings->stay_exact();
    auto tree = foreseen_tree(text[OptionId::topology], ranks);
    if (!tree) return tree.status();
    if (settings->tree_min_is_auto) settings->tree_min_bytes = least_tree_bytes_on(tree->tree);
    return ForeseenComm{std::move(*tree), std::move(text), std::move(*settings)};
}

/// FormattedOut says where an answer goes, and in which form.
template <class Format>
struct FormattedOut {
    Format format;
    TextOut text;
};
using ExplanationOut = FormattedOut<GC_Explain_format>;
using PictureOut = FormattedOut<GC_Plan_format>;

/// Checks the arguments before anything collective happens.
template <class Format>
Status check(const FormattedOut<Format>& out, std::initializer_list<Format> known,
             std::string_view names) {
    GRADCOLL_TRY(out.text.check());
    if (std::ranges::find(known, out.format) != known.end()) return {};
    return {Code::invalid_argument,
            fmt::format("format is {}; allowed are {}", static_cast<int>(out.format), names)};
}

Status check(const ExplanationOut& out) {
    return check(out, {GC_EXPLAIN_TEXT, GC_EXPLAIN_JSON}, "GC_EXPLAIN_TEXT, GC_EXPLAIN_JSON");
}

Status check(const PictureOut& out) {
    return check(out, {GC_PLAN_TEXT, GC_PLAN_JSON, GC_PLAN_DOT},
                 "GC_PLAN_TEXT, GC_PLAN_JSON, GC_PLAN_DOT");
}

Status write(const Explanation& explanation, const ExplanationOut& out) {
    return out.text.write(out.format == GC_EXPLAIN_JSON ? json_of(explanation)
                                                        : text_of(explanation));
}

Status write(const PlanPicture& picture, const PictureOut& out) {
    return out.text.write(out.format == GC_PLAN_DOT    ? dot_of(picture)
                          : out.format == GC_PLAN_JSON ? json_of(picture)
                                                       : text_of(picture));
}

Result<Explanation> explain_intercommunicator(const CallArguments& call) {
    GRADCOLL_TRY(check_explained(call));
    return gradcoll::explain_intercommunicator(call, comm_rank(call.comm), comm_size(call.comm));
}

Result<Explanation> explain_on(const CommContext& context, const CallArguments& call) {
    const auto tree = context.tree_handle();
    ExplainFacts facts{*tree, context.identity().rank(), context.settings().current(),
                       context.settings().text(), context.plans().most_chunks_in_flight()};
    std::unique_ptr<const ExplainFacts> leaders;
    if (const auto* between = context.several_hosts().between(); between != nullptr) {
        leaders.reset(new ExplainFacts{*between->tree, context.several_hosts().leaf(),
                                       between->settings, context.settings().text()});
        facts.leaders = leaders.get();
    }
    return explain(facts, call,
                   [&](const CallShape& shape) { return foreseen_blocking_route(context, shape); });
}

Status explain_allreduce(const CallArguments& call, const ExplanationOut& out) {
    GRADCOLL_TRY(check_comm(call.comm));
    GRADCOLL_TRY(check_explained(call));
    GRADCOLL_TRY(check(out));
    const auto context = context_of(call.comm);
    if (!context) return context.status();
    const auto explanation =
        *context ? explain_on(**context, call) : explain_intercommunicator(call);
    return explanation.ok() ? write(*explanation, out) : explanation.status();
}

Status predict_allreduce(int ranks, const CallArguments& call, MPI_Info info,
                         const ExplanationOut& out) {
    GRADCOLL_TRY(check(out));
    const auto comm = foreseen_comm(ranks, info);
    if (!comm) return comm.status();
    const auto explanation = explain({comm->tree, 0, comm->settings, comm->text}, call,
                                     [&](const CallShape& shape) { return comm->route_of(shape); });
    return explanation.ok() ? write(*explanation, out) : explanation.status();
}

Result<CallShape> shape_of(const CallArguments& call) {
    GRADCOLL_TRY(check_explained(call));
    const Classified classified = classify(call.count, call.datatype, call.op);
    if (classified.passes())
        return Status(Code::invalid_argument,
                      fmt::format("there is no plan: {}", text_of(classified.pass_reason)));
    return classified.shape;
}

/// Returns what the drawing says of a call that does not go the way that is drawn, or is not
/// compressed.
std::string note_of(const Route& route) {
    if (route.passes())
        return fmt::format("such a call passes to the MPI library ({}); over the tree it would be",
                           text_of(route.pass_reason));
    if (!route.goes(tree_way()))
        return fmt::format("such a call {}; over the tree it would be", route.way->says);
    return route.exact_reason != ExactReason::none
               ? fmt::format("exact: {}", text_of(route.exact_reason))
               : "";
}

Status draw(const Tree& tree, const Settings& settings, const Route& route, const PictureOut& out) {
    const Decision decision = decision_for(tree, settings, route.key);
    const auto picture = plan_picture(tree, decision.spec, note_of(route));
    return picture.ok() ? write(*picture, out) : picture.status();
}

Status get_plan(const CallArguments& call, const PictureOut& out) {
    GRADCOLL_TRY(check_comm(call.comm));
    GRADCOLL_TRY(check(out));
    const auto shape = shape_of(call);
    if (!shape.ok()) return shape.status();
    const auto context = context_of(call.comm);
    if (!context) return context.status();
    if (!*context) return {Code::invalid_comm, "comm is an intercommunicator, which has no tree"};
    const CommContext& comm = **context;
    const auto tree = comm.tree_handle();
    return draw(tree->tree, comm.settings().current(), foreseen_blocking_route(comm, *shape), out);
}

Status predict_plan(int ranks, const CallArguments& call, MPI_Info info, const PictureOut& out) {
    GRADCOLL_TRY(check(out));
    const auto shape = shape_of(call);
    if (!shape.ok()) return shape.status();
    const auto comm = foreseen_comm(ranks, info);
    if (!comm) return comm.status();
    return draw(comm->tree.tree, comm->settings, comm->route_of(*shape), out);
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Explain_allreduce(MPI_Comm comm, MPI_Count count, MPI_Datatype datatype,
                                    MPI_Op op, GC_Explain_format format, char* text,
                                    size_t* length) {
    return at_boundary(comm, "GC_Explain_allreduce", [&] {
        return explain_allreduce({nullptr, nullptr, count, datatype, op, comm},
                                 {format, {text, length}});
    });
}

extern "C" int GC_Predict_allreduce(int ranks, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                    MPI_Info info, GC_Explain_format format, char* text,
                                    size_t* length) {
    return at_boundary(MPI_COMM_NULL, "GC_Predict_allreduce", [&] {
        return predict_allreduce(ranks, {nullptr, nullptr, count, datatype, op, MPI_COMM_NULL},
                                 info, {format, {text, length}});
    });
}

extern "C" int GC_Comm_get_plan(MPI_Comm comm, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                GC_Plan_format format, char* text, size_t* length) {
    return at_boundary(comm, "GC_Comm_get_plan", [&] {
        return get_plan({nullptr, nullptr, count, datatype, op, comm}, {format, {text, length}});
    });
}

extern "C" int GC_Predict_plan(int ranks, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                               MPI_Info info, GC_Plan_format format, char* text, size_t* length) {
    return at_boundary(MPI_COMM_NULL, "GC_Predict_plan", [&] {
        return predict_plan(ranks, {nullptr, nullptr, count, datatype, op, MPI_COMM_NULL}, info,
                            {format, {text, length}});
    });
}
