// GC_Comm_get_plan, GC_Predict_plan.
#include <fmt/format.h>

#include "api/calls/reduction.hpp"
#include "api/comm/attachments.hpp"
#include "api/edge/boundary.hpp"
#include "api/inspect/foreseen.hpp"
#include "api/inspect/text_out.hpp"
#include "collectives/draw/plan_picture.hpp"
#include "gradcoll/inspect.h"

namespace gradcoll {
namespace {

struct PictureOut {
    GC_Plan_format format;
    TextOut text;
};

/// Before anything collective happens.
Status check(const PictureOut& out) {
    GRADCOLL_TRY(out.text.check());
    for (const GC_Plan_format known : {GC_PLAN_TEXT, GC_PLAN_JSON, GC_PLAN_DOT})
        if (out.format == known) return {};
    return {Code::invalid_argument,
            fmt::format("format is {}; allowed are GC_PLAN_TEXT, GC_PLAN_JSON, GC_PLAN_DOT",
                        static_cast<int>(out.format))};
}

Status write(const PlanPicture& picture, const PictureOut& out) {
    return out.text.write(out.format == GC_PLAN_DOT    ? dot_of(picture)
                          : out.format == GC_PLAN_JSON ? json_of(picture)
                                                       : text_of(picture));
}

Result<CallShape> shape_of(const ReduceArguments& call) {
    GRADCOLL_TRY(check_op(call.op));
    GRADCOLL_TRY(check_datatype("datatype", call.datatype));
    GRADCOLL_TRY(check_count("count", call.count));
    const Classified classified = classify(call.count, call.datatype, call.op);
    if (classified.passes())
        return Status(Code::invalid_argument,
                      fmt::format("there is no plan: {}", text_of(classified.pass_reason)));
    return classified.shape;
}

/// What the drawing says beside itself of a call that does not go the way that is drawn, or not
/// compressed.
std::string note_of(const Route& route) {
    if (route.passes())
        return fmt::format("such a call passes to the MPI library ({}); over the tree it would be",
                           text_of(route.pass_reason));
    if (route.one_host)
        return "such a call goes through the memory of the host; over the tree it would be";
    return route.exact_reason != ExactReason::none
               ? fmt::format("exact: {}", text_of(route.exact_reason))
               : "";
}

Status draw(const Tree& tree, const Settings& settings, const Route& route, const PictureOut& out) {
    const Decision decision = decision_for(tree, settings, route.key);
    const auto picture = plan_picture(tree, decision.spec, note_of(route));
    return picture.ok() ? write(*picture, out) : picture.status();
}

Status get_plan(const ReduceArguments& call, const PictureOut& out) {
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

Status predict_plan(int ranks, const ReduceArguments& call, MPI_Info info, const PictureOut& out) {
    GRADCOLL_TRY(check(out));
    const auto shape = shape_of(call);
    if (!shape.ok()) return shape.status();
    const auto foreseen = foreseen_comm(ranks, info);
    if (!foreseen.ok()) return foreseen.status();
    return draw(foreseen->tree.tree, foreseen->settings, foreseen->route_of(*shape), out);
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

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
