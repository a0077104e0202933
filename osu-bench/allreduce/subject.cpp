// subject.cpp - applies settings to a communicator, and reports its errors.
#include "case.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace gradcoll::bench {
namespace {

std::string message_of(int code) {
    std::array<char, GC_MAX_ERROR_STRING> text{};
    GC_Error_string(code, text.data(), nullptr);
    return text.data();
}

void accept(int code, const std::string& what) {
    if (code != MPI_SUCCESS) {
        throw std::invalid_argument(fmt::format("{}: {}", what, message_of(code)));
    }
}

}  // namespace

Subject::Subject(const Options& options, std::string codec) : codec_(std::move(codec)) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    try {
        apply(options);
    } catch (...) {
        MPI_Comm_free(&comm_);
        throw;
    }
}

Subject::~Subject() {
    MPI_Comm_free(&comm_);
}

void Subject::apply(const Options& options) {
    if (!options.tree.empty()) {
        accept(GC_Comm_set_option(comm_, "gc_topology", options.tree.c_str()),
               "--tree " + options.tree);
    }
    const auto set = [&](bool before_the_codec) {
        for (const auto& [key, value] : options.settings)
            if ((key == "gc_tolerance") == before_the_codec)
                accept(GC_Comm_set_option(comm_, key.c_str(), value.c_str()),
                       fmt::format("--option {}={}", key, value));
    };
    set(true);  // without a tolerance, codecs that need one are refused
    accept(GC_Comm_set_codec(comm_, codec_.c_str()), "--codec " + codec_);
    // A user who names a codec wants to see what it does, even if it does not pay. Exact sums are
    // those of users who set nothing.
    if (codec_ != "exact")
        accept(GC_Comm_set_option(comm_, "gc_compress_if", "always"), "gc_compress_if=always");
    set(false);
}

std::string Subject::tree(GC_Tree_format format) const {
    std::size_t length = 0;
    require_success(GC_Comm_get_tree(comm_, format, nullptr, &length), "GC_Comm_get_tree");
    std::string text(length, '\0');
    require_success(GC_Comm_get_tree(comm_, format, text.data(), &length), "GC_Comm_get_tree");
    text.resize(text.find('\0'));
    return text;
}

void require_success(int code, const char* call) {
    if (code == MPI_SUCCESS) {
        return;
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fmt::print(stderr, "gc_bench allreduce: rank {}: {}: {}\n", rank, call, message_of(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace gradcoll::bench
