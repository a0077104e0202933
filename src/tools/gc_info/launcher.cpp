#include "launcher.hpp"

#include <cstdlib>
#include <limits>

#include "base/text.hpp"

namespace gc_info {
namespace {

/// Variables that come together. Of launchers inside one another (mpirun in a job of Slurm), the
/// inner one comes first.
struct Names {
    const char* rank;
    const char* size;
};
constexpr Names launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                               {"PMI_RANK", "PMI_SIZE"},
                               {"SLURM_PROCID", "SLURM_NTASKS"}};

/// -1 if the variable is not there or holds no number.
int number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return -1;
    const auto number = gradcoll::parse_integer(text, 0, std::numeric_limits<int>::max());
    return number.ok() ? static_cast<int>(*number) : -1;
}

}  // namespace

Launched launched() {
    for (const Names& names : launchers) {
        const Launched found{number_in(names.rank), number_in(names.size)};
        if (found.rank >= 0 && found.size > found.rank) return found;
    }
    return {};
}

}  // namespace gc_info
