#include "ranks.hpp"

#include <fmt/format.h>

#include "ask.hpp"

namespace gradcoll::info {
namespace {

/// Returns the tree, and for people where it came from.
template <class Ask>
std::string with_origin(GC_Tree_format format, Ask&& ask) {
    std::string text = ask(format);
    if (format == GC_TREE_TEXT) text += fmt::format("from: {}\n", ask(GC_TREE_ORIGIN));
    if (!text.ends_with('\n')) text += '\n';
    return text;
}

class OwnedInfo {
  public:
    OwnedInfo() { MPI_Info_create(&info_); }
    ~OwnedInfo() { MPI_Info_free(&info_); }
    OwnedInfo(const OwnedInfo&) = delete;
    OwnedInfo& operator=(const OwnedInfo&) = delete;
    operator MPI_Info() const { return info_; }  // NOLINT: stands for the info object

  private:
    MPI_Info info_ = MPI_INFO_NULL;
};

/// Makes a call with the codec of the command line: it is set on the communicator for ranks that
/// run, else in the settings that `call(info, text, length)` passes on. If a codec is refused, the
/// error says which argument named it.
template <class Call>
std::string with_codec(Ranks ranks, const Options& options, Call&& call) {
    const OwnedInfo info;
    try {
        if (!options.codec.empty() && ranks == Ranks::world)
            require(GC_Comm_set_codec(MPI_COMM_WORLD, options.codec.c_str()));
        if (!options.codec.empty() && ranks == Ranks::foreseen)
            MPI_Info_set(info, "gc_codec", options.codec.c_str());
        return text_of([&](char* text, std::size_t* length) { return call(info, text, length); });
    } catch (const Refused& refused) {
        if (options.codec.empty() ||
            std::string_view(refused.what()).find("codec") == std::string_view::npos)
            throw;
        throw Refused(refused.mpi_class,
                      fmt::format("--codec {}: {}", options.codec, refused.what()));
    }
}

}  // namespace

std::string topology_of(Ranks ranks, const Options& options) {
    std::string text = with_origin(options.tree_format, [&](GC_Tree_format format) {
        return text_of([&](char* out, std::size_t* length) {
            return ranks == Ranks::world
                       ? GC_Comm_get_tree(MPI_COMM_WORLD, format, out, length)
                       : GC_Predict_tree(options.ranks, nullptr, format, out, length);
        });
    });
    if (ranks == Ranks::foreseen && options.ranks == 0 && text.starts_with("rank 0\n"))
        text +=
            "more ranks: mpirun -n 4 gradcoll info --topology, or gradcoll info --topology --ranks "
            "4\n";
    return text;
}

std::string explanation_of(Ranks ranks, const Options& options) {
    const auto count = static_cast<MPI_Count>(options.size_bytes / options.type->bytes);
    const auto format = options.json ? GC_EXPLAIN_JSON : GC_EXPLAIN_TEXT;
    return with_codec(ranks, options, [&](MPI_Info info, char* text, std::size_t* length) {
        return ranks == Ranks::world
                   ? GC_Explain_allreduce(MPI_COMM_WORLD, count, options.type->datatype(),
                                          options.op->op(), format, text, length)
                   : GC_Predict_allreduce(options.ranks, count, options.type->datatype(),
                                          options.op->op(), info, format, text, length);
    });
}

std::string plan_of(Ranks ranks, const Options& options) {
    const auto count = static_cast<MPI_Count>(options.plan_count);
    const auto format = options.plan_format;
    return with_codec(ranks, options, [&](MPI_Info info, char* text, std::size_t* length) {
        return ranks == Ranks::world
                   ? GC_Comm_get_plan(MPI_COMM_WORLD, count, options.type->datatype(),
                                      options.op->op(), format, text, length)
                   : GC_Predict_plan(options.ranks, count, options.type->datatype(),
                                     options.op->op(), info, format, text, length);
    });
}

}  // namespace gradcoll::info
