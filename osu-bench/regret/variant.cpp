#include "variant.hpp"

#include <gradcoll/gradcoll.h>

#include <array>
#include <utility>

#include "sizes.hpp"

namespace gradcoll::bench {

std::optional<Variant> variant_from(std::string_view text) {
    Variant variant;
    const auto next = [&text] {
        const std::string_view part = text.substr(0, text.find(';'));
        text.remove_prefix(part.size() < text.size() ? part.size() + 1 : part.size());
        return part;
    };
    variant.name = next();
    while (!text.empty()) {
        auto setting = parse_setting(next());
        if (!setting) return {};
        variant.settings.push_back(std::move(*setting));
    }
    if (variant.name.empty()) return {};
    return variant;
}

Way::Way(Variant variant, const std::vector<std::pair<std::string, std::string>>& common)
    : variant_(std::move(variant)) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    if (variant_.by_mpi) return;
    for (const auto& setting : common) apply(setting);
    for (const auto& setting : variant_.settings) apply(setting);
}

Way::~Way() {
    MPI_Comm_free(&comm_);
}

void Way::apply(const std::pair<std::string, std::string>& setting) {
    const int code = GC_Comm_set_option(comm_, setting.first.c_str(), setting.second.c_str());
    if (code == MPI_SUCCESS || !refusal_.empty()) return;
    std::array<char, GC_MAX_ERROR_STRING> text{};
    GC_Error_string(code, text.data(), nullptr);
    refusal_ = text.data();
}

int Way::run(const float* input, float* output, int count) const {
    return variant_.by_mpi ? MPI_Allreduce(input, output, count, MPI_FLOAT, MPI_SUM, comm_)
                           : GC_Allreduce(input, output, count, MPI_FLOAT, MPI_SUM, comm_);
}

}  // namespace gradcoll::bench
