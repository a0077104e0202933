#include "facts.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/interposer_table.h"

namespace gradcoll::info {
namespace {

using Uncovered = GC_Interposer_uncovered_function;

struct Closer {
    void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, Closer>;

/// Returns null if it is not there.
Library installed_interposer() {
    Dl_info place;
    void* const known = dlsym(RTLD_DEFAULT, "GC_Interposer_connect");
    if (known == nullptr || dladdr(known, &place) == 0) return nullptr;
    const std::filesystem::path folder = std::filesystem::path(place.dli_fname).parent_path();
    const auto file = folder / GRADCOLL_SHIM_SUBFOLDER / "libgradcoll_pmpi.so";
    return Library(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
}

std::string hint_of(Uncovered uncovered) {
    char names[512];
    const int count = uncovered(names, sizeof names);
    if (count == 0) return {};
    return fmt::format(
        "this MPI library has {} names for intercepted calls that the interposer does not know, so "
        "that calls of preloaded programs with them pass: {}",
        count, names);
}

}  // namespace

std::string uncovered_names_hint() {
    constexpr const char* name = "GC_Interposer_uncovered";
    if (void* const preloaded = dlsym(RTLD_DEFAULT, name))
        return hint_of(reinterpret_cast<Uncovered>(preloaded));
    const Library library = installed_interposer();
    void* const function = library ? dlsym(library.get(), name) : nullptr;
    return function != nullptr ? hint_of(reinterpret_cast<Uncovered>(function)) : std::string();
}

}  // namespace gradcoll::info
