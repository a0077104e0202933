// GC_Explain_allreduce, GC_Predict_allreduce.
#include <fmt/format.h>

#include "api/calls/reduction.hpp"
#include "api/comm/attachments.hpp"
#include "api/edge/boundary.hpp"
#include "api/inspect/explain.hpp"
#include "api/inspect/foreseen.hpp"
#include "api/inspect/text_out.hpp"
#include "gradcoll/inspect.h"

namespace gradcoll {
namespace {

struct ExplanationOut {
    GC_Explain_format format;
    TextOut text;
};

/// Before anything collective happens.
Status check(const ExplanationOut& out) {
    GRADCOLL_TRY(out.text.check());
    if (out.format == GC_EXPLAIN_TEXT || out.format == GC_EXPLAIN_JSON) return {};
    return {Code::invalid_argument,
            fmt::format("format is {}; allowed are GC_EXPLAIN_TEXT, GC_EXPLAIN_JSON",
                        static_cast<int>(out.format))};
}

Status write(const Explanation& explanation, const ExplanationOut& out) {
    return out.text.write(out.format == GC_EXPLAIN_JSON ? json_of(explanation)
                                                        : text_of(explanation));
}

Result<Explanation> explain_intercommunicator(const ReduceArguments& call) {
    GRADCOLL_TRY(check_explained(call));
    int rank = 0;
    int rank_count = 1;
    PMPI_Comm_rank(call.comm, &rank);
    PMPI_Comm_size(call.comm, &rank_count);
    return gradcoll::explain_intercommunicator(call, rank, rank_count);
}

Result<Explanation> explain_on(const CommContext& context, const ReduceArguments& call) {
    const auto tree = context.tree_handle();
    const ExplainFacts facts{*tree, context.identity().rank(), context.settings().current(),
                             context.settings().text()};
    return explain(facts, call,
                   [&](const CallShape& shape) { return foreseen_blocking_route(context, shape); });
}

Status explain_allreduce(const ReduceArguments& call, const ExplanationOut& out) {
    GRADCOLL_TRY(check_comm(call.comm));
    GRADCOLL_TRY(check_explained(call));
    GRADCOLL_TRY(check(out));
    const auto context = context_of(call.comm);
    if (!context) return context.status();
    const auto explanation =
        *context ? explain_on(**context, call) : explain_intercommunicator(call);
    return explanation.ok() ? write(*explanation, out) : explanation.status();
}

Result<Explanation> foresee(int ranks, const ReduceArguments& call, MPI_Info info) {
    const auto comm = foreseen_comm(ranks, info);
    if (!comm) return comm.status();
    return explain({comm->tree, 0, comm->settings, comm->text}, call,
                   [&](const CallShape& shape) { return comm->route_of(shape); });
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
    return at_boundary(MPI_COMM_NULL, "GC_Predict_allreduce", [&]() -> Status {
        const ExplanationOut out{format, {text, length}};
        GRADCOLL_TRY(check(out));
        const auto explanation =
            foresee(ranks, {nullptr, nullptr, count, datatype, op, MPI_COMM_NULL}, info);
        return explanation.ok() ? write(*explanation, out) : explanation.status();
    });
}
