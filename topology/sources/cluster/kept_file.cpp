#include "topology/sources/cluster/kept_networks.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/mpi/mpi.hpp"
#include "base/options.hpp"

namespace gradcoll {
namespace {

/// Returns an empty path if there is no folder.
std::filesystem::path cache_folder() {
    const std::filesystem::path xdg = foreign_variable("XDG_CACHE_HOME");
    if (xdg.is_absolute()) return xdg / "gradcoll";
    const std::filesystem::path home = foreign_variable("HOME");
    return home.is_absolute() ? home / ".cache" / "gradcoll" : std::filesystem::path();
}

}  // namespace

KeptFile::KeptFile(std::string_view what, std::uint64_t key) {
    const std::filesystem::path folder = cache_folder();
    if (folder.empty()) return;
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(library, &length);
    Hash hash;
    hash.text(library).value(key);
    path_ = folder / fmt::format("{}-{:016x}.json", what, hash.digest());
}

std::optional<std::string> KeptFile::text() const {
    if (path_.empty()) return {};
    Result<std::string> text = read_file(path_);
    return text ? std::optional(std::move(text).value()) : std::nullopt;
}

void KeptFile::write(const std::string& text) const {
    if (path_.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
    (void)write_file(path_, text);
}

void KeptFile::remove() const {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
}

}  // namespace gradcoll
