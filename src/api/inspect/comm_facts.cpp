// api/inspect/comm_facts.cpp - GC_Comm_get_tree, GC_Predict_tree, GC_Comm_get_stats,
// GC_Comm_reset_stats.
#include <fmt/format.h>

#include "api/inspect/text_out.hpp"
#include "attach/attachments.hpp"
#include "gradcoll/inspect.h"
#include "mpi/boundary.hpp"
#include "mpi/request.hpp"
#include "topology/draw/draw.hpp"
#include "topology/sources/job/foreseen.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

Result<std::string> tree_text(const DiscoveredTree& tree, GC_Tree_format format) {
    switch (format) {
        case GC_TREE_TEXT:
            return draw_text(tree.tree);
        case GC_TREE_JSON:
            return json_of(tree.tree);
        case GC_TREE_DOT:
            return draw_dot(tree.tree);
        case GC_TREE_EXPRESSION:
            return expression_of(tree.tree);
        case GC_TREE_ORIGIN:
            return told_origin(tree);
    }
    return Status(Code::invalid_argument,
                  fmt::format("format is {}; allowed are GC_TREE_TEXT, GC_TREE_JSON, "
                              "GC_TREE_DOT, GC_TREE_EXPRESSION, GC_TREE_ORIGIN",
                              static_cast<int>(format)));
}

Result<std::shared_ptr<CommContext>> context_with_tree(MPI_Comm comm) {
    GRADCOLL_TRY(check_comm(comm));
    auto context = context_of(comm);
    if (context.ok() && !*context)
        return Status(Code::invalid_comm, "comm is an intercommunicator, which has no tree");
    return context;
}

Status get_tree(MPI_Comm comm, GC_Tree_format format, const TextOut& out) {
    const auto context = context_with_tree(comm);
    if (!context) return context.status();
    GRADCOLL_TRY(out.check());
    const auto drawn = tree_text(*(*context)->tree_handle(), format);
    return drawn.ok() ? out.write(*drawn) : drawn.status();
}

Status predict_tree(int ranks, const char* topology, GC_Tree_format format, const TextOut& out) {
    const auto tree = foreseen_tree(
        topology != nullptr ? topology : checked_options().text(OptionId::topology), ranks);
    if (!tree) return tree.status();
    const auto drawn = tree_text(*tree, format);
    return drawn.ok() ? out.write(*drawn) : drawn.status();
}

Status get_stats(MPI_Comm comm, GC_Stats* out) {
    GRADCOLL_TRY(check_comm(comm));
    if (out == nullptr) return {Code::invalid_argument, "stats is null"};
    const auto context = attached_context(comm);
    if (!context) return context.status();
    *out = *context ? (*context)->statistics().read() : GC_Stats{};
    if (!*context) out->last_pass_reason = out->last_agents = "the communicator is not attached";
    return {};
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Comm_get_tree(MPI_Comm comm, GC_Tree_format format, char* text, size_t* length) {
    return at_boundary(comm, "GC_Comm_get_tree", [&] {
        return get_tree(comm, format, {text, length});
    });
}

extern "C" int GC_Predict_tree(int ranks, const char* topology, GC_Tree_format format, char* text,
                               size_t* length) {
    return without_mpi("GC_Predict_tree", [&] {
        return predict_tree(ranks, topology, format, {text, length});
    });
}

extern "C" int GC_Comm_get_stats(MPI_Comm comm, GC_Stats* stats) {
    return at_boundary(comm, "GC_Comm_get_stats", [&] { return get_stats(comm, stats); });
}

extern "C" int GC_Comm_reset_stats(MPI_Comm comm) {
    return at_boundary(comm, "GC_Comm_reset_stats", [&]() -> Status {
        GRADCOLL_TRY(check_comm(comm));
        const auto context = attached_context(comm);
        if (!context) return context.status();
        if (*context) (*context)->statistics().reset();
        return {};
    });
}
