#include "mpi/mpi_identity.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/log.hpp"
#include "base/mpi/mpi.hpp"

namespace gradcoll {
namespace {

/// A Family is told by how its text begins; longer beginnings come first.
struct Family {
    std::string_view beginning;
    std::string_view name;
};
constexpr Family families[] = {
    {"Open MPI v", "Open MPI"},
    {"MPICH Version:", "MPICH"},
    {"MVAPICH2 Version", "MVAPICH2"},
    {"MVAPICH Version", "MVAPICH"},
    {"Intel(R) MPI Library", "Intel MPI"},
    {"MPI VERSION    : CRAY MPICH version", "Cray MPICH"},
};

/// Returns the first run of digits and dots.
std::string version_in(std::string_view text) {
    constexpr std::string_view digits = "0123456789";
    const std::size_t begin = text.find_first_of(digits);
    if (begin == text.npos) return {};
    std::string_view run = text.substr(begin);
    run = run.substr(0, run.find_first_not_of("0123456789."));
    while (run.ends_with('.')) run.remove_suffix(1);
    return std::string(run);
}

std::string_view major_of(const MpiIdentity& identity) {
    return std::string_view(identity.version).substr(0, identity.version.find('.'));
}

[[maybe_unused]] MpiIdentity of_standard_abi(int major) {
    return {"an MPI with the standard ABI", std::to_string(major)};
}

/// Warns if the header of this build and the library of this process give one name two values.
void warn_about_constants() {
    if (errors_return() == MPI_ERRORS_RETURN) return;
    log(warn_once_a_job(),
        "the header of the standard ABI that this library was built with and {} do not agree: "
        "MPI_ERRORS_RETURN of the one is MPI_ERRORS_ABORT of the other. The library uses what the "
        "MPI means; a program compiled with such a header ends at its first error",
        mpi_identity_from(mpi_library_text()).text());
}

}  // namespace

std::string MpiIdentity::text() const {
    if (family.empty()) return "an unknown MPI";
    return version.empty() ? family : fmt::format("{} {}", family, version);
}

MpiIdentity mpi_identity_from(std::string_view library_version) {
    for (const Family& family : families) {
        if (!library_version.starts_with(family.beginning)) continue;
        // "Intel(R) MPI Library 2021.11 for ..." and "Open MPI v4.1.4, package: ..."
        return {std::string(family.name),
                version_in(library_version.substr(family.beginning.size()))};
    }
    return {};
}

MpiIdentity mpi_built_for() {
#if defined(OPEN_MPI)
    return {"Open MPI",
            fmt::format("{}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION)};
#elif defined(I_MPI_VERSION) && defined(MPICH_VERSION)
    return {"Intel MPI", I_MPI_VERSION};
#elif defined(MVAPICH2_VERSION)
    return {"MVAPICH2", MVAPICH2_VERSION};
#elif defined(MVAPICH_VERSION)
    return {"MVAPICH", MVAPICH_VERSION};
#elif defined(MPICH_VERSION)
    return {"MPICH", MPICH_VERSION};
#elif defined(MPI_ABI_VERSION) && MPI_ABI_VERSION > 0
    return of_standard_abi(MPI_ABI_VERSION);
#else
    return {};
#endif
}

std::string mpi_library_text() {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    if (PMPI_Get_library_version(text.data(), &length) != MPI_SUCCESS || length < 0) return {};
    text.resize(static_cast<std::size_t>(length));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
    return text;
}

MpiIdentity mpi_seen() {
#ifdef GRADCOLL_STANDARD_ABI
    int major = 0;
    int minor = 0;
    PMPI_Abi_get_version(&major, &minor);
    return of_standard_abi(major);
#else
    return mpi_identity_from(mpi_library_text());
#endif
}

void warn_about_another_mpi() {
    warn_about_constants();
    const MpiIdentity built = mpi_built_for();
    const MpiIdentity seen = mpi_seen();
    if (built.family.empty() || are_compatible(built, seen)) return;
    const std::string text = mpi_library_text();
    log(warn_once_a_job(),
        "the library was built for {}, but the program runs {}: handles and constants may differ; "
        "build it with that MPI",
        built.text(),
        seen.family.empty() ? text.substr(0, text.find_first_of("\r\n,")) : seen.text());
}

bool are_compatible(const MpiIdentity& a, const MpiIdentity& b) {
    const auto has_mpichs_abi = [](const MpiIdentity& mpi) {
        // Cray's header does not say that it is not MPICH's.
        return mpi.family == "MPICH" || mpi.family == "Intel MPI" || mpi.family == "Cray MPICH";
    };
    if (has_mpichs_abi(a) && has_mpichs_abi(b)) return true;
    return !a.family.empty() && a.family == b.family && major_of(a) == major_of(b);
}

}  // namespace gradcoll
