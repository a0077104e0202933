#include "explain.hpp"

#include <fmt/format.h>

#include "ask.hpp"

namespace gc_info {
namespace {

MPI_Count count_of(const Options& options) {
    return static_cast<MPI_Count>(options.size_bytes / options.type->bytes);
}

GC_Explain_format format_of(const Options& options) {
    return options.json ? GC_EXPLAIN_JSON : GC_EXPLAIN_TEXT;
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

/// A codec that is refused is the fault of an argument: say of which.
template <class Call>
auto with_codec_named(const Options& options, Call&& call) {
    try {
        return call();
    } catch (const Refused& refused) {
        if (options.codec.empty() ||
            std::string_view(refused.what()).find("codec") == std::string_view::npos)
            throw;
        throw Refused(refused.mpi_class,
                      fmt::format("--codec {}: {}", options.codec, refused.what()));
    }
}

/// Of the ranks that are there: `call` fills a buffer, as text_of() asks it to.
template <class Call>
std::string of_world(const Options& options, Call&& call) {
    return with_codec_named(options, [&] {
        if (!options.codec.empty())
            require(GC_Comm_set_codec(MPI_COMM_WORLD, options.codec.c_str()));
        return text_of(call);
    });
}

/// Of ranks that need not be there: `call` gets their settings, too.
template <class Call>
std::string foreseen(const Options& options, Call&& call) {
    return with_codec_named(options, [&] {
        const OwnedInfo info;
        if (!options.codec.empty()) MPI_Info_set(info, "gc_codec", options.codec.c_str());
        return text_of([&](char* text, std::size_t* length) { return call(info, text, length); });
    });
}

}  // namespace

std::string world_explanation(const Options& options) {
    return of_world(options, [&](char* text, std::size_t* length) {
        return GC_Explain_allreduce(MPI_COMM_WORLD, count_of(options), options.type->datatype(),
                                    options.op->op(), format_of(options), text, length);
    });
}

std::string world_plan(const Options& options) {
    return of_world(options, [&](char* text, std::size_t* length) {
        return GC_Comm_get_plan(MPI_COMM_WORLD, static_cast<MPI_Count>(options.plan_count),
                                options.type->datatype(), options.op->op(), options.plan_format,
                                text, length);
    });
}

std::string foreseen_plan(const Options& options) {
    return foreseen(options, [&](MPI_Info info, char* text, std::size_t* length) {
        return GC_Predict_plan(options.ranks, static_cast<MPI_Count>(options.plan_count),
                               options.type->datatype(), options.op->op(), info,
                               options.plan_format, text, length);
    });
}

std::string foreseen_explanation(const Options& options) {
    return foreseen(options, [&](MPI_Info info, char* text, std::size_t* length) {
        return GC_Predict_allreduce(options.ranks, count_of(options), options.type->datatype(),
                                    options.op->op(), info, format_of(options), text, length);
    });
}

}  // namespace gc_info
