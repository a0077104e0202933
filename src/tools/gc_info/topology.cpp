#include "topology.hpp"

#include <fmt/format.h>

#include "ask.hpp"

namespace gc_info {
namespace {

/// People are told where a tree came from; programs get the tree alone.
template <class Ask>
std::string with_origin(GC_Tree_format format, Ask&& ask) {
    std::string text = ask(format);
    if (format == GC_TREE_TEXT) text += fmt::format("from: {}\n", ask(GC_TREE_ORIGIN));
    if (!text.ends_with('\n')) text += '\n';
    return text;
}

}  // namespace

std::string world_topology(const Options& options) {
    return with_origin(options.tree_format, [](GC_Tree_format format) {
        return text_of([&](char* text, std::size_t* length) {
            return GC_Comm_get_tree(MPI_COMM_WORLD, format, text, length);
        });
    });
}

std::string foreseen_topology(const Options& options) {
    std::string text = with_origin(options.tree_format, [&](GC_Tree_format format) {
        return text_of([&](char* out, std::size_t* length) {
            return GC_Predict_tree(options.ranks, nullptr, format, out, length);
        });
    });
    const bool alone = options.ranks == 0 && text.starts_with("rank 0\n");
    if (alone)
        text += "more ranks: mpirun -n 4 gc_info --topology, or gc_info --topology --ranks 4\n";
    return text;
}

}  // namespace gc_info
